// cell::IsolatePort: what an isolate reads from its worker, the job and the answers to its host calls.
//
// It leaves the process at the first wrong byte; here _exit is replaced (-Wl,--wrap=_exit, see
// CMakeLists.txt) by an exception, so that one process can try many.
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "common/fd.h"
#include "common/wire/codec.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/targets/target.h"
#include "worker/cell/isolate_port.h"

namespace {

struct Left {
  int status;
};

/// What one socket buffer holds for certain: nobody reads while it is being written.
constexpr std::size_t kMostBytes = std::size_t{32} * 1024;

/// A prefix that declares much makes the isolate allocate it, as it should for its job; libFuzzer's own
/// memory is spared that.
bool DeclaresMuch(std::string_view stream) {
  for (std::size_t at = 0; stream.size() - at >= skerry::wire::kStreamPrefixBytes;) {
    const auto sizes = skerry::wire::ParseStreamPrefix(stream.data() + at, kMostBytes);
    if (!sizes) {
      // Refused by the real bound as well, or too much for this one.
      return skerry::wire::ParseStreamPrefix(stream.data() + at, std::size_t{1} << 30).has_value();
    }
    if (sizes->Total() > stream.size() - at) return false;
    at += sizes->Total();
  }
  return false;
}

}  // namespace

extern "C" [[noreturn]] void __wrap__exit(int status) {
  throw Left{status};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using skerry::fuzz::Demand;
  const std::string_view stream(reinterpret_cast<const char*>(data), size);
  if (size > kMostBytes || DeclaresMuch(stream)) return 0;
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) return 0;
  skerry::Fd worker(pair[0]);
  const skerry::Fd isolate(pair[1]);
  if (size > 0 && write(worker.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  worker.Reset();
  skerry::cell::IsolatePort port(isolate.get());
  std::size_t read = 0;
  try {
    for (;;) {
      std::vector<std::string> payloads;
      const skerry::wire::Header header = port.Receive(&payloads);
      read += skerry::wire::kStreamPrefixBytes;
      for (const std::string& payload : payloads) read += payload.size();
      Demand(payloads.size() <= skerry::wire::kMaxPayloads, "a message has at most two payloads");
      Demand(read <= size, "no more is read than was sent");
      if (std::holds_alternative<skerry::wire::Dispatch>(header)) {
        const auto answer = port.AwaitAnswer();
        Demand(answer.kind <= skerry::engine::HostAnswer::Kind::kRefused, "an answer is of a known kind");
      }
    }
  } catch (const Left& left) {
    Demand(left.status == 0, "an isolate without a worker leaves in silence");
  }
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  const Samples samples = LoadSamples();
  std::string job;
  std::vector<std::string> seeds;
  for (const Sample& sample : samples) {
    seeds.push_back(StreamOf(sample.frames));
    if (sample.type == "dispatch" || sample.type == "answer") job += seeds.back();
  }
  seeds.push_back(job);
  return seeds;
}
