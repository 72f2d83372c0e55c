// One client's jobs over several brokers: a session (ClientCore) with each, and who goes where.
//
//   Submit ──▶ the broker with most room ──lost, jobs that may run again──▶ homeless ──▶ another, same id
//                │ lost, jobs that may not: they wait for it, as with a single broker; LOST when it is given
//                up └─▶ one final. What the first broker says later of a job that went on is dropped, and
//                cancelled there
//
// Jobs of one program prefer one broker, which has its code and whose workers have its state, as long as
// others are not much less busy. Jobs of one turn all go to one: each broker counts turns by itself. A job
// that an earlier life of this session has given to a broker goes there again.
//
// A broker that has no room (OVERLOADED, which none is for want of workers alone unless others may have some)
// gets no more jobs until it is to be asked again, as long as another has not said so; what it has refused
// goes there, as there is room, and waits where it is when all refuse. Jobs of a turn go on only once their
// broker has refused for failover_after and has run nothing.
//
// A broker that is no longer among the client's places gets no more jobs, and is left when those it has have
// ended. A broker that refuses, or is given up, is asked again now and then while another is there. When none
// is left the client has failed.
//
// With one fixed endpoint it adds nothing to its ClientCore, whose fate is the client's.
//
// Threads: one at a time, with an injected clock (Client holds its lock around it). Ownership: owns the cores
// and jobs between two brokers. Errors: as ClientCore's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "clients/cpp/client_core.h"
#include "common/brokers/broker_directory.h"

namespace skerry::client {

class BrokerSpread final : public JobPort {
 public:
  using Number = std::uint64_t;
  /// kOne: a single endpoint, which stays what it is.
  enum class Places : std::uint8_t { kOne, kMany };
  struct Member {
    BrokerAddress address;
    std::unique_ptr<ClientCore> core;
    bool leaving = false;
    std::optional<TimePoint> ask_again;  // refused or given up
  };

  static constexpr Millis kAskAgain{5'000};
  static constexpr Millis kTick{250};
  /// How much fuller (of its places) a program's own broker may be than the emptiest one.
  static constexpr double kLoyalty = 0.25;

  BrokerSpread(const ClientOptions& options, SessionId session, Places places, TimePoint now);

  void Update(const BrokerDirectory::Change& change, const std::vector<std::string>& faults, TimePoint now);
  /// There can be no socket for it.
  void CannotConnect(Number number, Error why, TimePoint now);
  /// By number, which no later member gets again.
  const std::map<Number, Member>& members() const { return members_; }
  void OnMessage(Number from, wire::Header header, std::vector<std::string> payloads, TimePoint now);

  Result<SubmitResult> Submit(JobRequest& request, TimePoint now) override;
  void Cancel(const JobId& id) override;
  std::vector<ClientEvent> TakeEvents() override;
  LinkState link() const override;
  std::uint64_t places() const override;

  std::vector<HostCall> TakeCalls();
  void Reply(const HostCall& call, HostReply reply, TimePoint now);
  bool Awaits(const HostCall& call) const;
  void Acknowledge(const JobId& id);
  void OnTick(TimePoint now);
  TimePoint NextWake() const;
  void NotListening(TimePoint now);
  LinkHealth Health(TimePoint now) const;
  const Error& failure() const {
    const bool one = kind_ == Places::kOne && !members_.empty();
    return one ? members_.begin()->second.core->failure() : failure_;
  }
  std::size_t acks_waiting() const;
  /// Whether every member has answered, or cannot.
  bool Settled() const;
  /// Where jobs were put since it was called before; they leave with the next sends.
  std::vector<JobPlacement> TakePlacements() { return std::exchange(placements_, {}); }

  std::uint64_t unfinished() const { return where_.size(); }
  SpreadCounts counts() const;

 private:
  using Job = ClientCore::Job;
  static constexpr Number kHomeless = 0;

  void Add(const BrokerAddress& address, TimePoint now);
  std::unique_ptr<ClientCore> NewCore(const BrokerAddress& address, TimePoint now) const;
  SessionId SessionAt(const BrokerAddress& address) const;
  bool Answers(const Member& member, TimePoint now) const;
  bool AnotherAnswers(const Member& than, TimePoint now) const;
  /// `affinity`: of its program; empty: any broker is as good. Null: no room anywhere.
  std::pair<const Number, Member>* Choose(const JobSpec& spec, const std::string& affinity, TimePoint now);
  std::pair<const Number, Member>* FirstHeldBy(const JobId& id, TimePoint now);
  bool MayTake(const Member& member, const JobId& id, TimePoint now) const;
  bool Refuses(const Member& member, const JobSpec& spec, TimePoint now) const;
  std::vector<std::pair<const Number, Member>*> ToAsk(const JobSpec& spec, TimePoint now);
  static double LoadOf(const Member& member);
  void Place(Job job, std::pair<const Number, Member>& at, TimePoint now);
  void MoveRefused(TimePoint now);
  void MoveRefused(Member& member, TimePoint now);
  void MakeHomeless(Member& member, ClientCore::Scope scope);
  void CancelHomeless(const JobId& id);
  void TendMember(Number number, Member& member, TimePoint now);
  void OnGivenUp(Member& member, TimePoint now);
  void Forget(Number number);
  void PlaceHomeless(TimePoint now);
  void FailIfNoneIsLeft(TimePoint now);

  const ClientOptions options_;
  const SessionId session_;
  const Places kind_;
  std::map<Number, Member> members_;
  Number last_number_ = kHomeless;
  std::unordered_map<JobId, Number> where_;
  std::deque<Job> homeless_;
  std::vector<JobPlacement> placements_;
  std::vector<ClientEvent> events_;
  std::string faults_;        // of the directory, the last ones
  TimePoint unlinked_since_;  // any member
  bool ever_linked_ = false;
  bool failed_ = false;
  Error failure_;
  std::uint64_t turn_ = 0;  // of equally loaded members
  SpreadCounts counts_;     // of members that are gone, and moves
  TimePoint now_;
};

}  // namespace skerry::client
