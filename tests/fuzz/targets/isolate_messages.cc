// agent::IsolatePort, EventGate and Verdict: what an isolate may say, from its socket to the job's outcome.
//
// Input: small limits (bytes), how much is read at once, then the isolate's stream. The messages are handed
// on as IsolateRun does; worker_fuzz_test tries IsolateRun itself, with processes.
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "common/fd.h"
#include "common/text_check.h"
#include "common/wire/codec.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/targets/target.h"
#include "worker/agent/isolates/isolate_port.h"
#include "worker/agent/jobs/event_gate.h"
#include "worker/agent/jobs/verdict.h"

namespace {

using skerry::LimitId;
using skerry::fuzz::Demand;
using namespace skerry::agent;  // NOLINT: the whole of it is under test
namespace wire = skerry::wire;

skerry::Limits SmallLimits(skerry::fuzz::Script& script) {
  skerry::Limits limits;
  limits.Set(LimitId::kMaxDataRequests, script.Byte());
  limits.Set(LimitId::kMaxDataBytes, script.Byte());
  limits.Set(LimitId::kMaxParamsBytes, script.Byte());
  limits.Set(LimitId::kMaxResultBytes, 1 + script.Byte());
  limits.Set(LimitId::kMaxStatusEvents, script.Below(4));
  limits.Set(LimitId::kMaxConsoleEvents, script.Below(4));
  limits.Set(LimitId::kMaxEventBytes, 64 + script.Byte());
  limits.Set(LimitId::kMaxEventsTotalBytes, script.Word());
  return limits;
}

class Run {
 public:
  explicit Run(const skerry::Limits& limits) : limits_(limits), gate_(limits), verdict_(limits, 1) {
    verdict_.JobSent();
  }

  bool Over() const { return verdict_.decided(); }
  void Break(const std::string& why) { verdict_.Record(Cause::kProtocolBroken, why); }

  void Take(wire::Frame frame) {
    auto header = wire::Decode(frame.header);
    if (!header) return Break(header.error().message);
    std::vector<std::string>& payloads = frame.payloads;
    if (const auto* event = std::get_if<wire::Event>(&*header); event != nullptr && payloads.size() == 1) {
      OnEvent(*event, payloads[0]);
    } else if (const auto* call = std::get_if<wire::Call>(&*header);
               call != nullptr && payloads.size() == 2) {
      OnCall(*call, payloads[0], payloads[1]);
    } else if (const auto* final = std::get_if<wire::Final>(&*header);
               final != nullptr && payloads.size() == 1) {
      if (verdict_.FinalRecord(*final, payloads[0])) ++finals_;
      Demand(verdict_.decided(), "a final, right or wrong, ends the job");
    } else if (const auto* dropped = std::get_if<wire::Dropped>(&*header)) {
      gate_.OnDropped(dropped->events);
    } else if (const auto* tripped = std::get_if<wire::Tripped>(&*header)) {
      if (auto status = gate_.OnTripped(tripped->limit); !status) Break(status.error().message);
    } else {
      Break("a message that an isolate has no business sending");
    }
  }

  void CheckEnd() {
    Demand(finals_ <= 1, "a job has one final");
    Demand(!verdict_.FinalRecord(wire::Final{}, "") || finals_ == 0, "a second final is not taken");
    verdict_.Exited({}, MemoryEvidence::kNo);
    const Decision decision = verdict_.Decide({});
    const skerry::Outcome& outcome = decision.outcome;
    Demand(outcome.ok() || outcome.error->fault != skerry::Fault::kInfrastructure,
           "what an isolate says is never the infrastructure's fault");
    Demand(outcome.ok() || skerry::IsUtf8(outcome.error->message), "a message is UTF-8");
    Demand(decision.rerun == Rerun::kNo, "no isolate can talk itself into another run");
    skerry::Usage usage;
    gate_.Report(usage);
    Demand(usage.status_events == statuses_ && usage.console_events == consoles_, "events are counted");
    Demand(usage.data_requests == calls_, "calls are counted");
  }

 private:
  std::uint64_t Limit(LimitId id) const { return limits_.Get(id); }

