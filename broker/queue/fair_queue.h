// Whose job is next: tenants by weight, slots and cost, inside a tenant priorities that age, inside a
// priority users.
//
// No tenant that holds its share of the slots gets another while one that holds less waits (FairTurns). Among
// those that hold less it is weighted deficit round robin with a quantum that goes to nothing: each tenant is
// charged what its jobs are thought to cost (CostModel), divided by its weight, when they start, and put
// right when they have ended; the one that has been charged least is next. (Start-time fair queueing: Goyal,
// Vin and Cheng, "Start-time Fair Queuing", 1996. Two tenants that both wait are never further apart than one
// job of each.) Who comes, or comes back, begins where those are that wait: nobody saves up by not asking.
// That is where they are once jobs that were thought dearer than they were have been put right, and not where
// they had seemed to be: else a hundred jobs charged too much would be a lead of a hundred jobs over all who
// came meanwhile. Users of a tenant share alike, the same way.
//
// Nor is anybody made to wait for long for what he has had: jobs that waited for a client behind a broken
// link held their slots meanwhile, and that must not cost their tenant the time after it. So a tenant is
// never further behind than kMostBehind for each job that runs then.
//
// A job of priority p goes before those that have waited less than p times `ageing` longer: high priorities
// go first, and no low one waits for ever.
//
// A line is what one session has of one tenant, user and priority, in its order, linked through its jobs.
// Lines of sessions that are held back wait, held; those whose first job nothing can run just now are set
// aside while others are looked at. Every step costs the logarithm of the number of tenants, users and lines,
// and the number of different priorities of one tenant.
//
// Ownership: points to jobs, which must be removed before they die, and to their sessions and accounts.
// Threads: the core's. Memory: nothing for a job that waits behind another of its line; kMaxIdle of those
// who have nothing here and have had more than others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/jobs/job.h"
#include "broker/queue/fair_turns.h"
#include "common/units.h"

namespace skerry::broker {

/// What a tenant may have of the pool.
struct Share {
  std::uint64_t weight = 1;  ///< 1 and up
  std::uint64_t max_running = UINT64_MAX;
  std::uint64_t max_queued = UINT64_MAX;
};

struct FairUser;
struct FairTenant;

struct FairLine {
  Job* first = nullptr;
  Job* last = nullptr;
  FairUser* user = nullptr;
  const Session* session = nullptr;
  const Account* account = nullptr;
  std::int8_t priority = 0;
  bool held = false;
  bool aside = false;
  FairLine* next_of_session = nullptr;
  FairLine* previous_of_session = nullptr;
};

struct FairUser {
  UserId id;
  FairTenant* tenant = nullptr;
  FairTag tag;
  std::uint64_t running = 0;
  std::size_t lines = 0;
  std::size_t waiting = 0;  ///< of the lines, those that are not held
  /// By priority, by the order of their first jobs: lines that are neither held nor set aside.
  std::map<std::int8_t, std::map<std::int64_t, FairLine*>> ready;
  static std::uint64_t weight() { return 1; }
};

struct FairTenant {
  TenantId id;
  Share share;
  FairTag tag;
  std::uint64_t queued = 0;        ///< parked ones included
  std::uint64_t queued_bytes = 0;  ///< of these
  std::uint64_t running = 0;
  std::size_t waiting = 0;       ///< users that have lines that are not held
  std::uint64_t user_floor = 0;  ///< where users begin, or lower where one that waits is
  bool listed = false;
  std::unordered_map<UserId, FairUser> users;
  std::map<std::int8_t, FairTurns<FairUser>> bands;  ///< by priority: users with ready lines
  std::map<FairTag, FairUser*> idle_users;           ///< that have nothing here
  std::uint64_t weight() const { return share.weight; }
};

class FairQueue {
 public:
  static constexpr std::size_t kMaxIdle = 4096;
  static constexpr std::int64_t kMostBehindUs = 500'000;

  using ShareOf = std::function<Share(const TenantId&)>;
  FairQueue(ShareOf share_of, Millis ageing) : share_of_(std::move(share_of)), ageing_(ageing) {}
  FairQueue(const FairQueue&) = delete;  // its parts point to each other
  FairQueue& operator=(const FairQueue&) = delete;

