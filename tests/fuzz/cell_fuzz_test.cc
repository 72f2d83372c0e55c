// The sockets between a worker and its cells, without a worker: a cell that breaks the control protocol, and
// wrong bytes to a real isolate.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "common/testing/proc_fs.h"
#include "common/wire/codec.h"
#include "common/wire/stream.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/fuzz_cell.h"
#include "tests/fuzz/mutator.h"
#include "tests/support/places.h"
#include "worker/cell/cell_process.h"

namespace skerry::fuzz {
namespace {

using cell::CellOptions;
using cell::CellProcess;
using cell::IsolateProcess;

bool Readable(int fd, int patience_ms) {
  pollfd ready{fd, POLLIN, 0};
  return poll(&ready, 1, patience_ms) > 0;
}

bool NoChildIsLeft() {
  for (int i = 0; i < 200; ++i) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0) return errno == ECHILD;
    usleep(10'000);
  }
  return false;
}

std::string ShownChildren() {
  std::string shown;
  for (const pid_t pid : testing::ChildrenOf(getpid())) {
    shown += std::to_string(pid) + " " + testing::StatusField(pid, "Name") + " " +
             testing::StatusField(pid, "State") + " NSpid " + testing::StatusField(pid, "NSpid") + "\n";
  }
  return shown;
}

void KillAndReap(const IsolateProcess& isolate) {
  syscall(SYS_pidfd_send_signal, isolate.pidfd.get(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(isolate.pidfd.get()), &info, WEXITED) < 0 && errno == EINTR) {
  }
}

// Takes what the cell gives until it is an Error, or nothing comes any more.
void CollectFrom(CellProcess& cell) {
  for (int i = 0; i < 20; ++i) {
    if (!Readable(cell.control_fd(), 20)) return;
    auto isolate = cell.OnReadable();
    if (!isolate) return;
    if (*isolate) KillAndReap(std::get<IsolateProcess>(**isolate));
  }
}

TEST(CellFuzz, ACellThatBreaksTheControlProtocolLeavesNothingBehind) {
  const Campaign campaign;
  const std::size_t cells = std::min<std::size_t>(campaign.mutations, 150);
  CellOptions options;
  options.program = testing::Binary("skerry-fuzz-cell");
  options.start_timeout = Millis(200);
  const std::size_t descriptors = testing::DescriptorsOf(getpid());
  for (std::size_t i = 0; i < cells; ++i) {
    SCOPED_TRACE(campaign.Shown("control " + std::to_string(i)));
    options.jit = kControlMode + std::to_string(campaign.seed + i);
    auto cell = CellProcess::Start(options);
    if (!cell) {
      EXPECT_FALSE(cell.error().message.empty());
      continue;
    }
    for (int forks = 0; forks < 3; ++forks) {
      if (!(*cell)->RequestFork()) break;
    }
    CollectFrom(**cell);
  }
  EXPECT_EQ(testing::DescriptorsOf(getpid()), descriptors) << campaign.Shown("control");
  EXPECT_TRUE(NoChildIsLeft()) << ShownChildren();
}

class IsolateFuzz : public ::testing::Test {
 protected:
  void SetUp() override {
    CellOptions options;
    options.program = testing::Binary("skerry-cell");
    auto cell = CellProcess::Start(options);
    ASSERT_TRUE(cell) << cell.error().message;
    cell_ = std::move(*cell);
  }

  IsolateProcess Fork() {
    EXPECT_TRUE(cell_->RequestFork());
    EXPECT_TRUE(Readable(cell_->control_fd(), 5'000));
    auto isolate = cell_->OnReadable();
    EXPECT_TRUE(isolate && *isolate);
    return isolate && *isolate ? std::move(std::get<IsolateProcess>(**isolate)) : IsolateProcess();
  }
  static void Write(const IsolateProcess& isolate, const std::string& bytes) {
    (void)!send(isolate.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  static std::string Job(const std::string& code, const std::string& input) {
    wire::Dispatch dispatch;
    dispatch.job.id = JobId("j");
    return wire::StreamBytes(dispatch, {code, input});
  }
  // The next message of an isolate; none where it has ended.
  static std::optional<wire::Header> Next(const IsolateProcess& isolate) {
    wire::FrameReader reader(1u << 20);
    char bytes[4096];
    while (Readable(isolate.socket.get(), 5'000)) {
      const ssize_t got = read(isolate.socket.get(), bytes, sizeof bytes);
      if (got <= 0) break;
      reader.Append({bytes, static_cast<std::size_t>(got)});
      const auto frame = reader.Next();
      if (!frame || !*frame) continue;
      const auto header = wire::Decode((*frame)->header);
      if (header) return *header;
    }
    return std::nullopt;
  }
  // Once nobody writes to it any more it ends by itself, and not of a signal.
  static void ExpectItEnds(const IsolateProcess& isolate) {
    shutdown(isolate.socket.get(), SHUT_WR);
    const bool ended = Readable(isolate.pidfd.get(), 10'000);
    EXPECT_TRUE(ended) << "the isolate waits for ever";
    if (!ended) return KillAndReap(isolate);
    siginfo_t info{};
    waitid(P_PIDFD, static_cast<id_t>(isolate.pidfd.get()), &info, WEXITED);
    EXPECT_EQ(info.si_code, CLD_EXITED) << "it died of signal " << info.si_status;
  }
  void ExpectCellForksOn() {
    const IsolateProcess isolate = Fork();
    Write(isolate, Job("return input", "7"));
    const auto header = Next(isolate);
    ASSERT_TRUE(header && std::holds_alternative<wire::Final>(*header));
    EXPECT_TRUE(std::get<wire::Final>(*header).ok);
    ExpectItEnds(isolate);
  }

  // Each costs a fork of V8: a tenth of what other sockets get.
  const Campaign campaign_;
  const std::size_t mutations_ = std::min<std::size_t>(campaign_.mutations, 1'000);
  const Samples samples_ = LoadSamples();
  std::unique_ptr<CellProcess> cell_;
};

TEST_F(IsolateFuzz, AWrongJobEndsItsIsolate) {
  Mutator mutator(samples_, campaign_.SeedOf("dispatch"));
  const Frames job = OfType(samples_, "dispatch")[0].frames;
  for (std::size_t i = 0; i < mutations_ && !HasFailure(); ++i) {
    SCOPED_TRACE(campaign_.Shown("dispatch " + std::to_string(i)));
    const IsolateProcess isolate = Fork();
    Write(isolate, mutator.MutateStream(job));
    ExpectItEnds(isolate);
    if (i % kProbeEvery == kProbeEvery - 1) ExpectCellForksOn();
  }
}

TEST_F(IsolateFuzz, AWrongAnswerEndsItsIsolateOrIsPassedOver) {
  Mutator mutator(samples_, campaign_.SeedOf("answer"));
  const Frames answer = OfType(samples_, "answer")[0].frames;
  for (std::size_t i = 0; i < mutations_ && !HasFailure(); ++i) {
    SCOPED_TRACE(campaign_.Shown("answer " + std::to_string(i)));
    const IsolateProcess isolate = Fork();
    Write(isolate, Job("return dataProxy.request('m')", "0"));
    const auto call = Next(isolate);
    ASSERT_TRUE(call && std::holds_alternative<wire::Call>(*call));
    Write(isolate, mutator.MutateStream(answer));
    ExpectItEnds(isolate);
    if (i % kProbeEvery == kProbeEvery - 1) ExpectCellForksOn();
  }
}

}  // namespace
}  // namespace skerry::fuzz
