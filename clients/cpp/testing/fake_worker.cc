// skerry-fake-worker: speaks the worker's side of the wire without V8, for tests of broker and clients.
//
//   skerry-fake-worker --broker URL [--isolates N] [--memory-mb N] [anything else a worker takes, ignored]
//
// A job's code is a list of commands, separated by ';', done in order: `echo` (the value is the input), `log
// TEXT`, `status JSON`, `call METHOD PARAMS` (waits; the answer becomes the value, an error answer fails the
// job), `sleep MS`, `raw TEXT` (the value, unchecked), `error CODE MESSAGE`, `die` (SIGKILL itself), `hang`
// (until cancelled). The input may be empty. At the end of the list the job is ok with the last value set, or
// null.
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "common/hash.h"
#include "common/units.h"
#include "common/wire/codec.h"

namespace skerry::testing {
namespace {

volatile std::sig_atomic_t stopping = 0;

struct Run {
  wire::Dispatch dispatch;
  std::deque<std::string> commands;
  std::string input;
  std::string value = "null";
  TimePoint started;
  TimePoint wake;
  std::uint32_t calls = 0;
  bool waits_for_answer = false;
  bool hangs = false;
  Usage usage;
};

std::uint64_t NumberOf(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Takes the first word off `text`.
std::string Word(std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string::npos) return {};
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  std::string word = text.substr(begin, end - begin);
  text.erase(0, std::min(end + 1, text.size()));
  return word;
}

class FakeWorker {
 public:
  FakeWorker(std::string broker, std::uint64_t slots, std::uint64_t memory_mb)
      : slots_(slots), memory_mb_(memory_mb), socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 100);
    socket_.set(zmq::sockopt::reconnect_ivl, 10);
    socket_.connect(broker);
  }

  void Serve() {
    SayHello();
    TimePoint next_ping = SteadyClock::now() + Millis(200);
    while (!stopping) {
      zmq_pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
      zmq_poll(&item, 1, 5);
      while (Receive()) {
      }
      if (SteadyClock::now() >= next_ping) {
        next_ping = SteadyClock::now() + Millis(200);
        Send(wire::Ping{});
      }
      Advance();
    }
    Send(wire::Bye{});
  }

 private:
  void SayHello() {
    wire::Hello hello;
    hello.role = wire::Role::kWorker;
    hello.session = session_;
    hello.software = "skerry-fake-worker";
    hello.slots = slots_;
    hello.memory_mb = memory_mb_;
    for (const auto& [lease, run] : runs_) hello.leases.emplace_back(lease);
    Send(hello);
  }

  void Send(const wire::Header& header, const std::vector<std::string>& payloads = {}) {
    zmq::message_t head(wire::Encode(header));
    socket_.send(head, payloads.empty() ? zmq::send_flags::none : zmq::send_flags::sndmore);
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      zmq::message_t frame(payloads[i]);
      socket_.send(frame, i + 1 < payloads.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }

  bool Receive() {
    zmq::message_t frame;
    if (!socket_.recv(frame, zmq::recv_flags::dontwait)) return false;
    auto header = wire::Decode({frame.data<char>(), frame.size()});
    std::vector<std::string> payloads;
    while (frame.more()) {
      (void)socket_.recv(frame);
      payloads.push_back(frame.to_string());
    }
    if (!header) {
      std::fprintf(stderr, "fake worker: %s\n", header.error().message.c_str());
      return true;
    }
    if (std::holds_alternative<wire::Bye>(*header)) SayHello();
    // A broker that does not know us has given our jobs away.
    const auto* welcome = std::get_if<wire::Welcome>(&*header);
    if (welcome != nullptr && !welcome->resumed) runs_.clear();
    if (const auto* ping = std::get_if<wire::Ping>(&*header)) Send(wire::Pong{ping->number});
    if (auto* dispatch = std::get_if<wire::Dispatch>(&*header))
      Begin(std::move(*dispatch), std::move(payloads));
    if (auto* cancel = std::get_if<wire::Cancel>(&*header)) Cancel(cancel->lease);
    if (auto* answer = std::get_if<wire::Answer>(&*header)) Answered(*answer, payloads);
    return true;
  }

  void Begin(wire::Dispatch dispatch, std::vector<std::string> payloads) {
    Run& run = runs_[dispatch.lease.value()];
    run.dispatch = std::move(dispatch);
    run.input = payloads.at(1);
    run.started = run.wake = SteadyClock::now();
    std::string code = std::move(payloads.at(0));
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t end = code.find(';', at);
      run.commands.push_back(code.substr(at, end == std::string::npos ? end : end - at));
      at = end == std::string::npos ? end : end + 1;
    }
  }

