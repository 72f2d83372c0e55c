#include "clients/cli/doctor/redis_ping.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "clients/cpp/testing/test_folder.h"
#include "common/fd.h"

namespace skerry::cli::doctor {
namespace {

/// Answers one connection with these words, one a command, and keeps what it was told.
class PlayedRedis {
 public:
  PlayedRedis(const std::string& path, std::vector<std::string> answers)
      : listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), answers_(std::move(answers)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 1), 0);
    thread_ = std::thread([this] { Serve(); });
  }
  ~PlayedRedis() { thread_.join(); }
  PlayedRedis(const PlayedRedis&) = delete;
  PlayedRedis& operator=(const PlayedRedis&) = delete;
  const std::string& Told() {
    thread_.join();
    thread_ = std::thread([] {});
    return told_;
  }

 private:
  void Serve() {
    const Fd peer(accept(listener_.get(), nullptr, nullptr));
    for (const std::string& answer : answers_) {
      char buffer[512];
      const ssize_t got = read(peer.get(), buffer, sizeof buffer);
      if (got <= 0) return;
      told_.append(buffer, static_cast<std::size_t>(got));
      if (write(peer.get(), answer.data(), answer.size()) < 0) return;
    }
  }

  Fd listener_;
  const std::vector<std::string> answers_;
  std::string told_;
  std::thread thread_;
};

class Ping : public ::testing::Test {
 protected:
  std::string Said(std::vector<std::string> answers, const RedisLogin& login = {}) {
    const std::string path = folder_ / ("redis" + std::to_string(++played_));
    PlayedRedis redis(path, std::move(answers));
    const auto answered = PingRedis("ipc://" + path, login, Millis(2'000));
    told_ = redis.Told();
    return answered ? "answers" : answered.error().message;
  }
  skerry::testing::TestFolder folder_;
  std::string told_;
  int played_ = 0;
};

TEST_F(Ping, IsAnsweredByARedisWithAndWithoutAPassword) {
  EXPECT_EQ(Said({"+PONG\r\n"}), "answers");
  EXPECT_EQ(told_, "*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(Said({"+OK\r\n", "+PONG\r\n"}, {"", "secret"}), "answers");
  EXPECT_EQ(told_, "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(Said({"+OK\r\n", "+PONG\r\n"}, {"ada", "secret"}), "answers");
  EXPECT_TRUE(told_.starts_with("*3\r\n$4\r\nAUTH\r\n$3\r\nada\r\n$6\r\nsecret\r\n"));
}

TEST_F(Ping, SaysWhatKeepsItFromBeingUsed) {
  EXPECT_EQ(Said({"-WRONGPASS invalid\r\n"}, {"", "x"}), "says WRONGPASS invalid");
  EXPECT_EQ(Said({"HTTP/1.1 400 Bad Request\r\n"}), "answers what no Redis does");
  EXPECT_EQ(Said({std::string(4'096, 'x')}), "answers what no Redis does") << "however long it is";
  EXPECT_NE(Said({}), "answers") << "hung up on, before or after it has said a word";
  EXPECT_EQ(PingRedis("ipc://" + folder_ / "none", {}, Millis(100)).error().message,
            "No such file or directory");
}

}  // namespace
}  // namespace skerry::cli::doctor
