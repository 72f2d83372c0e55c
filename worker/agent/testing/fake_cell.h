// A Cell for tests: forks children of the test itself that play isolates, well or badly.
//
// Threads: the event loop's. Ownership: what it has not handed out is killed and reaped with it.
// Errors: as told by FakeCellPlan.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "common/fd.h"
#include "worker/agent/cells/cell.h"

namespace skerry::agent {

/// How the cells of a test behave; changed by the test while they run.
struct FakeCellPlan {
  enum class Fork { kGood, kHasState, kDiesIdle, kDeaf, kSpeaksFirst, kNever, kKillsCell };
  /// What a cell does that was forked from another, with its recipe.
  enum class Derived { kReady, kUnkeepable, kHangs, kSpins, kGrows, kDies, kKilled, kNeverComes, kRefused };
  std::atomic<Fork> fork{Fork::kGood};
  std::atomic<bool> starts{true};        ///< false: the factory fails
  std::atomic<int> start_delay_ms{0};    ///< of the factory, in its own thread
  std::atomic<bool> starts_held{false};  ///< the factory waits until this is false
  std::atomic<int> started{0};           ///< cells started so far
  std::atomic<int> alive{0};
  std::atomic<int> forks{0};
  std::atomic<int> requests_refused{0};  ///< the next so many requests are refused as kExhausted

  std::atomic<Derived> libraries{Derived::kReady};  ///< of cells with libraries
  std::atomic<Derived> program{Derived::kReady};    ///< of cells with a program
  std::atomic<Fork> derived_fork{Fork::kGood};      ///< of either, once they are ready
  std::atomic<bool> keeps_programs{true};
  std::atomic<int> derived_alive{0};
  std::atomic<int> derived_forks{0};
  /// What derived cells were asked for, in order. The event loop's thread writes it.
  std::vector<std::shared_ptr<const cell::CellRecipe>> recipes;
};

/// Private memory that the isolates of Fork::kHasState have from the beginning.
inline constexpr std::size_t kFakeStateBytes = std::size_t{48} << 20;

CellFactory FakeCells(FakeCellPlan& plan);

/// Forks a child running `body`; the worker's end of its socket is non-blocking.
ForkedProcess ForkForTest(void (*body)(int socket));

}  // namespace skerry::agent
