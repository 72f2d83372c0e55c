// Code that came with jobs whose programs are kept, so that the next such job need not bring it.
//
// By its SHA-256, which the broker has checked; whose it is makes no difference. Bounded in bytes, the one
// longest unused goes first.
//
// Threads: plain data, one owner. Ownership: what Find gives is there until the next Keep. Errors: none; code
// that is larger than the whole store is not kept.
#pragma once

#include <list>
#include <string>
#include <unordered_map>

#include "common/units.h"

namespace skerry::agent {

class CodeStore {
 public:
  explicit CodeStore(Bytes max_bytes) : max_bytes_(max_bytes) {}

  void Keep(const std::string& hash, const std::string& code);
  /// Null: it is not there.
  const std::string* Find(const std::string& hash);
  Bytes bytes() const { return bytes_; }

 private:
  struct Entry {
    std::string hash;
    std::string code;
  };
  using Entries = std::list<Entry>;
  static Bytes SizeOf(const std::string& hash, const std::string& code);

  const Bytes max_bytes_;
  Bytes bytes_;
  Entries entries_;  // longest unused first
  std::unordered_map<std::string, Entries::iterator> by_hash_;
};

}  // namespace skerry::agent
