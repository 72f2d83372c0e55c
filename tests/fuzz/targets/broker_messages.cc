// broker::BrokerCore: whatever clients and workers say, in whatever order, on links that break.
//
// Input: acts, each a byte and its choices. Messages that only luck would make (those about a lease that was
// really given out) have acts of their own; any other bytes come as raw headers.
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "broker/broker_core.h"
#include "common/hash.h"
#include "common/logging.h"
#include "common/wire/codec.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/targets/target.h"

namespace {

using namespace skerry;          // NOLINT: the whole of it is under test
using namespace skerry::broker;  // NOLINT
using fuzz::Demand;
using fuzz::Script;

enum Act : std::uint8_t {
  kRaw,
  kGreetAsClient,
  kGreetAsWorker,
  kSubmit,
  kCancel,
  kAck,
  kFinal,
  kEvent,
  kCall,
  kAnswer,
  kCredit,
  kPass,
  kUndeliver,
  kBreak,
  kPong,
  kProgram,
  kNeed,
  kActs,
};

constexpr std::size_t kPeers = 2;  // of each kind
constexpr std::size_t kIds = 4;
constexpr std::size_t kMostActs = 400;

BrokerConfig SmallConfig() {
  BrokerConfig config;
  config.max_queued = 4;
  config.client_credit = 3;
  config.max_peers = 3;
  config.max_unacked_finals = 2;
  config.max_unacked_bytes = Bytes::KiB(1);
  config.client_window = Bytes::KiB(1);
  config.max_backlog_bytes = Bytes::KiB(1);
  config.max_held_bytes = Bytes::KiB(4);
  config.cut_off_time = Millis(5'000);
  return config;
}

Peer ClientLink(std::size_t number) {
  return {Side::kClient, "c" + std::to_string(number)};
}
Peer WorkerLink(std::size_t number) {
  return {Side::kWorker, "w" + std::to_string(number)};
}
JobId Id(std::size_t number) {
  return JobId("j" + std::to_string(number));
}

class Play {
 public:
  explicit Play(Script script) : script_(script), core_(SmallConfig(), now_) {}

  void Run() {
    for (std::size_t acts = 0; !script_.AtEnd() && acts < kMostActs; ++acts) {
      greets_ = false;
      OneAct();
      Collect();
      CheckBooks();
    }
  }

 private:
  Peer Client() { return ClientLink(script_.Below(kPeers)); }
  Peer Worker() { return WorkerLink(script_.Below(kPeers)); }
  LeaseId Lease() {
    const std::size_t which = script_.Byte();
    return leases_.empty() ? LeaseId(which) : leases_[leases_.size() - 1 - which % leases_.size()];
  }
  void Say(const Peer& from, wire::Header header, const std::vector<std::string>& texts = {}) {
    if (const auto* submit = std::get_if<wire::Submit>(&header)) ++submits_[submit->job.id.str()];
    refused_.erase(from);
    greets_ = std::holds_alternative<wire::Hello>(header);
    std::vector<Payload> payloads;
    for (const std::string& text : texts) payloads.emplace_back(text);
    core_.OnMessage(from, std::move(header), std::move(payloads), now_);
  }

  void SayUnknown(const Peer& from) {
    refused_.erase(from);
    core_.OnUnknownType(from, now_);
  }
  void SayNothing(const Peer& from, const std::string& why) {
    refused_.erase(from);
    core_.OnMalformed(from, why, now_);
  }

  void OneAct() {
    switch (script_.Below(kActs)) {
      case kRaw:
        return SayRaw();
      case kGreetAsClient:
        return GreetAsClient();
      case kGreetAsWorker:
        return GreetAsWorker();
      case kSubmit:
        return Submit();
      case kCancel:
        return Say(Client(), wire::Cancel{Id(script_.Below(kIds)), LeaseId()});
      case kAck:
        return Say(Client(), wire::Ack{{Id(script_.Below(kIds)).str()}});
      case kFinal:
        return EndJob();
      case kEvent:
        return SayEvent();
      case kCall:
        return SayCall();
      case kAnswer:
        return Answer();
      case kCredit:
        return Say(Worker(), wire::Credit{script_.Below(5), 64ull * script_.Byte()});
      case kPass:
        now_ += Millis(script_.Word() % 12'000);
        return core_.OnTick(now_);
      case kUndeliver:
        if (!last_.empty()) core_.OnUndeliverable(last_[script_.Byte() % last_.size()], now_);
        return;
      case kBreak:
        return script_.Flag() ? SayNothing(AnyLink(), "why") : SayUnknown(AnyLink());
      case kProgram:
        return SubmitProgram();
      case kNeed:
        return Say(Worker(), wire::Need{JobId(), Lease()},
                   std::vector<std::string>(script_.Below(16) == 15 ? 1 : 0));
      default: {
        const Peer peer = AnyLink();
        return Say(peer, wire::Pong{pings_[peer]});
      }
    }
  }

  Peer AnyLink() { return script_.Flag() ? Worker() : Client(); }

  void SayRaw() {
    const Peer from = AnyLink();
    auto header = wire::Decode(script_.Text());
    std::vector<std::string> payloads(script_.Below(wire::kMaxPayloads + 1));
    for (std::string& payload : payloads) payload = script_.ShortText();
    if (header) return Say(from, std::move(*header), payloads);
    if (header.error().kind == ErrorKind::kUnknownType) return SayUnknown(from);
    SayNothing(from, header.error().message);
  }
  void GreetAsClient() {
    wire::Hello hello;
    const Peer from = Client();
    hello.session = SessionId("client" + std::to_string(script_.Below(kPeers)));
    hello.epoch = script_.Below(3);
    hello.seen = script_.Below(16);
    hello.capabilities = {"programs"};
    Say(from, hello);
  }
  void GreetAsWorker() {
    wire::Hello hello;
    const Peer from = Worker();
    hello.role = wire::Role::kWorker;
    hello.session = SessionId("worker" + std::to_string(script_.Below(kPeers)));
    hello.slots = script_.Below(4);
    hello.memory_mb = 64ull * script_.Byte();
    hello.capabilities = {"stats", "reproducible"};
    const std::size_t kind = script_.Below(4);
    if (kind > 0) hello.capabilities.emplace_back("programs");
    if (kind > 1) hello.libraries = {"a"};
    if (kind > 2) hello.libraries.emplace_back("b");
    for (std::size_t held = script_.Below(3); held > 0; --held) hello.leases.push_back(Lease());
    Say(from, hello);
  }
  void Submit() {
    wire::Submit submit;
    const Peer from = Client();
    submit.job.id = Id(script_.Below(kIds));
    const std::uint8_t how = script_.Byte();
    submit.job.retry = static_cast<Retry>(how % 3);
    submit.job.admission = static_cast<Admission>(how / 3 % 2);
    submit.job.priority = how / 6 % 3;
    submit.job.limits = {{"memoryMb", 64 * (1 + how / 18 % 4)}};
    submit.job.receipt = how / 72 % 2 == 1;
    submit.job.deadline_ms = 100ull * script_.Below(8);
    Say(from, submit, {"code", script_.ShortText()});
  }
  void SubmitProgram() {
    static const std::array<std::string, 3> kCodes = {"", "code", "more code"};
    static const std::array<std::string, 3> kHashes = {Sha256(kCodes[0]), Sha256(kCodes[1]),
                                                       Sha256(kCodes[2])};
    wire::Submit submit;
    const Peer from = Client();
    submit.job.id = Id(script_.Below(kIds));
    const std::uint8_t how = script_.Byte();
    submit.job.program = how % 4 != 3;
    submit.job.code_hash = kHashes[how / 4 % 3];
    submit.job.encoding = static_cast<Encoding>(how / 12 % 2);
    if (how / 24 % 4 > 1) submit.job.libraries = {"b"};
    if (how / 24 % 4 > 2) submit.job.libraries.emplace_back("a");
    submit.job.retry = static_cast<Retry>(how / 96 % 3);
    Say(from, submit, {kCodes[script_.Below(3)], "1"});
  }
  void EndJob() {
    wire::Final final;
    const Peer from = Worker();
    final.lease = Lease();
    final.attempt = static_cast<std::uint32_t>(script_.Below(3));
    final.seq = script_.Byte();
    const std::size_t how = script_.Byte();
    final.ok = how < 128;
    final.code = static_cast<Code>(how % kCodeCount);
    final.fault = static_cast<Fault>(how / kCodeCount % kFaultCount);
    final.started = script_.Flag();
    std::vector<std::string> payloads = {script_.ShortText()};
    if (how % 16 == 15) payloads.emplace_back("receipt");
    Say(from, final, payloads);
  }
  void SayEvent() {
    wire::Event event;
    const Peer from = Worker();
    event.lease = Lease();
    event.attempt = static_cast<std::uint32_t>(script_.Below(3));
    event.seq = script_.Byte();
    Say(from, event, {script_.ShortText()});
  }
  void SayCall() {
    wire::Call call;
    const Peer from = Worker();
    call.lease = Lease();
    call.attempt = static_cast<std::uint32_t>(script_.Below(3));
    call.call = static_cast<std::uint32_t>(script_.Below(4));
    call.seq = script_.Byte();
    Say(from, call, {"method", script_.ShortText()});
  }
  void Answer() {
    wire::Answer answer;
    const Peer from = Client();
    answer.id = Id(script_.Below(kIds));
    answer.attempt = static_cast<std::uint32_t>(script_.Below(3));
    answer.call = static_cast<std::uint32_t>(script_.Below(4));
    answer.kind = static_cast<wire::AnswerKind>(script_.Below(3));
    Say(from, answer, {script_.ShortText()});
  }

  void Collect() {
    std::vector<Send> sends = core_.TakeSends();
    for (const Send& send : sends) {
      const std::string header = wire::Encode(send.header);
      Demand(header.size() <= wire::kMaxHeaderBytes, "a header that is sent is within its bound");
      Demand(wire::Decode(header).has_value(), "a header that is sent can be read");
      Demand(send.payloads.size() <= wire::kMaxPayloads, "no message has more payloads than any has");
      Demand(!refused_.contains(send.peer), "nothing is sent to a peer that was refused and says nothing");
      // A HELLO that is refused leaves the link's session, if it has one, as it was.
      if (std::holds_alternative<wire::Refuse>(send.header) && !greets_) refused_.insert(send.peer);
      if (const auto* ping = std::get_if<wire::Ping>(&send.header)) pings_[send.peer] = ping->number;
      if (const auto* dispatch = std::get_if<wire::Dispatch>(&send.header))
        OnDispatch(*dispatch, send.payloads.at(0).bytes());
      if (send.peer.side == Side::kClient) OnSentToClient(send);
    }
    if (!sends.empty()) last_ = std::move(sends);
  }
  void OnDispatch(const wire::Dispatch& dispatch, std::string_view code) {
    const bool given = std::find(leases_.begin(), leases_.end(), dispatch.lease) != leases_.end();
    if (given) {
      Demand(dispatch.job.program && !code.empty(), "a lease is given again with its code only");
      Demand(asked_again_.insert(dispatch.lease).second, "and once");
    } else {
      leases_.push_back(dispatch.lease);
    }
    Demand(!code.empty() || !dispatch.job.program || dispatch.job.code_hash.size() == 32,
           "a program that comes without its code is named");
    Demand(submits_.contains(dispatch.job.id.str()), "only what was submitted is run");
  }
  void OnSentToClient(const Send& send) {
    if (std::holds_alternative<wire::Welcome>(send.header)) {
      numbers_.erase(send.peer);
      ended_.erase(send.peer);  // what it may not have read is told again
      return;
    }
    const std::uint64_t seq = wire::SeqOf(send.header);
    if (seq == 0) return;
    Demand(seq > std::exchange(numbers_[send.peer], seq), "numbers go up on a link");
    const auto* final = std::get_if<wire::Final>(&send.header);
    if (final == nullptr) return;
    Demand(++ended_[send.peer][final->id.str()] <= submits_[final->id.str()],
           "no more finals than submissions");
  }
  void CheckBooks() {
    const BrokerCounters& counters = core_.counters();
    const std::uint64_t finished =
        std::accumulate(counters.finished_error.begin(), counters.finished_error.end(), counters.finished_ok);
    Demand(counters.submitted == finished + core_.queued() + core_.running(),
           "submitted = finished + queued + running");
    Demand(core_.queued() <= 32 && core_.sessions() <= 3 && core_.workers() <= 3, "what is kept is bounded");
    const BrokerGauges gauges = core_.gauges();
    Demand(gauges.workers.slots_used == core_.running(), "slots in use are what runs");
    Demand(gauges.parked <= gauges.queued, "those that wait for libraries wait");
    Demand(core_.NextWake() < TimePoint::max(), "it wakes again");
  }

  Script script_;
  TimePoint now_;
  BrokerCore core_;
  std::vector<LeaseId> leases_;  // ever given out
  std::set<LeaseId> asked_again_;
  std::vector<Send> last_;
  std::map<Peer, std::uint64_t> pings_;
  std::map<Peer, std::uint64_t> numbers_;  // the last that the link was sent
  std::set<Peer> refused_;
  bool greets_ = false;                                         // this act is a HELLO
  std::map<std::string, std::uint64_t> submits_;                // by id, of all clients
  std::map<Peer, std::map<std::string, std::uint64_t>> ended_;  // since its WELCOME
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A hostile peer fills the log otherwise.
  static const bool quiet = [] { return InitLogging("fuzz", "off").has_value(); }();
  (void)quiet;
  Play(Script(data, size)).Run();
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  const std::string greet_client = {kGreetAsClient, 0, 0, 0, 0};
  const std::string greet_worker = {kGreetAsWorker, 0, 0, 3, 64, 2, 0};
  const std::string program = {kProgram, 0, 0, 4, 1};
  const std::string left_out = {kProgram, 0, 1, 4, 0};
  const std::string submit = {kSubmit, 0, 0, 0, 0, 1, '1'};
  const std::string final = {kFinal, 0, 0, 1, 1, 0, 1, 1, '7'};
  const std::string event = {kEvent, 0, 0, 1, 1, 1, 'e'};
  const std::string call = {kCall, 0, 0, 1, 1, 2, 1, 'p'};
  const std::string answer = {kAnswer, 0, 0, 1, 1, 0, 1, 'a'};
  const std::string ack = {kAck, 0, 0};
  const std::string pass = {kPass, '\xe8', 3};
  const std::string silence = {kPass, '\xe0', '\x2e'};
  const std::string begin = greet_client + greet_worker + submit;
  std::vector<std::string> seeds = {
      begin + event + call + answer + std::string{kFinal, 0, 0, 1, 3, 0, 1, 1, '7'} + ack,
      begin + final + ack + submit + final + pass + pass,
      begin + std::string{kCancel, 0, 0} + final,
      begin + silence + greet_client + greet_worker + final,
      begin + std::string{kFinal, 0, 0, 1, 1, '\xff', 1, 0} + pass,
      begin + program + left_out + std::string{kNeed, 0, 0, 0} + final,
      begin + left_out + program + std::string{kNeed, 0, 0, 0, kNeed, 0, 0, 0},
      greet_client + std::string{kProgram, 0, 0, 52, 1} + greet_worker + pass,
      begin + std::string{kUndeliver, 0} + greet_client + final,
      begin + std::string{kBreak, 1, 1, 0} + pass + std::string{kBreak, 1, 0, 0}};
  for (const Sample& sample : LoadSamples()) {
    for (const char side : {'\0', '\1'})
      seeds.push_back(begin + std::string{kRaw, side, 0} + AsText(sample.frames[0]) +
                      std::string{2, 1, 'c', 1, '1'});
  }
  return seeds;
}