  void Cancel(LeaseId lease) {
    const auto found = runs_.find(lease.value());
    if (found == runs_.end()) return;
    Fail(found->second, Code::kCancelled, "cancelled");
    runs_.erase(found);
  }

  void Answered(const wire::Answer& answer, const std::vector<std::string>& payloads) {
    const auto found = runs_.find(answer.lease.value());
    if (found == runs_.end() || !found->second.waits_for_answer || answer.call != found->second.calls) return;
    Run& run = found->second;
    run.waits_for_answer = false;
    const std::string text = payloads.empty() ? std::string() : payloads[0];
    if (answer.kind == wire::AnswerKind::kValue) {
      run.value = text;
    } else {
      run.commands = {"error RUNTIME " + text};
    }
  }

  void Advance() {
    const TimePoint now = SteadyClock::now();
    for (auto at = runs_.begin(); at != runs_.end();) {
      bool ended = false;
      while (!ended && !at->second.waits_for_answer && !at->second.hangs && at->second.wake <= now) {
        ended = Step(at->second, now);
      }
      at = ended ? runs_.erase(at) : std::next(at);
    }
  }

  /// One command; true when the job has ended.
  bool Step(Run& run, TimePoint now) {
    if (run.commands.empty()) {
      Outcome outcome;
      outcome.value = run.value;
      Finish(run, outcome, run.value);
      return true;
    }
    std::string rest = std::move(run.commands.front());
    run.commands.pop_front();
    const std::string command = Word(rest);
    if (command == "echo") run.value = run.input.empty() ? "null" : run.input;
    if (command == "raw") run.value = rest;
    if (command == "log") Notice(run, EventType::kConsole, rest);
    if (command == "status") Notice(run, EventType::kStatus, rest);
    if (command == "sleep") run.wake = now + Millis(NumberOf(rest));
    if (command == "hang") run.hangs = true;
    if (command == "die") raise(SIGKILL);
    if (command == "call") Call(run, rest);
    if (command == "error") {
      const auto code = CodeByName(Word(rest));
      Fail(run, code.value_or(Code::kRuntime), rest);
      return true;
    }
    return false;
  }

  void Notice(Run& run, EventType type, const std::string& text) {
    ++(type == EventType::kConsole ? run.usage.console_events : run.usage.status_events);
    wire::Event event;
    event.lease = run.dispatch.lease;
    event.attempt = run.dispatch.attempt;
    event.type = type;
    Send(event, {text});
  }

  void Call(Run& run, std::string rest) {
    const std::string method = Word(rest);
    run.waits_for_answer = true;
    ++run.usage.data_requests;
    Send(wire::Call{JobId(), run.dispatch.lease, run.dispatch.attempt, ++run.calls},
         {method, rest.empty() ? "null" : rest});
  }

  void Fail(Run& run, Code code, const std::string& message) {
    Outcome outcome;
    outcome.error = MakeError(code, message);
    outcome.error->started = true;
    Finish(run, outcome, wire::DetailPayload(*outcome.error));
  }

  void Finish(Run& run, Outcome& outcome, const std::string& payload) {
    outcome.attempt = run.dispatch.attempt;
    outcome.usage = run.usage;
    outcome.usage.wall_ms = MillisBetween(run.started, SteadyClock::now());
    wire::Final final = wire::ToFinal(outcome);
    final.lease = run.dispatch.lease;
    Send(final, {payload});
  }

  const std::uint64_t slots_;
  const std::uint64_t memory_mb_;
  const SessionId session_{RandomHex(8)};
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::map<std::uint64_t, Run> runs_;
};

int Main(int argc, char** argv) {
  std::string broker;
  std::uint64_t slots = 2;
  std::uint64_t memory_mb = 4096;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--broker") == 0) broker = argv[i + 1];
    if (std::strcmp(argv[i], "--isolates") == 0) slots = NumberOf(argv[i + 1]);
    if (std::strcmp(argv[i], "--memory-mb") == 0) memory_mb = NumberOf(argv[i + 1]);
  }
  if (broker.empty()) {
    std::fprintf(stderr, "fake worker: --broker URL is missing\n");
    return 2;
  }
  signal(SIGTERM, [](int) { stopping = 1; });
  FakeWorker(broker, slots, memory_mb).Serve();
  return 0;
}

}  // namespace
}  // namespace skerry::testing

int main(int argc, char** argv) {
  return skerry::testing::Main(argc, argv);
}
