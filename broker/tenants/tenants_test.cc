#include "broker/tenants/tenants.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry::broker {
namespace {

Tenants Parsed(const std::string& text) {
  auto tenants = Tenants::Parse(text, "tenants.toml");
  EXPECT_TRUE(tenants) << (tenants ? "" : tenants.error().message);
  return tenants ? *std::move(tenants) : Tenants();
}
std::string FaultsOf(const std::string& text) {
  const auto tenants = Tenants::Parse(text, "tenants.toml");
  return tenants ? "" : tenants.error().message;
}

TEST(Tenants, MayHaveWhatThePoolHasWhereNothingIsSaid) {
  const Tenants tenants = Parsed("");
  const TenantPolicy& policy = tenants.Of(TenantId("t"));
  EXPECT_EQ(policy.share.weight, 1u);
  EXPECT_EQ(policy.share.max_running, UINT64_MAX);
  EXPECT_EQ(policy.rate.per_second, 0u);
  EXPECT_TRUE(policy.wasm);
  EXPECT_FALSE(policy.libraries);
  EXPECT_FALSE(policy.retention);
}

TEST(Tenants, HaveWhatIsSaidOfThemAndTheDefaultsForTheRestWhereverThoseStand) {
  const Tenants tenants = Parsed(R"(
[tenants."acme.com"]
weight = 4
max_concurrent = 10
rate = 50
burst = 100
libraries = ["lodash", "ajv"]
[tenants."acme.com".ceilings]
timeoutMs = 1000
[tenants.small]
[default]
weight = 2
max_queued = 7
user_rate = 1
user_burst = 5
turn_executions = 20
wasm = false
retention_ms = 0
)");
  EXPECT_EQ(tenants.named(), 2u);
  const TenantPolicy& acme = tenants.Of(TenantId("acme.com"));
  EXPECT_EQ(acme.share.weight, 4u);
  EXPECT_EQ(acme.share.max_running, 10u);
  EXPECT_EQ(acme.share.max_queued, 7u);
  EXPECT_EQ(acme.rate.per_second, 50u);
  EXPECT_EQ(acme.rate.burst, 100u);
  EXPECT_EQ(acme.user_rate.burst, 5u);
  EXPECT_EQ(acme.libraries, (LibraryNames{"ajv", "lodash"}));
  EXPECT_FALSE(acme.wasm);
  Ceilings pools;
  EXPECT_EQ(acme.CeilingsBelow(pools).Get(LimitId::kTimeoutMs), 1'000u);
  EXPECT_EQ(acme.CeilingsBelow(pools).Get(LimitId::kMemoryMb), pools.Get(LimitId::kMemoryMb));
  pools.Set(LimitId::kTimeoutMs, 500);
  EXPECT_EQ(acme.CeilingsBelow(pools).Get(LimitId::kTimeoutMs), 500u) << "the smaller one counts";
  for (const char* name : {"small", "not named"}) {
    const TenantPolicy& other = tenants.Of(TenantId(name));
    EXPECT_EQ(other.share.weight, 2u) << name;
    EXPECT_EQ(other.turn_executions, 20u);
    EXPECT_EQ(other.retention, Millis(0));
    EXPECT_EQ(other.rate.per_second, 0u);
  }
}

TEST(Tenants, EveryFaultOfAFileIsToldAtOnceWithItsLine) {
  EXPECT_EQ(FaultsOf(R"([tenants.a]
weight = 0
burst = -1
libraries = ["a", "a"]
wasm = 1
colour = "red"
[tenants.a.ceilings]
timeoutMs = 86400001
speed = 3
[other]
weight = 1
)"),
            "tenants.toml:2: tenants.a.weight: must be a whole number, 1 to 1000\n"
            "tenants.toml:3: tenants.a.burst: must be a whole number, 1 to 1000000\n"
            "tenants.toml:4: tenants.a.libraries: libraries names 'a' twice\n"
            "tenants.toml:5: tenants.a.wasm: must be true or false\n"
            "tenants.toml:6: tenants.a.colour: there is no such setting\n"
            "tenants.toml:8: tenants.a.ceilings.timeoutMs: must be a whole number, 1 to 86400000\n"
            "tenants.toml:9: tenants.a.ceilings.speed: there is no such limit\n"
            "tenants.toml:10: other: there is no such table");
}

TEST(Tenants, AFaultSaysWhatWasMeantAndAnUnknownTableIsToldOnce) {
  EXPECT_EQ(
      FaultsOf(R"(rat = 1
[tenants]
weight = 1
[default]
maxConcurrent = 5
ceilings = 5
[tenants.a.ceilings]
memorymb = 5
[tenant.a]
weight = 1
[tenant.a.ceilings]
memoryMb = 5
[tenant.b]
rate = 1
)"),
      "tenants.toml:5: default.maxConcurrent: there is no such setting; did you mean 'max_concurrent'?\n"
      "tenants.toml:6: default.ceilings: must be a table, of LIMIT = NUMBER\n"
      "tenants.toml:1: rat: stands in no tenant's table: all settings do, in [default] or [tenants.NAME]\n"
      "tenants.toml:3: tenants.weight: stands in no tenant's table: all settings do, in [default] or "
      "[tenants.NAME]\n"
      "tenants.toml:8: tenants.a.ceilings.memorymb: there is no such limit; did you mean 'memoryMb'?\n"
      "tenants.toml:9: tenant: there is no such table; did you mean 'tenants'?");
}

TEST(Tenants, EachNumberPassesAtItsBoundsAndNotOnePastThem) {
  struct Bounds {
    const char* key;
    std::uint64_t least, most;
  };
  for (const auto& [key, least, most] :
       {Bounds{"weight", 1, 1'000}, Bounds{"max_concurrent", 1, 100'000'000},
        Bounds{"max_queued", 1, 100'000'000}, Bounds{"rate", 1, 1'000'000}, Bounds{"burst", 1, 1'000'000},
        Bounds{"user_rate", 1, 1'000'000}, Bounds{"user_burst", 1, 1'000'000},
        Bounds{"turn_executions", 1, 100'000'000}, Bounds{"retention_ms", 0, 86'400'000}}) {
    const auto fault = [&](std::uint64_t value) {
      return FaultsOf("[default]\n" + std::string(key) + " = " + std::to_string(value));
    };
    EXPECT_EQ(fault(least), "") << key;
    EXPECT_EQ(fault(most), "") << key;
    EXPECT_NE(fault(most + 1), "") << key;
    if (least == 0) continue;
    EXPECT_NE(fault(least - 1), "") << key;
  }
}

TEST(Tenants, TheExampleThatIsShippedHasNoFault) {
  const auto tenants = Tenants::Read(SKERRY_SOURCE_DIR "/ops/tenants.toml");
  ASSERT_TRUE(tenants) << tenants.error().message;
  EXPECT_EQ(tenants->named(), 2u);
}

TEST(Tenants, NamesThatNoTenantCanHaveAreFaults) {
  EXPECT_NE(FaultsOf("[tenants.\"a\\u0007\"]\n"), "");
  EXPECT_NE(FaultsOf("[tenants.\"" + std::string(257, 'x') + "\"]\n"), "");
  EXPECT_EQ(FaultsOf("[tenants.\"" + std::string(256, 'x') + "\"]\n"), "");
  EXPECT_NE(FaultsOf("[tenants.a\n").find("tenants.toml:"), std::string::npos)
      << "a syntax error has its line";
}

}  // namespace
}  // namespace skerry::broker
