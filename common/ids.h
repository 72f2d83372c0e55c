// Identifiers as types, so that a tenant is never passed where a job is meant.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "common/printable.h"

namespace skerry {

/// A text id. `Tag` only tells the kinds apart.
template <class Tag>
class TextId {
 public:
  TextId() = default;
  explicit TextId(std::string text) : text_(std::move(text)) {}
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const TextId&) const = default;

 private:
  std::string text_;
};

/// A number id; 0 means "none".
template <class Tag>
class NumberId {
 public:
  constexpr NumberId() = default;
  constexpr explicit NumberId(std::uint64_t value) : value_(value) {}
  constexpr std::uint64_t value() const { return value_; }
  constexpr auto operator<=>(const NumberId&) const = default;

 private:
  std::uint64_t value_ = 0;
};

/// Chosen by the client, unique per client: 1 to kMaxIdBytes bytes of UTF-8 without control
/// characters.
using JobId = TextId<struct JobIdTag>;
using TenantId = TextId<struct TenantIdTag>;
using UserId = TextId<struct UserIdTag>;
/// A client's stable name across reconnects.
using SessionId = TextId<struct SessionIdTag>;
/// A turn of a conversation: jobs that share a budget of executions.
using TurnId = TextId<struct TurnIdTag>;
/// One dispatch of one job to one worker; made by the broker, unique within it.
using LeaseId = NumberId<struct LeaseIdTag>;

/// The longest job, tenant, user or session id accepted, in bytes.
inline constexpr std::size_t kMaxIdBytes = 256;

/// Whether an id is fit for logs, labels and terminals: no ASCII control character, so that no id can forge a
/// line. That it is UTF-8 the codec has checked.
inline bool IsPrintableId(std::string_view id) {
  return std::none_of(id.begin(), id.end(), IsControl);
}

}  // namespace skerry

template <class Tag>
struct std::hash<skerry::TextId<Tag>> {
  std::size_t operator()(const skerry::TextId<Tag>& id) const { return std::hash<std::string>()(id.str()); }
};
template <class Tag>
struct std::hash<skerry::NumberId<Tag>> {
  std::size_t operator()(const skerry::NumberId<Tag>& id) const {
    return std::hash<std::uint64_t>()(id.value());
  }
};
