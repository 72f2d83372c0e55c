// The programs that lines of a file gave, for later lines that name one by its hash.
//
// Bounded in bytes: the one that no line has given or named for longest goes first. Threads: one.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "clients/cpp/program.h"
#include "common/units.h"

namespace skerry::cli {

class ProgramStore {
 public:
  explicit ProgramStore(Bytes most) : most_(most) {}

  /// The newest one is kept whatever its size.
  void Keep(std::shared_ptr<const Program> program);
  /// Null: no line gave it, or too much came after.
  std::shared_ptr<const Program> Find(const std::string& hash);

  Bytes bytes() const { return bytes_; }

 private:
  using Order = std::list<std::shared_ptr<const Program>>;
  Order::iterator Refreshed(const std::string& hash);

  const Bytes most_;
  Bytes bytes_;
  Order order_;  // the last named first
  std::unordered_map<std::string, Order::iterator> by_hash_;
};

}  // namespace skerry::cli
