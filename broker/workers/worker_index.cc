#include "broker/workers/worker_index.h"

#include <algorithm>

namespace skerry::broker {

bool WorkerIndex::Before(const Entry& a, const Entry& b) {
  // used/slots compared without division.
  const std::uint64_t load_a = a.room.used * b.room.slots;
  const std::uint64_t load_b = b.room.used * a.room.slots;
  return load_a != load_b ? load_a < load_b : a.turn < b.turn;
}

bool WorkerIndex::HasBelow(Place tree, std::int64_t memory_mb) const {
  return tree != kNowhere && nodes_[tree].most_free_mb >= memory_mb;
}

void WorkerIndex::Update(Node& node) {
  node.most_free_mb = node.room.free_mb;
  for (const Place child : {node.left, node.right}) {
    if (child != kNowhere) node.most_free_mb = std::max(node.most_free_mb, nodes_[child].most_free_mb);
  }
}

WorkerIndex::Place WorkerIndex::Add(Worker& worker, const Room& room, std::uint64_t turn) {
  Place place = static_cast<Place>(nodes_.size());
  if (unused_.empty()) {
    nodes_.emplace_back();
  } else {
    place = unused_.back();
    unused_.pop_back();
  }
  Node& node = nodes_[place];
  node = Node{{&worker, room, turn}, room.free_mb, static_cast<std::uint32_t>(random_())};
  root_ = Insert(root_, place);
  return place;
}

void WorkerIndex::Remove(Place place) {
  root_ = Cut(root_, place);
  nodes_[place] = Node{};
  unused_.push_back(place);
}

const WorkerIndex::Entry* WorkerIndex::Best(std::uint64_t memory_mb) const {
  const auto wanted = static_cast<std::int64_t>(memory_mb);
  if (!HasBelow(root_, wanted)) return nullptr;
  for (Place at = root_;;) {
    const Node& node = nodes_[at];
    if (HasBelow(node.left, wanted)) {
      at = node.left;
    } else if (node.room.free_mb >= wanted) {
      return &node;
    } else {
      at = node.right;  // it has, since this tree has and nothing else of it does
    }
  }
}

WorkerIndex::Place WorkerIndex::Insert(Place tree, Place added) {
  if (tree == kNowhere) return added;
  Node& node = nodes_[tree];
  Node& fresh = nodes_[added];
  if (fresh.rank > node.rank) {
    Split(tree, fresh, fresh.left, fresh.right);
    Update(fresh);
    return added;
  }
  Place& side = Before(fresh, node) ? node.left : node.right;
  side = Insert(side, added);
  Update(node);
  return tree;
}

WorkerIndex::Place WorkerIndex::Cut(Place tree, Place removed) {
  Node& node = nodes_[tree];
  if (tree == removed) return Join(node.left, node.right);
  Place& side = Before(nodes_[removed], node) ? node.left : node.right;
  side = Cut(side, removed);
  Update(node);
  return tree;
}

WorkerIndex::Place WorkerIndex::Join(Place before, Place after) {
  if (before == kNowhere) return after;
  if (after == kNowhere) return before;
  Node& first = nodes_[before];
  Node& second = nodes_[after];
  if (first.rank > second.rank) {
    first.right = Join(first.right, after);
    Update(first);
    return before;
  }
  second.left = Join(before, second.left);
  Update(second);
  return after;
}

void WorkerIndex::Split(Place tree, const Node& node, Place& before, Place& after) {
  if (tree == kNowhere) {
    before = after = kNowhere;
    return;
  }
  Node& root = nodes_[tree];
  if (Before(root, node)) {
    before = tree;
    Split(root.right, node, root.right, after);
  } else {
    after = tree;
    Split(root.left, node, before, root.left);
  }
  Update(root);
}

}  // namespace skerry::broker
