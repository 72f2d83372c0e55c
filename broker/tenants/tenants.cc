#include "broker/tenants/tenants.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "common/config/config_file.h"
#include "common/config/settings.h"
#include "common/printable.h"

namespace skerry::broker {
namespace {

constexpr std::uint64_t kMany = 100'000'000;
constexpr std::uint64_t kMaxPerSecond = 1'000'000;
constexpr std::uint64_t kMaxWeight = 1'000;
constexpr std::uint64_t kDayMs = 24ull * 3'600'000;
constexpr std::size_t kMaxNamedLibraries = 1024;

/// A key that is a number.
struct NumberKey {
  std::string_view name;
  std::uint64_t least;
  std::uint64_t most;
  void (*set)(TenantPolicy& policy, std::uint64_t value);
};
constexpr std::array kNumbers = {
    NumberKey{"weight", 1, kMaxWeight, [](TenantPolicy& p, std::uint64_t v) { p.share.weight = v; }},
    NumberKey{"max_concurrent", 1, kMany, [](TenantPolicy& p, std::uint64_t v) { p.share.max_running = v; }},
    NumberKey{"max_queued", 1, kMany, [](TenantPolicy& p, std::uint64_t v) { p.share.max_queued = v; }},
    NumberKey{"rate", 1, kMaxPerSecond, [](TenantPolicy& p, std::uint64_t v) { p.rate.per_second = v; }},
    NumberKey{"burst", 1, kMaxPerSecond, [](TenantPolicy& p, std::uint64_t v) { p.rate.burst = v; }},
    NumberKey{"user_rate", 1, kMaxPerSecond,
              [](TenantPolicy& p, std::uint64_t v) { p.user_rate.per_second = v; }},
    NumberKey{"user_burst", 1, kMaxPerSecond,
              [](TenantPolicy& p, std::uint64_t v) { p.user_rate.burst = v; }},
    NumberKey{"turn_executions", 1, kMany, [](TenantPolicy& p, std::uint64_t v) { p.turn_executions = v; }},
    NumberKey{"retention_ms", 0, kDayMs,
              [](TenantPolicy& p, std::uint64_t v) { p.retention = Millis(static_cast<std::int64_t>(v)); }},
};

std::string NoSuchSetting(const std::string& key) {
  std::vector<std::string> known = {"libraries", "wasm", "ceilings"};
  for (const NumberKey& number : kNumbers) known.emplace_back(number.name);
  return "there is no such setting" + config::DidYouMean(key, known);
}

std::string NoSuchLimit(const std::string& key) {
  std::vector<std::string> known;
  for (const LimitSpec& spec : kLimitSpecs) known.emplace_back(spec.name);
  return "there is no such limit" + config::DidYouMean(key, known);
}

/// Where in the file a setting stands.
struct Place {
  std::string owner;  ///< "default", or "tenants.NAME"
  std::string key;
  bool ceiling = false;
};

/// A name may have dots in it, a key has none.
Place PlaceOf(const std::string& path) {
  constexpr std::string_view kCeilings = ".ceilings";
  Place place;
  const std::size_t dot = path.rfind('.');
  place.key = path.substr(dot == std::string::npos ? 0 : dot + 1);
  place.owner = dot == std::string::npos ? "" : path.substr(0, dot);
  if (place.owner.ends_with(kCeilings)) {
    place.ceiling = true;
    place.owner.resize(place.owner.size() - kCeilings.size());
  }
  return place;
}

/// A tenant's name where `owner` is one's.
std::optional<std::string> NameIn(const std::string& owner) {
  constexpr std::string_view kTenants = "tenants.";
  if (!owner.starts_with(kTenants) || owner.size() == kTenants.size()) return std::nullopt;
  return owner.substr(kTenants.size());
}

std::string MustBe(std::uint64_t least, std::uint64_t most) {
  return "must be a whole number, " + std::to_string(least) + " to " + std::to_string(most);
}

/// What is wrong with it, if anything.
std::optional<std::string> SetCeiling(TenantPolicy& policy, const std::string& key,
                                      const config::Value* value) {
  const auto id = LimitByName(key);
  if (!id) return NoSuchLimit(key);
  const LimitSpec& spec = SpecOf(*id);
  const auto* number = value == nullptr ? nullptr : std::get_if<std::uint64_t>(value);
  if (number == nullptr || *number < spec.minimum || *number > spec.hard_maximum)
    return MustBe(spec.minimum, spec.hard_maximum);
  policy.ceilings[spec.name] = *number;
  return std::nullopt;
}

std::optional<std::string> SetLibraries(TenantPolicy& policy, const config::Value* value) {
  const auto* list = value == nullptr ? nullptr : std::get_if<config::TextList>(value);
  if (list == nullptr) return "must be a list of names";
  if (auto fault = FaultInLibraries(*list, kMaxNamedLibraries)) return fault;
  policy.libraries = *list;
  std::sort(policy.libraries->begin(), policy.libraries->end());
  return std::nullopt;
}

std::optional<std::string> Set(TenantPolicy& policy, const std::string& key, const config::Value* value) {
  if (key == "libraries") return SetLibraries(policy, value);
  if (key == "ceilings") return "must be a table, of LIMIT = NUMBER";
  if (key == "wasm") {
    const auto* on = value == nullptr ? nullptr : std::get_if<bool>(value);
    if (on == nullptr) return "must be true or false";
    policy.wasm = *on;
    return std::nullopt;
  }
  const auto* found = std::find_if(kNumbers.begin(), kNumbers.end(),
                                   [&](const NumberKey& number) { return number.name == key; });
  if (found == kNumbers.end()) return NoSuchSetting(key);
  const auto* number = value == nullptr ? nullptr : std::get_if<std::uint64_t>(value);
  if (number == nullptr || *number < found->least || *number > found->most)
    return MustBe(found->least, found->most);
  found->set(policy, *number);
  return std::nullopt;
}

std::optional<std::string> FaultInName(const std::string& name) {
  if (!IsPrintableId(name) || name.size() > kMaxIdBytes)
    return "a tenant's name must be 1 to 256 bytes without control characters";
  return std::nullopt;
}

/// The file's entries, put into the policies that they are about.
class Reader {
 public:
  explicit Reader(const config::ConfigFile& file) : file_(file) {}

