// client::ClientCore and client::CaseBook: whatever a broker says, between what the caller does; and the
// lines of results that come of it.
//
// Input: acts, each a byte and its choices. Any other message comes as a raw header.
#include <map>
#include <set>
#include <utility>

#include "clients/cli/result_line.h"
#include "clients/cpp/case_book.h"
#include "clients/cpp/client_core.h"
#include "common/text_check.h"
#include "common/wire/codec.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/targets/target.h"

namespace {

using namespace skerry;          // NOLINT: the whole of it is under test
using namespace skerry::client;  // NOLINT
using fuzz::Demand;
using fuzz::Script;

enum Act : std::uint8_t {
  kRaw,
  kSubmit,
  kWelcome,
  kFinal,
  kEvent,
  kCall,
  kReply,
  kAck,
  kCancel,
  kPass,
  kSend,
  kCases,
  kNeed,
  kActs
};

constexpr std::size_t kIds = 4;
constexpr std::size_t kSets = 2;
constexpr std::size_t kCasesOfSet = 4;
constexpr std::size_t kMostActs = 400;

JobId Id(std::size_t number) {
  return JobId("j" + std::to_string(number));
}

class Play {
 public:
  explicit Play(Script script)
      : script_(script), core_(Options(), SessionId("s"), now_), book_(SessionId("s"), Bytes(300)) {}

  void Run() {
    for (std::size_t acts = 0; !script_.AtEnd() && acts < kMostActs; ++acts) {
      OneAct();
      Collect();
    }
  }

 private:
  static ClientOptions Options() {
    ClientOptions options;
    options.max_in_flight = 3;
    return options;
  }
  void Hear(wire::Header header, std::vector<std::string> payloads = {}) {
    core_.OnMessage(std::move(header), std::move(payloads), now_);
  }

  static JobId SetId(std::size_t number) { return JobId("c" + std::to_string(number)); }
  JobId NameOf(std::size_t set, std::size_t number) const {
    return book_.NameOf(SetId(set), static_cast<std::uint32_t>(number));
  }
  /// Of a job, or of a case.
  JobId AnyId() {
    const std::size_t number = script_.Below(kIds + kSets * kCasesOfSet);
    if (number < kIds) return Id(number);
    return NameOf((number - kIds) / kCasesOfSet, (number - kIds) % kCasesOfSet);
  }

