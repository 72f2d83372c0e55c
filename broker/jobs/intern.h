// One copy of equal values, kept while anybody holds it: a hundred thousand jobs of a tenant name it once.
//
//   InternTable<Limits, LimitsHash> table;
//   const Interned<Limits> shared = table.Hold(limits);   // 8 bytes; shared->Get(...)
//
// Ownership: the table owns the values; it must outlive whoever holds one. Threads: the core's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace skerry::broker {

/// A held value, or none.
template <class T>
class Interned {
 public:
  /// What a table keeps for one value.
  struct Count {
    std::uint64_t holders = 0;
    void (*drop)(void* table, const T& value) = nullptr;
    void* table = nullptr;
  };
  using Entry = std::pair<const T, Count>;

  Interned() = default;
  explicit Interned(Entry& entry) : entry_(&entry) { ++entry.second.holders; }
  Interned(const Interned& other) : entry_(other.entry_) {
    if (entry_ != nullptr) ++entry_->second.holders;
  }
  Interned(Interned&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  Interned& operator=(Interned other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~Interned() {
    if (entry_ != nullptr && --entry_->second.holders == 0)
      entry_->second.drop(entry_->second.table, entry_->first);
  }

  explicit operator bool() const { return entry_ != nullptr; }
  const T& operator*() const { return entry_->first; }
  const T* operator->() const { return &entry_->first; }

 private:
  Entry* entry_ = nullptr;
};

template <class T, class Hash>
class InternTable {
 public:
  InternTable() = default;
  InternTable(const InternTable&) = delete;  // entries point to their table
  InternTable& operator=(const InternTable&) = delete;

  Interned<T> Hold(T value) {
    auto& entry = *entries_.try_emplace(std::move(value)).first;
    entry.second.drop = &Drop;
    entry.second.table = this;
    return Interned<T>(entry);
  }
  std::size_t size() const { return entries_.size(); }

 private:
  static void Drop(void* table, const T& value) {
    auto& entries = static_cast<InternTable*>(table)->entries_;
    entries.erase(entries.find(value));  // not by its key, which dies with it
  }

  std::unordered_map<T, typename Interned<T>::Count, Hash> entries_;
};

}  // namespace skerry::broker
