#include "common/limits.h"

#include <algorithm>

namespace skerry {

std::optional<LimitId> LimitByName(std::string_view name) {
  for (const auto& spec : kLimitSpecs) {
    if (spec.name == name) return spec.id;
  }
  return std::nullopt;
}

std::variant<Limits, LimitRefusal> ResolveLimits(const RequestedLimits& requested, const Ceilings& ceilings) {
  Limits limits;
  for (const auto& spec : kLimitSpecs) {
    if (spec.default_value != kUnlimited) {
      limits.Set(spec.id, std::min(spec.default_value, ceilings.Get(spec.id)));
    }
  }
  for (const auto& [name, value] : requested) {
    const auto id = LimitByName(name);
    if (!id) return LimitRefusal{name, "unknown limit '" + name.substr(0, 64) + "'"};
    const LimitSpec& spec = SpecOf(*id);
    if (value < spec.minimum) {
      return LimitRefusal{name, name + " must be at least " + std::to_string(spec.minimum) + ", got " +
                                    std::to_string(value)};
    }
    if (value > ceilings.Get(*id)) {
      return LimitRefusal{name, name + " " + std::to_string(value) + " is over this pool's ceiling of " +
                                    std::to_string(ceilings.Get(*id))};
    }
    limits.Set(*id, value);
  }
  return limits;
}

}  // namespace skerry
