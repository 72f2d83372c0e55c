#include "worker/agent/link/broker_desk.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <variant>

#include "common/brokers/broker_keys.h"
#include "common/hash.h"
#include "common/logging.h"
#include "common/pool_limits.h"
#include "common/version.h"
#include "common/wire/negotiate.h"

namespace skerry::agent {
namespace {

// A broker that counts leases never hears this; one that does not is told to come back about when a slot is
// free.
constexpr std::uint32_t kRetryAfterMs = 100;

/// For operators; in a pod it is the pod's.
std::string HostName() {
  std::array<char, 65> name{};  // the wire takes 64 bytes
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

BrokerDesk::BrokerDesk(DeskTools tools, SlotShares::Broker number, BrokerAddress address, SessionId session)
    : tools_(tools),
      number_(number),
      address_(std::move(address)),
      session_(std::move(session)),
      link_(tools.loop, *this, LinkTo(address_, tools.options.key_file, tools.options.broker_key),
            [this] { return Greeting(); }) {}

BrokerDesk::~BrokerDesk() {
  *alive_ = false;
  tools_.shares.Remove(number_);
}

Status BrokerDesk::Open() {
  refused_ = false;
  return link_.Open();
}

// Each connection's first word: whatever the one before was promised is void with it.
wire::Hello BrokerDesk::Greeting() {
  tools_.shares.Leave(number_);
  const Share promise = tools_.listener.PromiseTo(*this);
  tools_.shares.Promise(number_, promise);
  tools_.listener.OnSharesChanged();
  wire::Hello hello;
  hello.role = wire::Role::kWorker;
  hello.session = session_;
  hello.software = kSkerrySoftware;
  hello.capabilities = {std::string(wire::kStatsCapability), "wasm",
                        std::string(wire::kReproducibleCapability), std::string(wire::kProgramsCapability)};
  hello.libraries = tools_.options.shelf.names();
  hello.v8 = tools_.isolates.v8_version();
  hello.sandbox = NameOf(tools_.isolates.sandbox_level());
  hello.host = HostName();
  hello.pid = static_cast<std::uint64_t>(getpid());
  hello.slots = promise.slots;
  // All there is, which is what a job can ask for in time; with no slots it promises nothing.
  hello.memory_mb = tools_.isolates.ledger().memory_mb();
  hello.job_memory_mb = tools_.options.max_job_memory_mb;
  hello.leases = link_.UnconfirmedFinals();
  for (const auto& [lease, held] : jobs_) {
    if (!held.abandoned) hello.leases.push_back(lease);
  }
  for (const auto& [dispatch, payloads] : early_) hello.leases.push_back(dispatch.lease);
  // More than one HELLO can name: finals that a broker's PONGs have long confirmed in all likelihood.
  if (hello.leases.size() > wire::kMaxArray)
    hello.leases.erase(hello.leases.begin(), hello.leases.end() - wire::kMaxArray);
  return hello;
}

void BrokerDesk::OnWelcome(const wire::Welcome& welcome, Memory memory) {
  reporter_.OnWelcome(welcome);
  if (memory == Memory::kForgotten && !jobs_.empty()) AbandonJobs();
  tools_.shares.Join(number_);
  if (draining_) SendDrain();
  tools_.listener.OnSharesChanged();
}

void BrokerDesk::OnRefused(const std::string& reason) {
  refused_ = true;
  tools_.shares.Leave(number_);
  tools_.listener.OnDeskRefused(*this, reason);
}

void BrokerDesk::OnCutOff() {
  if (jobs_.size() == abandoned_) return;
  log::Warn("the broker is out of reach and gives this worker's jobs away; they are ended",
            {{"broker", address_.endpoint}, {"jobs", jobs_.size() - abandoned_}});
  early_.clear();  // none of them has begun
  StopJobs(Cause::kAborted);
}

void BrokerDesk::Offer(const SlotShares::Offer& offer) {
  if (!connected()) return;
  wire::Credit credit;
  credit.slots = offer.share.slots;
  credit.memory_mb = offer.share.slots > 0 ? offer.share.memory_mb : tools_.isolates.ledger().memory_mb();
  link_.Send(credit, {});
  if (offer.mark == 0) return;
  link_.Barrier([this, mark = offer.mark] {
    tools_.shares.OnConfirmed(number_, mark);
    tools_.listener.OnSharesChanged();
  });
}

void BrokerDesk::Reconnect() {
  log::Warn("the broker does not say that it knows what was taken back; connecting again",
            {{"broker", address_.endpoint}});
  link_.Reconnect();
}

void BrokerDesk::Drain() {
  if (std::exchange(draining_, true)) return;
  tools_.shares.Retire(number_);
  if (connected()) {
    SendDrain();
  } else {
    broker_knows_drain_ = true;  // nobody to tell
  }
}

void BrokerDesk::SendDrain() {
  link_.Send(wire::Drain{}, {});
  link_.Barrier([this] {
    broker_knows_drain_ = true;
    tools_.listener.OnDeskIdle(*this);
  });
}

void BrokerDesk::SendStats(const WorkerStats& figures) {
  if (!connected()) return;  // one that waited would be out of date
  if (const auto stats = reporter_.Report(figures)) link_.Send(*stats, {});
}

void BrokerDesk::StopJobs(Cause cause) {
  std::vector<JobRun*> jobs;
  for (const auto& [lease, held] : jobs_) jobs.push_back(held.run.get());
  for (JobRun* job : jobs) job->Stop(cause);
}

void BrokerDesk::Close(Millis patience) {
  link_.Close(patience);
}

void BrokerDesk::OnMessage(wire::Header header, std::vector<std::string> payloads) {
  if (auto* dispatch = std::get_if<wire::Dispatch>(&header))
    return OnDispatch(*dispatch, std::move(payloads));
  if (const auto* answer = std::get_if<wire::Answer>(&header)) {
    if (JobRun* job = JobOf(answer->lease))
      job->Answer(*answer, payloads.empty() ? "" : std::move(payloads[0]));
    return;
  }
  if (const auto* cancel = std::get_if<wire::Cancel>(&header)) return OnCancel(cancel->lease);
  log::Warn("the broker sent a message that a worker has no use for");
}

void BrokerDesk::OnCancel(LeaseId lease) {
  if (JobRun* job = JobOf(lease)) return job->Stop(Cause::kCancelled);
  const auto early = std::find_if(early_.begin(), early_.end(),
                                  [&](const auto& entry) { return entry.first.lease == lease; });
  if (early == early_.end()) return;
  const wire::Dispatch dispatch = early->first;
  early_.erase(early);
  SendRefusal(link_, dispatch, MakeError(Code::kCancelled, "the job was cancelled"));
}

bool BrokerDesk::CompleteCode(const wire::Dispatch& dispatch, std::vector<std::string>& payloads) {
  const JobSpec& job = dispatch.job;
  if (!job.program || job.code_hash.empty() || payloads.empty()) return true;
  if (!payloads[0].empty() || IsHashOfNothing(job.code_hash)) {
    tools_.code.Keep(job.code_hash, payloads[0]);
    return true;
  }
  if (const std::string* code = tools_.code.Find(job.code_hash)) {
    payloads[0] = *code;
    return true;
  }
  wire::Need need;
  need.lease = dispatch.lease;
  link_.Send(need, {});
  return false;
}

void BrokerDesk::OnDispatch(wire::Dispatch dispatch, std::vector<std::string> payloads) {
  if (!CompleteCode(dispatch, payloads)) return;
  if (!early_.empty() || AbandonedAreInTheWay()) {
    early_.emplace_back(std::move(dispatch), std::move(payloads));
    return;
  }
  Start(std::move(dispatch), std::move(payloads));
}

void BrokerDesk::Start(wire::Dispatch dispatch, std::vector<std::string> payloads) {
  const LeaseId id = dispatch.lease;
  if (jobs_.count(id) != 0) return log::Warn("a lease was dispatched twice", {{"lease", id.value()}});
  const wire::Dispatch header = dispatch;
  auto planned = PlanJob(std::move(dispatch), std::move(payloads), tools_.options.max_job_memory_mb,
                         tools_.options.shelf);
  if (auto* refused = std::get_if<JobError>(&planned)) return SendRefusal(link_, header, std::move(*refused));
  auto& plan = std::get<JobPlan>(planned);
  const Share share{1, plan.limits.memory_mb()};
  auto lease = tools_.isolates.Acquire(share.memory_mb);
  if (!lease) return RefuseForRoom(header, lease.error());
  tools_.shares.OnDispatch(number_, share);
  auto job = std::make_unique<JobRun>(tools_.loop, tools_.isolates, link_, std::move(plan), std::move(*lease),
                                      [this, id] { OnJobDone(id); });
  JobRun& begun = *job;
  jobs_.emplace(id, Held{std::move(job), share});
  begun.Begin();
}

void BrokerDesk::RefuseForRoom(const wire::Dispatch& dispatch, const Error& error) {
  log::Warn("a lease is refused", {{"job", dispatch.job.id.str()},
                                   {"tenant", dispatch.job.tenant.str()},
                                   {"user", dispatch.job.user.str()},
                                   {"lease", dispatch.lease.value()},
                                   {"attempt", dispatch.attempt},
                                   {"reason", error.message}});
  const LeaseLedger& ledger = tools_.isolates.ledger();
  const PoolLimit limit =
      ledger.leases() >= ledger.max_leases() ? PoolLimit::kMaxConcurrentIsolates : PoolLimit::kWorkerMemoryMb;
  JobError refusal = MakeError(Code::kOverloaded, error.message, std::string(NameOf(limit)));
  refusal.retry_after_ms = kRetryAfterMs;
  SendRefusal(link_, dispatch, std::move(refusal));
}

JobRun* BrokerDesk::JobOf(LeaseId lease) {
  const auto job = jobs_.find(lease);
  return job == jobs_.end() ? nullptr : job->second.run.get();
}

void BrokerDesk::OnJobDone(LeaseId lease) {
  const auto job = jobs_.find(lease);
  if (job->second.abandoned) {
    --abandoned_;
    tools_.shares.OnOrphanEnd(job->second.share);
  } else {
    tools_.shares.OnEnd(number_, job->second.share);
  }
  // Still inside the job's own call: it is freed once that has returned.
  done_.push_back(std::move(job->second.run));
  jobs_.erase(job);
  tools_.loop.Post([this, alive = alive_] {
    if (!*alive) return;
    done_.clear();
    StartEarly();
    if (jobs() == 0) tools_.listener.OnDeskIdle(*this);
  });
}

bool BrokerDesk::AbandonedAreInTheWay() const {
  return abandoned_ > 0 && tools_.isolates.ledger().leases() >= tools_.options.isolates;
}

void BrokerDesk::StartEarly() {
  while (!early_.empty() && !AbandonedAreInTheWay()) {
    auto [dispatch, payloads] = std::move(early_.front());
    early_.pop_front();
    Start(std::move(dispatch), std::move(payloads));
  }
}

void BrokerDesk::AbandonJobs() {
  log::Warn("the broker has given this worker's jobs away; they are ended",
            {{"broker", address_.endpoint}, {"jobs", jobs_.size()}});
  early_.clear();
  std::vector<JobRun*> jobs;
  for (auto& [lease, held] : jobs_) {
    jobs.push_back(held.run.get());
    if (std::exchange(held.abandoned, true)) continue;
    ++abandoned_;
    tools_.shares.OnAbandon(number_, held.share);
  }
  for (JobRun* job : jobs) job->Abandon();
}

}  // namespace skerry::agent
