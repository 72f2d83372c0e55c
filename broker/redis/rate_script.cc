#include "broker/redis/rate_script.h"

#include <cstdio>
#include <unordered_map>

#include "common/hash.h"

namespace skerry::broker {
namespace {

// Half of a SHA-256: 2^64 names would have to be tried for two that are alike.
constexpr std::size_t kHashBytes = 16;
constexpr std::uint64_t kMaxBrokers = 1'000'000;
// A week: no rate makes anybody wait longer than a second for each of its brokers.
constexpr std::int64_t kMaxWaitMs = 7ll * 24 * 3600 * 1000;

/// The keys that a batch touches, each once, with what the script must know of it.
class Keys {
 public:
  explicit Keys(const std::string& prefix) : base_(prefix + "{rates}:") {
    names_.push_back(base_ + "brokers");
  }

  /// 1 and up; 0: there is no rate.
  std::size_t IndexOf(char kind, const std::string& name, const Rate& rate) {
    if (rate.per_second == 0) return 0;
    const auto [found, fresh] = indices_.try_emplace(kind + name, rates_.size() + 1);
    if (fresh) {
      names_.push_back(base_ + kind + ":" + Hex(Sha256(name)).substr(0, 2 * kHashBytes));
      rates_.push_back({rate, 0});
    }
    return found->second;
  }
  void Return(std::size_t index) {
    if (index > 0) ++rates_[index - 1].returned;
  }
  void Write(std::vector<std::string>& to) const {
    to.push_back(std::to_string(names_.size()));
    to.insert(to.end(), names_.begin(), names_.end());
  }
  void WriteRates(std::vector<std::string>& to) const {
    to.push_back(std::to_string(rates_.size()));
    for (const Entry& entry : rates_) {
      char interval[32];
      std::snprintf(interval, sizeof interval, "%.17g", 1e6 / static_cast<double>(entry.rate.per_second));
      to.insert(to.end(), {interval, std::to_string(entry.rate.burst), std::to_string(entry.returned)});
    }
  }

 private:
  struct Entry {
    Rate rate;
    std::uint64_t returned = 0;
  };
  const std::string base_;
  std::vector<std::string> names_;
  std::vector<Entry> rates_;
  std::unordered_map<std::string, std::size_t> indices_;
};

}  // namespace

// KEYS: the brokers, then one for each rate. ARGV: this broker's name, the window (ms), how many rates; for
// each rate the interval (us), the burst, what is returned; then for each ask its tenant's and its user's
// rate by number, 0: none. Returns the number of brokers, then for each ask 0, or the ms to wait for its
// tenant's rate, or minus those for its user's.
//
// Instants are counted from 2025 on: as a double one has 1/64 us then, and the interval of the highest rates
// is a few us. Redis writes integers of a reply as they are, and %.17g keeps all of a double in a key.
const std::string_view kRateScript = R"lua(
local time = redis.call('TIME')
local now = (time[1] - 1735689600) * 1000000 + time[2]
local at = math.floor(now / 1000)
local window = tonumber(ARGV[2])
local put = redis.pcall('ZADD', KEYS[1], at, ARGV[1])
if type(put) == 'table' and put.err then
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], at, ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at - window)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. at, '+inf')
redis.call('PEXPIRE', KEYS[1], window)

local count = tonumber(ARGV[3])
local due, each, burst, changed = {}, {}, {}, {}
for i = 1, count do
  each[i] = tonumber(ARGV[1 + 3 * i])
  burst[i] = tonumber(ARGV[2 + 3 * i])
  local returned = tonumber(ARGV[3 + 3 * i])
  local kept = redis.pcall('GET', KEYS[1 + i])
  local value = type(kept) == 'string' and tonumber(kept) or now
  if value ~= value then value = now end
  value = math.min(value, now + burst[i] * each[i])
  if returned > 0 then
    value = value - returned * each[i]
    changed[i] = true
  end
  due[i] = math.max(value, now)
end

local function wait(i)
  if i == 0 then return 0 end
  local from = due[i] - (burst[i] - 1) * each[i]
  if from <= now then return 0 end
  return math.max(1, math.ceil((from - now) / 1000))
end
local function take(i)
  if i == 0 then return end
  due[i] = due[i] + each[i]
  changed[i] = true
end
local answer = {redis.call('ZCARD', KEYS[1])}
for i = 4 + 3 * count, #ARGV, 2 do
  local tenant, user = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  local verdict = wait(tenant)
  if verdict == 0 then verdict = -wait(user) end
  if verdict == 0 then
    take(tenant)
    take(user)
  end
  answer[#answer + 1] = verdict
end
for i = 1, count do
  if changed[i] then
    local life = math.ceil((due[i] - now) / 1000) + 1000
    redis.call('SET', KEYS[1 + i], string.format('%.17g', due[i]), 'PX', life)
  end
end
return answer
)lua";

std::vector<std::string> ScriptArguments(const RateBatch& batch, const std::string& prefix,
                                         const std::string& broker) {
  Keys keys(prefix);
  std::vector<std::string> asked;
  for (const RateAsk& ask : batch.asks) {
    asked.push_back(std::to_string(keys.IndexOf('t', ask.tenant, ask.tenant_rate)));
    asked.push_back(std::to_string(keys.IndexOf('u', ask.user, ask.user_rate)));
  }
  for (const RateAsk& ask : batch.returned) {
    keys.Return(keys.IndexOf('t', ask.tenant, ask.tenant_rate));
    keys.Return(keys.IndexOf('u', ask.user, ask.user_rate));
  }
  std::vector<std::string> arguments;
  keys.Write(arguments);
  arguments.push_back(broker);
  arguments.push_back(std::to_string(kBrokerWindow.count()));
  keys.WriteRates(arguments);
  arguments.insert(arguments.end(), asked.begin(), asked.end());
  return arguments;
}

Result<RateAnswers> ReadAnswers(const std::vector<std::int64_t>& answer, std::size_t asks) {
  const auto wrong = [](const std::string& what) {
    return Fail(ErrorKind::kUnavailable, "Redis answers " + what);
  };
  if (answer.size() != asks + 1) {
    return wrong(std::to_string(answer.size()) + " numbers where " + std::to_string(asks + 1) +
                 " were asked for");
  }
  if (answer[0] < 1 || static_cast<std::uint64_t>(answer[0]) > kMaxBrokers)
    return wrong("that there are " + std::to_string(answer[0]) + " brokers");
  RateAnswers answers{static_cast<std::uint64_t>(answer[0]), {}};
  for (std::size_t i = 1; i < answer.size(); ++i) {
    const std::int64_t said = answer[i];
    if (said > kMaxWaitMs || said < -kMaxWaitMs) return wrong("a wait of " + std::to_string(said) + " ms");
    RateVerdict verdict;
    if (said > 0) verdict.wait = {RateOwner::kTenant, Millis(said)};
    if (said < 0) verdict.wait = {RateOwner::kUser, Millis(-said)};
    answers.verdicts.push_back(verdict);
  }
  return answers;
}

}  // namespace skerry::broker