  void OnEvent(const wire::Event& event, const std::string& payload) {
    const auto pass = gate_.OnEvent(event, payload);
    if (!pass) return Break(pass.error().message);
    if (*pass == Pass::kDrop) return;
    const bool status = event.type == skerry::EventType::kStatus;
    ++(status ? statuses_ : consoles_);
    bytes_ += payload.size();
    Demand(statuses_ <= Limit(LimitId::kMaxStatusEvents), "maxStatusEvents holds");
    Demand(consoles_ <= Limit(LimitId::kMaxConsoleEvents), "maxConsoleEvents holds");
    Demand(payload.size() <= Limit(LimitId::kMaxEventBytes), "maxEventBytes holds");
    Demand(bytes_ <= Limit(LimitId::kMaxEventsTotalBytes), "maxEventsTotalBytes holds");
    Demand(status ? skerry::IsJson(payload) : skerry::IsUtf8(payload), "what goes on is what it must be");
  }
  void OnCall(const wire::Call& call, const std::string& method, const std::string& params) {
    if (auto status = gate_.OnCall(call.call, method, params); !status) return Break(status.error().message);
    ++calls_;
    Demand(call.call == calls_, "calls are counted from 1");
    Demand(calls_ <= Limit(LimitId::kMaxDataRequests), "maxDataRequests holds");
    Demand(method.size() + params.size() <= Limit(LimitId::kMaxParamsBytes), "maxParamsBytes holds");
    const auto answer = gate_.OnAnswer(call.call, wire::AnswerKind::kValue, params.size());
    Demand(answer.has_value(), "an open call is answered");
    if (*answer != wire::AnswerKind::kRefused) answered_ += params.size();
    Demand(answered_ <= Limit(LimitId::kMaxDataBytes), "maxDataBytes holds");
    Demand(!gate_.OnAnswer(call.call, wire::AnswerKind::kValue, 0), "a call is answered once");
  }

  skerry::Limits limits_;
  EventGate gate_;
  Verdict verdict_;
  int finals_ = 0;
  std::uint64_t statuses_ = 0;
  std::uint64_t consoles_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t answered_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  skerry::fuzz::Script script(data, size);
  const skerry::Limits limits = SmallLimits(script);
  const std::size_t piece = 1 + std::size_t{script.Byte()} * 16;
  const std::string stream = script.Rest();
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) return 0;
  skerry::Fd isolate(pair[0]);
  const skerry::Fd worker(pair[1]);
  if (!stream.empty() &&
      write(isolate.get(), stream.data(), stream.size()) != static_cast<ssize_t>(stream.size()))
    return 0;  // more than the socket holds
  isolate.Reset();
  IsolatePort port(worker.get(), MaxFrameBytes(limits));
  Run run(limits);
  for (auto end = IsolatePort::ReadEnd::kBudget; end == IsolatePort::ReadEnd::kBudget && !run.Over();) {
    end = port.Read(piece);
    while (!run.Over()) {
      auto frame = port.Next();
      if (!frame) run.Break(frame.error().message);
      if (!frame || !*frame) break;
      run.Take(std::move(**frame));
    }
  }
  run.CheckEnd();
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  // 20 calls, 200 bytes of answers, params and results, 3 events of each kind.
  const std::string limits = {20, 100, 100, 100, 3, 3, 100, 0, 8, 64};
  const auto stream = [](const wire::Header& header, Frames payloads) {
    payloads.insert(payloads.begin(), wire::Encode(header));
    return StreamOf(payloads);
  };
  wire::Event status;
  status.type = EventType::kStatus;
  wire::Call call;
  call.call = 1;
  wire::Final ok;
  ok.ok = true;
  wire::Final failed;
  const std::string talk = stream(status, {"{\"a\":1}"}) + stream(wire::Event{}, {"text"}) +
                           stream(wire::Dropped{3}, {}) + stream(wire::Tripped{"maxStatusEvents"}, {}) +
                           stream(call, {"method", "[1]"});
  std::vector<std::string> seeds = {
      limits + talk + stream(ok, {"{\"b\":[]}"}),
      limits + talk + stream(failed, {wire::DetailPayload(MakeError(Code::kRuntime, "message"))}),
      limits + talk + talk + talk + talk, limits + stream(ok, {"1"}) + stream(ok, {"2"})};
  for (const Sample& sample : LoadSamples()) seeds.push_back(limits + StreamOf(sample.frames));
  return seeds;
}
