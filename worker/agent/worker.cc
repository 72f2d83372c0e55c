#include "worker/agent/worker.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <vector>

#include "common/logging.h"

namespace skerry::agent {
namespace {

constexpr int kCannotServe = 1;
constexpr int kAborted = 130;
// For the broker's word that it has read the DRAIN.
constexpr Millis kDrainPatience{2'000};
// For killed isolates to be reaped.
constexpr Millis kAbortPatience{2'000};
// For what is queued to leave the socket.
constexpr Millis kFarewell{1'000};
// Often enough for a scrape every few seconds, rare beside the jobs.
constexpr Millis kReportEvery{1'000};
// One of several brokers that refuses may be upgraded, or given this worker's key, meanwhile.
constexpr Millis kAskAgain{30'000};

std::string AllOf(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace

Worker::Worker(EventLoop& loop, const WorkerOptions& options, CellFactory cells, BrokerLookups lookups)
    : loop_(loop),
      options_(options),
      lookups_(std::move(lookups)),
      isolates_(loop, std::move(cells), options.ManagerOptions()),
      code_(Bytes::MiB(options.kept_code_mb)),
      shares_({isolates_.ledger().max_leases(), isolates_.ledger().memory_mb()}, options.max_job_memory_mb) {
  isolates_.set_on_health([this](bool healthy) { OnHealth(healthy); });
}

Worker::~Worker() {
  *alive_ = false;
  watch_.reset();
}

int Worker::Run() {
  loop_.OnSignals({SIGTERM, SIGINT}, [this](int) { Terminate(); });
  isolates_.Start([this](const Status& started) { OnFirstCell(started); });
  loop_.Run();
  return exit_status_;
}

void Worker::OnFirstCell(const Status& started) {
  if (state_ != State::kStarting) return;
  if (!started) {
    log::Error("the first cell could not be started", {{"reason", started.error().message}});
    return Stop(kCannotServe);
  }
  state_ = State::kServing;
  log::Info("started; looking for the broker", {{"worker", options_.id},
                                                {"broker", AllOf(options_.brokers)},
                                                {"isolates", options_.isolates},
                                                {"spares", options_.spares},
                                                {"jobsMb", isolates_.ledger().memory_mb()},
                                                {"oomKills", NameOf(isolates_.oom_counter())},
                                                {"v8", isolates_.v8_version()}});
  LookForBrokers();
}

void Worker::LookForBrokers() {
  auto places = ParseBrokerPlaces(options_.brokers);
  if (!places) {
    log::Error("the brokers' places cannot be used", {{"reason", places.error().message}});
    return Stop(kCannotServe);
  }
  BrokerDirectory::Options often;
  often.resolve_every = options_.resolve_every;
  watch_ = std::make_unique<BrokerWatch>(std::move(*places), often, lookups_,
                                         [this, alive = alive_](BrokerWatch::News news) {
                                           loop_.Post([this, alive, news = std::move(news)] {
                                             if (*alive) OnNews(news);
                                           });
                                         });
  KeepReporting();
}

void Worker::OnNews(const BrokerWatch::News& news) {
  for (const std::string& fault : news.faults) log::Warn("looking for brokers", {{"reason", fault}});
  if (state_ != State::kServing) return;
  for (const BrokerAddress& address : news.change.removed) {
    for (const auto& [number, desk] : desks_) {
      if (desk->draining() || desk->address() != address) continue;
      log::Info("the broker is none of ours any more; its jobs are finished first",
                {{"broker", address.endpoint}, {"jobs", desk->jobs()}});
      desk->Drain();
      OnDeskIdle(*desk);
      // One that is gone for good answers nothing.
      retries_[number] = loop_.After(kDrainPatience, [this, number = number] {
        const auto silent = desks_.find(number);
        if (silent == desks_.end()) return;
        silent->second->DrainUnheard();
        OnDeskIdle(*silent->second);
      });
    }
  }
  for (const BrokerAddress& address : news.change.added) AddDesk(address);
  if (!news.change.added.empty()) WarnOfTurns();
  OnSharesChanged();
}

void Worker::WarnOfTurns() const {
  const std::uint64_t has = shares_.total().memory_mb;
  const std::uint64_t wanted = desks_.size() * options_.max_job_memory_mb;
  if (wanted <= has) return;
  log::Warn(
      "brokers take turns here, since the largest job of each does not fit beside the others': raise "
      "memory_mb "
      "or lower max_job_memory_mb",
      {{"brokers", desks_.size()},
       {"jobsMb", has},
       {"wantedMb", wanted},
       {"maxJobMemoryMb", options_.max_job_memory_mb}});
}

void Worker::AddDesk(const BrokerAddress& address) {
  const SlotShares::Broker number = ++last_desk_;
  const std::string name = options_.id + (number == 1 ? "" : "-" + std::to_string(number));
  const DeskTools tools{loop_, isolates_, code_, shares_, options_, *this};
  BrokerDesk& desk =
      *desks_.emplace(number, std::make_unique<BrokerDesk>(tools, number, address, SessionId(name)))
           .first->second;
  // Once all desks of this news are there: the only one is promised everything at once.
  loop_.Post([this, alive = alive_, number, &desk] {
    if (!*alive || !desks_.contains(number)) return;
    if (auto status = desk.Open(); !status) {
      log::Error("the broker's endpoint cannot be used", {{"reason", status.error().message}});
      if (desks_.size() == 1) Stop(kCannotServe);
    }
  });
}

Share Worker::PromiseTo(BrokerDesk&) {
  // Where there may be others, each is told its share once it has answered.
  return desks_.size() == 1 ? shares_.total() : Share();
}

void Worker::OnSharesChanged() {
  if (std::exchange(rebalance_posted_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    rebalance_posted_ = false;
    Rebalance();
  });
}

void Worker::Rebalance() {
  if (state_ == State::kStopped) return;
  const TimePoint now = loop_.Now();
  for (const auto number : shares_.Overdue(now)) {
    if (const auto desk = desks_.find(number); desk != desks_.end()) desk->second->Reconnect();
  }
  for (const SlotShares::Offer& offer : shares_.Rebalance(now)) {
    if (const auto desk = desks_.find(offer.broker); desk != desks_.end()) desk->second->Offer(offer);
  }
  if (shares_.NeedsTicks()) rebalance_timer_ = loop_.After(SlotShares::kTick, [this] { Rebalance(); });
}

void Worker::OnHealth(bool healthy) {
  shares_.SetHealth(healthy ? SlotShares::Health::kSound : SlotShares::Health::kSick);
  if (state_ == State::kServing) Rebalance();
}

// Of several brokers one is told the figures at a time: they are the worker's, and would count twice.
void Worker::SendStats() {
  const auto current = desks_.find(reporting_);
  if (current == desks_.end() || !current->second->TakesStats()) {
    const auto next = std::find_if(desks_.begin(), desks_.end(),
                                   [](const auto& desk) { return desk.second->TakesStats(); });
    if (next == desks_.end()) return;
    if (reporting_ != 0 && reporting_ != next->first) next->second->reporter().TakeOver(told_);
    reporting_ = next->first;
  }
  told_ = isolates_.Figures();
  desks_.at(reporting_)->SendStats(told_);
}

void Worker::KeepReporting() {
  SendStats();
  report_timer_ = loop_.After(kReportEvery, [this] { KeepReporting(); });
}

void Worker::OnDeskRefused(BrokerDesk& desk, const std::string& reason) {
  log::Error("the broker refuses this worker", {{"broker", desk.address().endpoint}, {"reason", reason}});
  const bool all = std::all_of(desks_.begin(), desks_.end(), [](const auto& entry) {
    return entry.second->refused() || entry.second->draining();
  });
  if (all && state_ != State::kAborting) return Abort(kCannotServe);
  desk.StopJobs(Cause::kAborted);
  retries_[desk.number()] = loop_.After(kAskAgain, [this, number = desk.number()] {
    const auto again = desks_.find(number);
    if (again != desks_.end() && state_ == State::kServing) (void)again->second->Open();
  });
  OnSharesChanged();
}

std::size_t Worker::Jobs() const {
  std::size_t jobs = 0;
  for (const auto& [number, desk] : desks_) jobs += desk->jobs();
  return jobs;
}

void Worker::OnDeskIdle(BrokerDesk&) {
  StopWhenIdle();
  if (state_ != State::kServing || std::exchange(removal_posted_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (*alive) RemoveDoneDesks();
  });
}

void Worker::RemoveDoneDesks() {
  removal_posted_ = false;
  if (state_ != State::kServing) return;
  for (auto desk = desks_.begin(); desk != desks_.end();) {
    if (desk->second->Done()) {
      desk->second->Close(kFarewell);
      retries_.erase(desk->first);
      desk = desks_.erase(desk);
    } else {
      ++desk;
    }
  }
  OnSharesChanged();
}

void Worker::Terminate() {
  switch (state_) {
    case State::kStarting:
      return Stop(kAborted);
    case State::kServing:
      return BeginDrain();
    case State::kDraining:
      return Abort(kAborted);
    case State::kAborting:
    case State::kStopped:
      return;
  }
}

void Worker::BeginDrain() {
  log::Info("draining", {{"jobs", Jobs()}});
  state_ = State::kDraining;
  isolates_.StopSpares();
  for (const auto& [number, desk] : desks_) desk->Drain();
  patience_ = loop_.After(kDrainPatience, [this] {
    for (const auto& [number, desk] : desks_) desk->DrainUnheard();
    StopWhenIdle();
  });
  StopWhenIdle();
}

void Worker::Abort(int exit_status) {
  log::Warn("stopping at once, the jobs at hand are lost", {{"jobs", Jobs()}});
  state_ = State::kAborting;
  exit_status_ = exit_status;
  isolates_.StopSpares();
  for (const auto& [number, desk] : desks_) desk->StopJobs(Cause::kAborted);
  patience_ = loop_.After(kAbortPatience, [this] { Stop(exit_status_); });
  StopWhenIdle();
}

void Worker::StopWhenIdle() {
  if (Jobs() > 0) return;
  const bool drained = std::all_of(desks_.begin(), desks_.end(), [](const auto& entry) {
    return entry.second->Done() || entry.second->refused();
  });
  if (state_ == State::kDraining && drained) Stop(0);
  if (state_ == State::kAborting) Stop(exit_status_);
}

void Worker::Stop(int exit_status) {
  if (state_ == State::kStopped) return;
  const bool linked = state_ != State::kStarting;
  state_ = State::kStopped;
  exit_status_ = exit_status;
  report_timer_.Cancel();
  rebalance_timer_.Cancel();
  if (linked) {
    SendStats();
    for (const auto& [number, desk] : desks_) desk->Close(kFarewell);
  }
  loop_.Stop();
}

}  // namespace skerry::agent