  /// Where its order says in its line: at one of the ends, or near.
  void Add(Job& job, std::uint64_t bytes = 0);
  /// Out of it, and not to run.
  void Remove(Job& job, std::uint64_t bytes = 0);
  /// Out of its line, and counted as queued still; back with Unpark, or gone with Forget.
  void Park(Job& job);
  void Unpark(Job& job);
  void ForgetParked(const Job& job, std::uint64_t bytes = 0);

  /// Who is next of those that are neither held, nor set aside, nor of a tenant that runs all it may.
  Job* Front() const;
  /// It runs: out of its line, its tenant and user are charged. The job must have its lease already.
  void Start(Job& job, std::uint64_t cost_us, std::uint64_t bytes = 0);
  /// It runs no more, and has cost this. Before its lease goes.
  void Stop(const Job& job, std::uint64_t cost_us);

  /// The line of a job that is first in it.
  void SetAside(Job& job);
  void PutBack();
  void Hold(const Session& session);
  void Release(const Session& session);
  void ReleaseAll();
  /// Lines.
  std::size_t held() const { return held_; }

  std::uint64_t QueuedOf(const TenantId& tenant) const;
  /// What its queued jobs were said to hold when they came, and not yet when they went.
  std::uint64_t QueuedBytesOf(const TenantId& tenant) const;
  std::uint64_t RunningOf(const TenantId& tenant) const;
  /// Shares have changed.
  void Reshare();
  /// Tenants that are known, idle ones included.
  std::size_t tenants() const { return tenants_.size(); }

 private:
  struct LineKey {
    const Session* session;
    const Account* account;
    std::int8_t priority;
    bool operator==(const LineKey&) const = default;
  };
  struct LineHash {
    std::size_t operator()(const LineKey& key) const;
  };
  struct OfSession {
    FairLine* first = nullptr;
    bool held = false;
  };

  static LineKey KeyOf(const Job& job);
  FairTenant& TenantOf(const TenantId& id);
  FairUser& UserOf(FairTenant& tenant, const UserId& id);
  FairLine& LineOf(const Job& job);
  void Link(Job& job);
  void Unlink(Job& job);
  /// The line is empty. It is gone after this, and its user may be.
  void Drop(FairLine& line);
  // A line that is not held waits. Whoever begins to wait begins where the others are.
  void BeginWaiting(FairLine& line);
  void EndWaiting(FairLine& line);
  // Among those that may be next, or not.
  void Show(FairLine& line);
  void Hide(FairLine& line);
  void Hold(FairLine& line);
  void Release(OfSession& of_session);
  void Refresh(FairTenant& tenant);
  // They hold so many more slots from now on, or fewer.
  static void Charge(FairUser& user, std::int64_t cost_us, std::int64_t slots);
  /// What it is charged at the most, so that it is not too far behind.
  std::int64_t Bounded(const FairTenant& tenant, std::int64_t cost_us) const;
  void Charge(FairTenant& tenant, std::int64_t cost_us, std::int64_t slots);
  // Those who have nothing here are forgotten where nothing is lost by it.
  static void Tidy(FairUser& user);
  /// Where who comes begins.
  std::uint64_t Beginning() const;
  static std::uint64_t Beginning(const FairTenant& tenant);
  void Tidy(FairTenant& tenant);
  /// One job less waits.
  static void Unqueue(FairTenant& tenant, std::uint64_t bytes);
  Job* FrontOf(const FairTenant& tenant) const;

  const ShareOf share_of_;
  const Millis ageing_;
  std::unordered_map<TenantId, FairTenant> tenants_;
  std::unordered_map<LineKey, std::unique_ptr<FairLine>, LineHash> lines_;
  std::unordered_map<const Session*, OfSession> sessions_;
  FairTurns<FairTenant> next_;  // those that may be
  std::map<FairTag, FairTenant*> idle_;
  std::vector<FairLine*> aside_;
  std::uint64_t floor_ = 0;  // where tenants begin, or lower where one that waits is
  std::uint64_t next_serial_ = 1;
  std::size_t held_ = 0;
  std::uint64_t running_ = 0;
};

}  // namespace skerry::broker