  /// What stands in [default], first: tenants begin with it.
  void ReadDefaults() {
    for (const config::Entry& entry : file_.entries) {
      const Place place = PlaceOf(entry.path);
      if (!IsTable(entry) && place.owner == "default") Note(entry, Apply(policy_, place, entry));
    }
  }
  void ReadTenants() {
    for (const config::Entry& entry : file_.entries) {
      if (IsTable(entry)) {
        DeclareTable(entry);
        continue;
      }
      const Place place = PlaceOf(entry.path);
      if (place.owner == "default") continue;
      const auto name = NameIn(place.owner);
      if (!name) {
        // Of what is in another table its table is told.
        if (place.owner.empty() || place.owner == "tenants")
          Note(entry, "stands in no tenant's table: all settings do, in [default] or [tenants.NAME]");
        continue;
      }
      Note(entry, FaultInName(*name));
      Note(entry, Apply(named_.try_emplace(*name, policy_).first->second, place, entry));
    }
  }
  const TenantPolicy& defaults() const { return policy_; }
  std::map<std::string, TenantPolicy>& named() { return named_; }
  const std::string& faults() const { return faults_; }

 private:
  static bool IsTable(const config::Entry& entry) {
    return std::holds_alternative<config::TableValue>(entry.value);
  }
  static std::optional<std::string> Apply(TenantPolicy& policy, const Place& place,
                                          const config::Entry& entry) {
    const auto* value = std::get_if<config::Value>(&entry.value);
    return place.ceiling ? SetCeiling(policy, place.key, value) : Set(policy, place.key, value);
  }
  void DeclareTable(const config::Entry& entry) {
    const std::string& path = entry.path;
    const std::string top = path.substr(0, path.find('.'));
    if (top != "tenants" && top != "default") {
      if (unknown_.insert(top).second)
        Note(entry, "there is no such table" + config::DidYouMean(top, {"default", "tenants"}));
      return;
    }
    if (path == top || path.ends_with(".ceilings")) return;
    const auto name = NameIn(path);
    if (!name) return Note(entry, "there is no such table");
    Note(entry, FaultInName(*name));
    named_.try_emplace(*name, policy_);
  }
  void Note(const config::Entry& entry, const std::optional<std::string>& fault) {
    if (!fault) return;
    faults_ += (faults_.empty() ? "" : "\n") + file_.name + ":" + std::to_string(entry.line) + ": " +
               PrintableAscii(entry.path) + ": " + *fault;
  }

  const config::ConfigFile& file_;
  TenantPolicy policy_;
  std::map<std::string, TenantPolicy> named_;
  std::set<std::string> unknown_;  // tables that were told
  std::string faults_;
};

}  // namespace

Ceilings TenantPolicy::CeilingsBelow(const Ceilings& pools) const {
  Ceilings both = pools;
  for (const auto& [name, value] : ceilings) {
    const auto id = LimitByName(name);
    if (id) both.Set(*id, std::min(value, pools.Get(*id)));
  }
  return both;
}

const TenantPolicy& Tenants::Of(const TenantId& tenant) const {
  const auto found = named_.find(tenant);
  return found == named_.end() ? default_ : found->second;
}

std::vector<TenantId> Tenants::After(std::string_view after, std::size_t most) const {
  const auto begin = std::upper_bound(names_.begin(), names_.end(), after,
                                      [](std::string_view a, const TenantId& b) { return a < b.str(); });
  const auto count = std::min(most, static_cast<std::size_t>(names_.end() - begin));
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

Result<Tenants> Tenants::From(const config::ConfigFile& file) {
  Reader reader(file);
  reader.ReadDefaults();
  reader.ReadTenants();
  if (!reader.faults().empty()) return Fail(ErrorKind::kInvalid, reader.faults());
  Tenants tenants;
  tenants.default_ = reader.defaults();
  for (auto& [tenant, policy] : reader.named()) {
    tenants.names_.emplace_back(tenant);
    tenants.named_.emplace(TenantId(tenant), std::move(policy));
  }
  return tenants;
}

Result<Tenants> Tenants::Parse(std::string_view text, const std::string& name) {
  const auto file = config::ParseConfig(text, name);
  if (!file) return Fail(file.error());
  return From(*file);
}

Result<Tenants> Tenants::Read(const std::string& path) {
  const auto file = config::ReadConfigFile(path);
  if (!file) return Fail(file.error());
  return From(*file);
}

}  // namespace skerry::broker
