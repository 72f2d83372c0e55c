#include "worker/agent/testing/fake_isolate.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/wire/codec.h"
#include "common/wire/stream.h"

namespace skerry::agent {
namespace {

constexpr int kScriptBug = 99;

class Player {
 public:
  explicit Player(int socket) : socket_(socket), reader_(1u << 30) {}

  void Play() {
    do {
      PlayOne();
    } while (dispatch_.job.reuse == Reuse::kContext);
    _exit(0);
  }

 private:
  void PlayOne() {
    const wire::Frame frame = Receive();
    auto header = wire::Decode(frame.header);
    if (header && std::holds_alternative<wire::Answer>(*header)) return;  // of an earlier job
    if (!header || !std::holds_alternative<wire::Dispatch>(*header) || frame.payloads.size() != 2)
      _exit(kScriptBug);
    dispatch_ = std::get<wire::Dispatch>(*header);
    input_ = frame.payloads[1];
    calls_ = 0;
    ++jobs_;
    std::istringstream script(frame.payloads[0]);
    for (std::string line; std::getline(script, line);) Command(line);
    wire::Credit ready;
    ready.slots = 1;
    if (dispatch_.job.reuse == Reuse::kContext) Send(ready, {});
  }
  void Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(socket_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) _exit(0);  // the worker has gone
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  void Send(const wire::Header& header, const std::vector<std::string_view>& payloads) {
    Write(wire::StreamBytes(header, payloads));
  }
  wire::Frame Receive() {
    char bytes[65536];
    for (;;) {
      auto frame = reader_.Next();
      if (!frame) _exit(kScriptBug);
      if (*frame) return std::move(**frame);
      const ssize_t n = ::read(socket_, bytes, sizeof bytes);
      if (n <= 0) _exit(0);
      reader_.Append(std::string_view(bytes, static_cast<std::size_t>(n)));
    }
  }

  void Command(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string verb = line.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (Ends(verb, rest) || Talks(verb, rest) || Breaks(verb) || Takes(verb, rest)) return;
    _exit(kScriptBug);
  }

  bool Ends(const std::string& verb, const std::string& rest) {
    if (verb == "ok") return Ok(rest);
    if (verb == "echo") return Ok(answer_);
    if (verb == "input") return Ok(input_);
    if (verb == "seed") return Ok(std::to_string(dispatch_.job.seed.value()));
    if (verb == "jobs") return Ok(std::to_string(jobs_));
    if (verb == "attempt") return Ok(std::to_string(dispatch_.attempt));
    if (verb == "big") return Ok("\"" + std::string(std::stoul(rest) - 2, 'x') + "\"");
    if (verb == "final") {
      std::istringstream in(rest);
      std::string code;
      std::string fault;
      wire::Final final;
      in >> code >> fault >> final.limit;
      final.code = *CodeByName(code);
      final.fault = *FaultByName(fault);
      if (final.limit == "-") final.limit.clear();
      final.usage.heap_peak_bytes = 4242;
      Send(final, {wire::DetailPayload(MakeError(final.code, "the isolate's words"))});
      return true;
    }
    if (verb == "exit") _exit(std::stoi(rest));
    if (verb == "signal") {
      ::signal(std::stoi(rest), SIG_DFL);
      ::raise(std::stoi(rest));
      return true;
    }
    return false;
  }

  bool Ok(const std::string& value) {
    wire::Final final;
    final.ok = true;
    Send(final, {value});
    return true;
  }

  bool Talks(const std::string& verb, const std::string& rest) {
    if (verb == "event" || verb == "status" || verb == "raw-status") {
      wire::Event event;
      event.type = verb == "event" ? EventType::kConsole : EventType::kStatus;
      Send(event, {rest});
    } else if (verb == "event-not-utf8") {
      Send(wire::Event{}, {"\xff"});
    } else if (verb == "dropped") {
      Send(wire::Dropped{std::stoul(rest)}, {});
    } else if (verb == "call" || verb == "call-only") {
      wire::Call call;
      call.call = ++calls_;
      const std::size_t space = rest.find(' ');
      Send(call, {rest.substr(0, space), std::string_view(rest).substr(space + 1)});
      if (verb == "call") AwaitAnswer();
    } else if (verb == "on-attempt" || verb == "on-job") {
      const std::size_t space = rest.find(' ');
      const std::uint32_t now = verb == "on-job" ? jobs_ : dispatch_.attempt;
      if (now == std::stoul(rest.substr(0, space))) Command(rest.substr(space + 1));
    } else {
      return false;
    }
    return true;
  }

  void AwaitAnswer() {
    const wire::Frame frame = Receive();
    auto header = wire::Decode(frame.header);
    const auto* answer = header ? std::get_if<wire::Answer>(&*header) : nullptr;
    if (answer == nullptr || frame.payloads.size() != 1) _exit(kScriptBug);
    answer_ = answer->kind == wire::AnswerKind::kValue
                  ? frame.payloads[0]
                  : "\"" + std::string(wire::NameOf(answer->kind)) + ":" + frame.payloads[0] + "\"";
  }

  bool Breaks(const std::string& verb) {
    if (verb == "partial") {
      const std::string bytes = wire::StreamBytes(wire::Event{}, {"never whole"});
      Write(std::string_view(bytes).substr(0, bytes.size() - 3));
    } else if (verb == "garbage") {
      Write("this is not a frame at all, is it?");
    } else if (verb == "oversized") {
      const auto prefix = wire::StreamPrefix(10, {std::string_view(nullptr, 0)});
      std::string bytes(prefix.data(), prefix.size());
      bytes[7] = '\x7f';  // a payload of 2 GB
      Write(bytes);
    } else if (verb == "unknown-message") {
      Send(wire::Hello{}, {});
    } else if (verb == "headerless") {
      wire::Frame frame;
      const auto prefix = wire::StreamPrefix(1, {});
      Write(std::string(prefix.data(), prefix.size()) + "\xc1");
    } else if (verb == "close") {
      ::close(socket_);
    } else {
      return false;
    }
    return true;
  }

  bool Takes(const std::string& verb, const std::string& rest) {
    if (verb == "hang") {
      for (;;) ::pause();
    } else if (verb == "spin") {
      for (;;) asm volatile("");
    } else if (verb == "sleep") {
      ::usleep(static_cast<useconds_t>(std::stoul(rest) * 1000));
    } else if (verb == "flood") {
      for (const std::string text(1000, 'f');;) Send(wire::Event{}, {text});
    } else if (verb == "alloc") {
      // Shared memory, which RLIMIT_DATA does not count: only the watch can see it.
      const std::size_t bytes = std::stoul(rest) << 20;
      char* memory = static_cast<char*>(
          ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
      if (memory == MAP_FAILED) _exit(kScriptBug);
      for (std::size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
    } else if (verb == "cannot-map") {
      const std::size_t bytes = std::stoul(rest) << 20;
      void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      Ok(memory == MAP_FAILED ? "true" : "false");
    } else {
      return false;
    }
    return true;
  }

  int socket_;
  wire::FrameReader reader_;
  wire::Dispatch dispatch_;
  std::string input_;
  std::string answer_;
  std::uint32_t calls_ = 0;
  std::uint32_t jobs_ = 0;  // this one included
};

}  // namespace

void PlayIsolate(int socket) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(SIGPIPE, SIG_IGN);
  Player(socket).Play();
  _exit(kScriptBug);
}

}  // namespace skerry::agent
