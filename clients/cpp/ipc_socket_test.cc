#include "clients/cpp/ipc_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "clients/cpp/testing/test_folder.h"
#include "common/fd.h"

namespace skerry::client {
namespace {

class IpcSocket : public ::testing::Test {
 protected:
  Fd Bound() {
    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path_.c_str());
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  const testing::TestFolder folder_;
  const std::string path_ = folder_ / "clients";
};

TEST_F(IpcSocket, OfALivingProcessNeedsNoExplanation) {
  const Fd fd = Bound();
  ASSERT_EQ(listen(fd.get(), 0), 0);
  EXPECT_EQ(ErrorOfConnectingTo(path_), 0);
  EXPECT_EQ(WhyNobodyAnswers("ipc://" + path_), "");
}

TEST_F(IpcSocket, WithAFullBacklogIsListenedOn) {
  const Fd fd = Bound();
  ASSERT_EQ(listen(fd.get(), 0), 0);
  std::vector<Fd> waiting;
  for (int i = 0; i < 3; ++i) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path_.c_str());
    waiting.emplace_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    (void)!connect(waiting.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  EXPECT_EQ(ErrorOfConnectingTo(path_), 0);
}

TEST_F(IpcSocket, ThatIsNotThereIsSaidToBeMissing) {
  EXPECT_EQ(ErrorOfConnectingTo(path_), ENOENT);
  EXPECT_TRUE(WhyNobodyAnswers("ipc://" + path_).starts_with("; there is no socket at " + path_));
}

TEST_F(IpcSocket, ThatADeadProcessLeftIsSaidToBeNobodys) {
  Bound().Reset();
  EXPECT_TRUE(WhyNobodyAnswers("ipc://" + path_).starts_with("; nobody listens on " + path_));
}

TEST_F(IpcSocket, OfAnotherUserIsSaidToBeForbidden) {
  const Fd fd = Bound();
  ASSERT_EQ(listen(fd.get(), 1), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0), 0);
  const pid_t child = fork();
  if (child == 0) {
    // Root may do everything: be nobody.
    if (getuid() == 0 && (chmod((folder_ / ".").c_str(), 0755) != 0 || setuid(65'534) != 0)) _exit(2);
    const bool said = WhyNobodyAnswers("ipc://" + path_).starts_with("; this user may not use the socket ");
    _exit(said ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(IpcSocket, OfAPathThatIsTooLongIsNone) {
  EXPECT_EQ(ErrorOfConnectingTo(std::string(107, 'x')), ENOENT);
  EXPECT_EQ(ErrorOfConnectingTo(std::string(108, 'x')), ENAMETOOLONG);
}

TEST_F(IpcSocket, IsOfIpcEndpointsOnly) {
  EXPECT_EQ(WhyNobodyAnswers("tcp://127.0.0.1:1"), "");
}

}  // namespace
}  // namespace skerry::client
