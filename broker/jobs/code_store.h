// The code of programs that jobs name by its SHA-256, kept for jobs that come without it.
//
//   switch (store.Resolve(tenant, hash, code)) ...   // `code` is the frame to go on with, or must be asked
//   for store.Keep(tenant, hash, code);                  // once the job may run
//
// A tenant finds its own code only: else one could tell what another runs by whether its hash is known. Code
// that comes along is hashed once, when it is not kept yet; after that comparing is cheaper.
//
// Ownership: frames are shared with the jobs that have them, and outlive their place here. Threads: the
// core's. Memory: `most`, an entry's own books included; past it what was used longest ago goes.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "broker/jobs/payload.h"
#include "common/ids.h"
#include "common/units.h"

namespace skerry::broker {

enum class CodeFound : std::uint8_t {
  kSent,    ///< it came along, and is what its hash says
  kKept,    ///< it was left out and is here
  kNeeded,  ///< it was left out and is not here
  kWrong,   ///< it came along and has another hash
};

class CodeStore {
 public:
  /// What an entry counts beyond its code and names.
  static constexpr std::uint64_t kBytesPerEntry = 256;

  explicit CodeStore(Bytes most) : most_(most) {}
  CodeStore(const CodeStore&) = delete;  // places_ points into order_
  CodeStore& operator=(const CodeStore&) = delete;

  /// `hash` is 32 raw bytes; an empty `code` whose hash is not that of nothing was left out. What is kept
  /// takes its place, so that all jobs of a program share one frame.
  CodeFound Resolve(const TenantId& tenant, std::string_view hash, Payload& code);
  /// Of code that Resolve has given. One that is larger than all that may be kept is not kept. Returns how
  /// many others had to go.
  std::uint64_t Keep(const TenantId& tenant, std::string_view hash, const Payload& code);

  std::uint64_t bytes() const { return bytes_; }
  std::size_t size() const { return order_.size(); }

 private:
  struct Entry {
    std::string name;
    Payload code;
    std::uint64_t bytes() const { return kBytesPerEntry + name.size() + code.size(); }
  };

  const Payload* Find(const std::string& name);

  const Bytes most_;
  std::list<Entry> order_;  // the last used at the end
  std::unordered_map<std::string_view, std::list<Entry>::iterator> places_;
  std::uint64_t bytes_ = 0;
};

}  // namespace skerry::broker
