#include "worker/cell/testing/real_cell.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <variant>

#include "common/wire/codec.h"
#include "common/wire/stream.h"
#include "worker/cell/forbidden_calls.h"

namespace skerry::cell::testing {
namespace {

constexpr int kPatienceMs = 5'000;

}  // namespace

std::string CellBinary() {
  return SKERRY_BIN_DIR "/skerry-cell";
}

std::unique_ptr<CellProcess> StartCell(const std::string& program) {
  CellOptions options;
  options.program = program.empty() ? CellBinary() : program;
  auto cell = CellProcess::Start(options);
  EXPECT_TRUE(cell) << cell.error().message;
  return cell ? std::move(*cell) : nullptr;
}

bool Readable(int fd) {
  pollfd ready{fd, POLLIN, 0};
  return poll(&ready, 1, kPatienceMs) == 1;
}

void AwaitFork(CellProcess& cell, int reports) {
  for (;;) {
    pollfd fds[] = {{cell.control_fd(), POLLIN, 0}, {reports, POLLIN, 0}};
    if (poll(fds, 2, kPatienceMs) <= 0) return;
    if ((fds[1].revents & POLLIN) != 0) {
      const auto call = NextForbiddenCall(reports);
      if (call && call->is_fork && call->pid == cell.pid() && cell.TakeForkPermit()) LetFork(reports, *call);
    }
    if (fds[0].revents != 0) return;
  }
}

IsolateProcess Fork(CellProcess& cell, int reports) {
  EXPECT_TRUE(cell.RequestFork());
  AwaitFork(cell, reports);
  auto forked = cell.OnReadable();
  EXPECT_TRUE(forked) << forked.error().message;
  if (!forked || !*forked) return {};
  return std::move(std::get<IsolateProcess>(**forked));
}

void SendJob(const IsolateProcess& isolate, std::string_view code, std::string_view input) {
  wire::Dispatch dispatch;
  dispatch.job.id = JobId("j");
  const std::string bytes = wire::StreamBytes(dispatch, {code, input});
  for (std::size_t at = 0; at < bytes.size();) {
    pollfd room{isolate.socket.get(), POLLOUT, 0};
    const ssize_t sent =
        poll(&room, 1, kPatienceMs) == 1 ? write(room.fd, bytes.data() + at, bytes.size() - at) : -1;
    ASSERT_GT(sent, 0) << "the isolate does not take its job";
    at += static_cast<std::size_t>(sent);
  }
}

Outcome AwaitOutcome(const IsolateProcess& isolate) {
  wire::FrameReader reader(1 << 20);
  while (Readable(isolate.socket.get())) {
    char buffer[4096];
    const ssize_t got = read(isolate.socket.get(), buffer, sizeof(buffer));
    if (got <= 0) break;
    reader.Append(std::string_view(buffer, static_cast<std::size_t>(got)));
    auto frame = reader.Next();
    if (!frame || !*frame) continue;
    auto header = wire::Decode((*frame)->header);
    if (header && std::holds_alternative<wire::Final>(*header)) {
      return wire::ToOutcome(std::get<wire::Final>(*header), (*frame)->payloads.at(0));
    }
  }
  ADD_FAILURE() << "no final came";
  return {};
}

int Reap(const IsolateProcess& isolate, rusage* usage) {
  siginfo_t info{};
  const long rc = syscall(SYS_waitid, P_PIDFD, isolate.pidfd.get(), &info, WEXITED, usage);
  EXPECT_EQ(rc, 0) << std::strerror(errno);
  return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
}

int KillAndReap(const IsolateProcess& isolate) {
  kill(isolate.pid, SIGKILL);
  return Reap(isolate);
}

}  // namespace skerry::cell::testing