  void OneAct() {
    switch (script_.Below(kActs)) {
      case kRaw:
        return HearRaw();
      case kSubmit:
        return Submit();
      case kWelcome:
        return HearWelcome();
      case kFinal:
        return HearFinal();
      case kEvent:
        return HearEvent();
      case kCall:
        return HearCall();
      case kReply:
        return Reply();
      case kAck:
        return core_.Acknowledge(AnyId());
      case kCancel:
        return Cancel();
      case kCases:
        return SubmitCases();
      case kNeed:
        return Hear(wire::Need{AnyId(), LeaseId()});
      case kPass:
        now_ += Millis(script_.Word() % 12'000);
        return core_.OnTick(now_);
      default:
        return TakeSends();
    }
  }

  void HearRaw() {
    auto header = wire::Decode(script_.Text());
    std::vector<std::string> payloads(script_.Below(wire::kMaxPayloads + 1));
    for (std::string& payload : payloads) payload = script_.ShortText();
    if (header) Hear(std::move(*header), std::move(payloads));
  }
  void Submit() {
    JobRequest request;
    const std::uint8_t how = script_.Byte();
    request.spec.id = Id(how % kIds);
    request.spec.retry = static_cast<Retry>(how / 4 % 3);
    request.spec.admission = static_cast<Admission>(how / 12 % 2);
    request.spec.deadline_ms = 100ull * script_.Below(8);
    request.spec.receipt = how >= 128;
    request.spec.program = how / 24 % 2 == 1;
    request.code = "code";
    const std::string id = request.spec.id.str();
    const auto taken = core_.Submit(request, now_);
    Demand(taken || core_.link() == LinkState::kFailed || unfinished_.contains(id),
           "a job is refused where the link failed, or it is unfinished already");
    if (taken && *taken == SubmitResult::kTaken) Demand(unfinished_.insert(id).second, "an id is taken once");
  }
  void SubmitCases() {
    CasesRequest request;
    const std::size_t set = script_.Below(kSets);
    const std::uint8_t how = script_.Byte();
    request.spec.id = SetId(set);
    request.spec.program = how % 2 == 1;
    request.program = Program::Of("code");
    request.stop_on = static_cast<StopOn>(how / 2 % 2);
    if (how / 4 % 4 == 0) request.spec.libraries = {"lodash"};
    request.inputs.resize(1 + how / 16 % kCasesOfSet);
    request.inputs[0] = script_.ShortText();
    const std::size_t count = request.inputs.size();
    if (core_.link() == LinkState::kFailed) return;  // as Client does
    const auto taken = book_.Add(request, now_);
    Demand(taken || sets_.contains(SetId(set).str()), "cases are refused where they are unfinished already");
    if (!taken || *taken == SubmitResult::kFull) return;
    sets_[SetId(set).str()] = count;
    for (std::size_t i = 0; i < count; ++i)
      Demand(unfinished_.insert(NameOf(set, i).str()).second, "a case is taken once");
  }
  void Cancel() {
    if (script_.Flag()) return core_.Cancel(AnyId());
    book_.Cancel(SetId(script_.Below(kSets)), core_, now_);
  }
  void HearWelcome() {
    wire::Welcome welcome;
    welcome.resumed = script_.Flag();
    welcome.credit = script_.Byte();
    if (welcome.credit % 2 == 1) welcome.capabilities = {"reproducible"};
    if (welcome.credit / 2 % 2 == 1) welcome.capabilities.emplace_back("programs");
    welcome.epoch = script_.Below(4);
    welcome.heartbeat_ms = 10ull * script_.Byte();
    Hear(welcome);
  }
  void HearFinal() {
    wire::Final final;
    final.id = AnyId();
    const std::size_t how = script_.Byte();
    final.ok = how < 64;
    final.code = static_cast<Code>(how % kCodeCount);
    final.attempt = static_cast<std::uint32_t>(script_.Below(4));
    final.retry_after_ms = 100u * script_.Byte();
    final.seq = script_.Byte();
    std::vector<std::string> payloads = {script_.ShortText()};
    if (how % 8 == 7) payloads.push_back(payloads[0]);
    Hear(final, std::move(payloads));
  }
  void HearEvent() {
    wire::Event event;
    event.id = AnyId();
    event.attempt = static_cast<std::uint32_t>(script_.Below(4));
    event.type = static_cast<EventType>(script_.Below(2));
    event.truncated = script_.Flag();
    event.seq = script_.Byte();
    Hear(event, {script_.ShortText()});
  }
  void HearCall() {
    wire::Call call;
    call.id = AnyId();
    call.attempt = static_cast<std::uint32_t>(script_.Below(4));
    call.call = static_cast<std::uint32_t>(script_.Below(4));
    call.seq = script_.Byte();
    Hear(call, {"method", script_.ShortText()});
  }
  void Reply() {
    if (calls_.empty()) return;
    const HostCall& call = calls_[script_.Byte() % calls_.size()];
    HostReply reply;
    reply.kind = static_cast<HostReply::Kind>(script_.Below(3));
    reply.delay = Millis(10 * script_.Byte());
    reply.text = script_.ShortText();
    core_.Reply(call, std::move(reply), now_);
  }

  void TakeSends() {
    for (const Outgoing& out : core_.TakeSends()) {
      const std::string header = wire::Encode(out.header);
      Demand(header.size() <= wire::kMaxHeaderBytes, "a header that is sent is within its bound");
      Demand(wire::Decode(header).has_value(), "a header that is sent can be read");
      Demand(out.payloads.size() <= wire::kMaxPayloads, "no message has more payloads than any has");
      for (const auto& payload : out.payloads) Demand(payload != nullptr, "every payload is there");
    }
  }
  void Collect() {
    for (HostCall& call : core_.TakeCalls()) {
      Demand(submitted_.contains(call.job.str()) || unfinished_.contains(call.job.str()),
             "calls are of own jobs");
      calls_.push_back(std::move(call));
    }
    for (const ClientEvent& event : book_.Turn(core_, now_)) {
      Demand(!failed_, "no event follows a failed link");
      std::visit([&](const auto& one) { On(one); }, event);
    }
    Demand(core_.unfinished() <= unfinished_.size(), "what is unfinished was taken");
    Demand(core_.unfinished() == unfinished_.size() || !sets_.empty(),
           "every job taken is unfinished until its final");
    Demand(core_.unfinished() <= Options().max_in_flight, "no more jobs are in flight than may be");
    Demand((core_.link() == LinkState::kFailed) == failed_, "a failed link is told");
    Demand(failed_ || core_.NextWake() < TimePoint::max(), "a client with a link wakes again");
  }

  void On(const JobNotice& notice) {
    Demand(unfinished_.contains(notice.id.str()), "events are of unfinished jobs");
    std::string events;
    cli::AppendEvent(events, notice);
    CheckLine(cli::ResultLine(notice.id, cli::Checked(Outcome{}), events));
  }
  void On(const JobRestarted& restarted) {
    Demand(unfinished_.contains(restarted.id.str()), "only unfinished jobs run again");
  }
  void On(const JobFinal& final) {
    Demand(unfinished_.erase(final.id.str()) == 1, "every job has one final");
    submitted_.insert(final.id.str());
    CheckLine(cli::ResultLine(final.id, cli::Checked(final.outcome), ""));
  }
  void On(const CasesEnded& ended) {
    const auto set = sets_.find(ended.id.str());
    Demand(set != sets_.end(), "every set of cases has one summary");
    Demand(ended.summary.cases == set->second, "which counts each case");
    for (std::size_t i = 0; i < set->second; ++i) {
      const std::uint32_t number = static_cast<std::uint32_t>(i);
      Demand(!unfinished_.contains(book_.NameOf(ended.id, number).str()), "and comes last");
    }
    sets_.erase(set);
  }
  void On(const LinkFailed& failed) {
    failed_ = true;
    Demand(!failed.error.message.empty(), "a failed link says why");
  }
  static void CheckLine(const std::string& line) {
    Demand(line.find('\n') == line.size() - 1, "a result is one line");
    Demand(IsJson(std::string_view(line).substr(0, line.size() - 1)),
           "a result is JSON, whatever a broker said");
  }

  Script script_;
  TimePoint now_;
  ClientCore core_;
  CaseBook book_;
  std::map<std::string, std::size_t> sets_;  // of cases, unfinished: how many
  std::set<std::string> unfinished_;
  std::set<std::string> submitted_;  // and ended
  std::vector<HostCall> calls_;
  bool failed_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Play(Script(data, size)).Run();
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  const std::string welcome = {kWelcome, 0, 3, 1, 100};
  const std::string back = {kWelcome, 1, 3, 1, 100};
  const std::string submit = {kSubmit, 0, 0};
  const std::string final = {kFinal, 0, 0, 1, 0, 9, 1, '7'};
  const std::string event = {kEvent, 0, 1, 1, 0, 1, 1, '1'};
  const std::string call = {kCall, 0, 1, 1, 2, 1, '1'};
  const std::string reply = {kReply, 0, 0, 0, 1, '1'};
  const std::string send = {kSend};
  const std::string ack = {kAck, 0};
  const std::string silence = {kPass, '\xe0', '\x2e'};
  const std::string overloaded = {kFinal, 0, '\xf5', 1, 2, 0, 0};
  const std::string knowing = {kWelcome, 0, 7, 1, 100};  // of programs
  const std::string program = {kSubmit, 24, 0};
  const std::string program_too = {kSubmit, 25, 0};
  const std::string cases = {kCases, 0, 7 + 3 * 16, 1, '1'};
  const std::string case_fails = {kFinal, 4, '\x42', 1, 0, 0, 1, '7'};
  const std::string case_cancelled = {kFinal, 5, '\x49', 1, 0, 0, 1, '7'};
  std::vector<std::string> seeds = {
      knowing + program + program_too + std::string{kNeed, 1, kNeed, 1} + send,
      knowing + cases + send + case_fails + case_cancelled + std::string{kFinal, 6, 0, 1, 0, 0, 1, '7'} +
          send,
      knowing + cases + std::string{kCancel, 0, 0} + back + silence + knowing + case_fails + send,
      submit + welcome + send + event + call + reply + final + ack + send,
      welcome + submit + send + silence + back + call + reply + send + final,
      welcome + submit + event + silence + welcome + send + final,
      welcome + submit + overloaded + std::string{kPass, 100, 1} + send + final,
      welcome + submit + std::string{kCancel, 1, 0} + send + final,
      submit + silence,
      welcome + submit + std::string{kRaw} + AsText(wire::Encode(wire::Refuse{"no"})) +
          std::string{0, kCancel, 1, 0},
      submit + std::string{kRaw} + AsText(wire::Encode(wire::Refuse{"no"})) + std::string{0, kCancel, 1, 0}};
  for (const Sample& sample : LoadSamples())
    seeds.push_back(welcome + submit + std::string{kRaw} + AsText(sample.frames[0]) + std::string{1, 1, '1'});
  return seeds;
}
