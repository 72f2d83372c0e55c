// The workers that have a free slot, by load: the least loaded one with so much memory free, in logarithmic
// time however many there are.
//
//   const WorkerIndex::Place place = index.Add(worker, {.used = 1, .slots = 4, .free_mb = 700}, next_turn++);
//   index.LeastLoaded(256);
//   index.Remove(place);
//
// A treap (Seidel and Aragon, "Randomized search trees", 1996): a search tree by load that chance keeps
// balanced, in which each node knows the most memory that is free below it, so that a search by memory never
// turns back. Its nodes lie in one array, apart from the workers' records: a search touches little else.
//
// Ownership: points to workers; one must be removed before it dies. Threads: the core's. Errors: none.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace skerry::broker {

struct Worker;

class WorkerIndex {
 public:
  using Place = std::uint32_t;
  static constexpr Place kNowhere = UINT32_MAX;

  struct Room {
    std::uint64_t used = 0;
    std::uint64_t slots = 1;   ///< 1 and up; loads are used / slots
    std::int64_t free_mb = 0;  ///< below 0: less than what is in use
  };

  struct Entry {
    Worker* worker = nullptr;
    Room room;
    std::uint64_t turn = 0;  ///< among those of the same load
  };
  /// Whether `a` is to have a job before `b`, which may be in another index.
  static bool Before(const Entry& a, const Entry& b);

  /// No two of an index may have the same turn. Each time a higher one: equals take turns.
  Place Add(Worker& worker, const Room& room, std::uint64_t turn);
  void Remove(Place place);

  /// Null where none has that much free. Valid until the next Add or Remove.
  const Entry* Best(std::uint64_t memory_mb) const;
  Worker* LeastLoaded(std::uint64_t memory_mb) const {
    const Entry* best = Best(memory_mb);
    return best == nullptr ? nullptr : best->worker;
  }
  bool empty() const { return root_ == kNowhere; }

 private:
  struct Node : Entry {
    std::int64_t most_free_mb = 0;  // in the tree below, itself included
    std::uint32_t rank = 0;         // random; no child has a higher one
    Place left = kNowhere;
    Place right = kNowhere;
  };

  bool HasBelow(Place tree, std::int64_t memory_mb) const;
  void Update(Node& node);
  // Each returns the root of the tree that it leaves.
  Place Insert(Place tree, Place added);
  Place Cut(Place tree, Place removed);
  Place Join(Place before, Place after);
  /// `before` and `after` get what of the tree comes before and after the node.
  void Split(Place tree, const Node& node, Place& before, Place& after);

  std::vector<Node> nodes_;
  std::vector<Place> unused_;
  Place root_ = kNowhere;
  std::minstd_rand random_;  // its default seed: the core is deterministic, and no peer chooses ranks
};

}  // namespace skerry::broker
