// Which brokers there are now: the addresses that a list of places stands for, kept up to date.
//
//   BrokerDirectory directory(places, {}, now);
//   for (const auto& lookup : directory.Due(now)) ...   // resolve the name, or read the file, then
//   directory.OnResolved(name, addresses, now);         // or OnFile
//   const auto change = directory.TakeChange();         // connect to `added`, drain and leave `removed`
//
// A name is resolved again every `resolve_every`, a file is read every `read_every`. What fails changes
// nothing: the last known addresses stay (a name that cannot be resolved just now is no reason to leave
// brokers that work), and it is tried again soon. A file without any place counts as failed: an editor
// truncates before it writes.
//
// Threads: one. Errors: what went wrong comes from TakeFaults, once for each new text, for a log.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/brokers/broker_place.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry {

class BrokerDirectory {
 public:
  struct Options {
    /// DNS answers may be cached for less; more often costs a query each time.
    Millis resolve_every{30'000};
    Millis read_every{1'000};
    /// After a failure: twice as long each time, up to resolve_every.
    Millis retry_after{1'000};
  };
  struct Lookup {
    BrokerPlace::Kind kind = BrokerPlace::Kind::kName;
    std::string name;  ///< the host, or the path
    auto operator<=>(const Lookup&) const = default;
  };
  struct Change {
    std::vector<BrokerAddress> added;
    std::vector<BrokerAddress> removed;
    bool empty() const { return added.empty() && removed.empty(); }
  };

  BrokerDirectory(std::vector<BrokerPlace> places, Options options, TimePoint now);

  /// What is to be looked up now; each is under way until its answer comes.
  std::vector<Lookup> Due(TimePoint now);
  /// When something is due next; max() where nothing ever is (endpoints only), or all is under way.
  TimePoint NextDue() const;
  /// `addresses`: numeric, of a name.
  void OnResolved(const std::string& host, const Result<std::vector<std::string>>& addresses, TimePoint now);
  void OnFile(const std::string& path, const Result<std::string>& text, TimePoint now);

  /// Since it was called before; the first time, `added` is all there is.
  Change TakeChange();
  std::vector<std::string> TakeFaults() { return std::exchange(faults_, {}); }
  /// In the order of the places, without what is past kMaxBrokers.
  const std::vector<BrokerAddress>& addresses() const { return addresses_; }
  /// Whether nothing can ever change.
  bool fixed() const { return entries_.empty(); }
  /// Every name and file has been looked up once, with whatever result.
  bool complete() const;

 private:
  struct Entry {
    TimePoint due;
    bool under_way = false;
    bool tried = false;
    Millis retry{0};
    std::string fault;                   // the last that was told
    std::vector<std::string> addresses;  // of a name
    std::vector<BrokerPlace> places;     // of a file
  };

  void Want(const Lookup& lookup, TimePoint now);
  void Succeeded(Entry& entry, Millis again_in, TimePoint now);
  void Failed(const Lookup& lookup, Entry& entry, const std::string& why, TimePoint now);
  void Add(const BrokerPlace& place, std::vector<BrokerAddress>& all) const;
  void Refresh(TimePoint now);

  const std::vector<BrokerPlace> places_;
  const Options options_;
  std::map<Lookup, Entry> entries_;
  std::vector<BrokerAddress> addresses_;
  std::set<BrokerAddress> told_;
  std::vector<std::string> faults_;
  bool too_many_ = false;
};

}  // namespace skerry
