// skerry-cell: the template process. Started by skerry-worker; starts V8, warms it, locks itself down, then
// forks one isolate per request until its control socket ends. It never runs a job.
//
//   skerry-cell JIT MAX_MEMORY_MB        with its control socket as descriptor 3

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "worker/cell/control.h"
#include "worker/cell/isolate_main.h"
#include "worker/cell/sandbox.h"
#include "worker/engine/engine.h"

namespace skerry::cell {
namespace {

constexpr int kUsage = 2;
constexpr int kCannotStart = 1;

std::optional<engine::EngineOptions> ParseOptions(int argc, char** argv) {
  if (argc != 3) return std::nullopt;
  engine::EngineOptions options;
  options.text = engine::TextPages::kHuge;
  const std::string_view jit = argv[1];
  const std::string_view memory = argv[2];
  if (jit == "full") {
    options.jit = engine::Jit::kFull;
  } else if (jit == "none") {
    options.jit = engine::Jit::kNone;
  } else if (jit != "maglev") {
    return std::nullopt;
  }
  const auto [end, error] =
      std::from_chars(memory.data(), memory.data() + memory.size(), options.max_memory_mb);
  if (error != std::errc() || end != memory.data() + memory.size()) return std::nullopt;
  return options;
}

// A fork copies the calling thread alone: one more would leave its locks held for ever in every isolate.
bool IsSingleThreaded() {
  int threads = 0;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator("/proc/self/task", error);
       it != std::filesystem::directory_iterator(); it.increment(error)) {
    ++threads;
  }
  return threads == 1;
}

void ForkIsolate(engine::Engine& engine, Fd socket) {
  int pidfd = -1;
  // Raw, since glibc's fork cannot make the worker the parent. Keep the flags in step with sandbox.cc.
  const long pid =
      syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr);
  if (pid == 0) RunIsolate(engine, socket.get());
  if (pid < 0) {
    SendControl(kControlFd, ControlByte::kFailed, -1);
    return;
  }
  const Fd owned(pidfd);
  // ETOOMANYREFS: this user has too many descriptors on their way; it ends when their receivers have read.
  int error = 0;
  while ((error = SendControl(kControlFd, ControlByte::kForked, owned.get())) == ETOOMANYREFS) {
    const timespec a_moment{0, 1'000'000};
    nanosleep(&a_moment, nullptr);
  }
  if (error != 0) _exit(0);
}

[[noreturn]] void TemplateLoop(engine::Engine& engine) {
  for (;;) {
    ControlPacket packet;
    // Any error means that the worker has gone.
    if (ReceiveControl(kControlFd, &packet) != 0) _exit(0);
    if (packet.byte == ControlByte::kFork && packet.fd.valid()) ForkIsolate(engine, std::move(packet.fd));
  }
}

// Does glibc's housekeeping once here that every fork would else do for itself, copying the pages of all
// blocks involved: V8's start and the filter's building free hundreds (84 of 190 page faults a job).
void TidyHeap() {
  constexpr std::size_t kLargerThanAnyFreeBlock = 60u << 10;  // and below the engine's threshold for mappings
  malloc_trim(0);                                             // merges them, onto an unsorted list
  // A request that nothing on that list fits has all of it sorted away.
  void* volatile block = std::malloc(kLargerThanAnyFreeBlock);
  std::free(block);
}

int Complain(std::string_view message) {
  std::fprintf(stderr, "skerry-cell: %.*s\n", static_cast<int>(message.size()), message.data());
  return kCannotStart;
}

int Main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    const std::string_view version = engine::V8Version();
    std::printf("skerry-cell with V8 %.*s\n", static_cast<int>(version.size()), version.data());
    return std::fflush(stdout) == 0 ? 0 : kCannotStart;
  }
  const auto options = ParseOptions(argc, argv);
  if (!options || fcntl(kControlFd, F_GETFD) < 0) {
    Complain(
        "started by skerry-worker, not by hand: skerry-cell full|maglev|none MAX_MEMORY_MB, control socket "
        "on 3");
    return kUsage;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto engine = engine::Engine::Start(*options);
  if (!engine) return Complain(engine.error().message);
  if (!IsSingleThreaded()) return Complain("something has started a thread; the cell cannot be forked");
  PrepareOutOfMemoryRecord();
  if (auto status = LockDownCell(); !status) return Complain(status.error().message);
  TidyHeap();
  if (SendControl(kControlFd, ControlByte::kReady, -1, engine::V8Version()) != 0) return kCannotStart;
  TemplateLoop(**engine);
}

}  // namespace
}  // namespace skerry::cell

// The host calls this in place of its own main (worker/engine/host).
int SkerryMain(int argc, char** argv) {
  return skerry::cell::Main(argc, argv);
}
