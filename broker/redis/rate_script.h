// The rates of all brokers' tenants in Redis: one Lua script that answers a batch of asks, its arguments and
// its answers.
//
// The script is the generic cell rate algorithm of rate_limit.h by the server's own clock: a key for each
// tenant, and each user, that has a rate holds the instant, in microseconds, at which it would have had what
// it has taken. Tenant and user are both counted, or neither. A key lives a second longer than it means
// something; whatever else is found under its name is taken for nothing and written over. What a clock that
// was set back, or a rate that was changed, leaves behind waits no longer than a whole burst.
//
// A sorted set holds when each broker was last heard of, which is how many share the rates.
//
// Keys: PREFIX{rates}:t:HASH, :u:HASH, :brokers. Hashes: names are tenants' to choose, of any length. Braces:
// a cluster keeps all of them in one place, as a script needs.
//
// Threads: pure. Errors: an answer that is not what was asked for says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "broker/tenants/tenant_rates.h"
#include "common/result.h"

namespace skerry::broker {

/// A broker that has not been heard of for so long is none.
inline constexpr Millis kBrokerWindow{5'000};

extern const std::string_view kRateScript;

struct RateBatch {
  std::vector<RateAsk> asks;
  std::vector<RateAsk> returned;  ///< counted once, and not needed
};

struct RateAnswers {
  std::uint64_t brokers = 1;  ///< this one included
  std::vector<RateVerdict> verdicts;
};

/// How many keys, the keys, the arguments: what follows EVALSHA and the script's name.
std::vector<std::string> ScriptArguments(const RateBatch& batch, const std::string& prefix,
                                         const std::string& broker);
/// `answer`: the integers that the script returned.
Result<RateAnswers> ReadAnswers(const std::vector<std::int64_t>& answer, std::size_t asks);

}  // namespace skerry::broker
