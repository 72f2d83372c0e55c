// Frozen time and seeded chance: what a program can learn of either.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

constexpr std::uint64_t kInstant = 1'700'000'000'123;  // 2023-11-14T22:13:20.123Z

Ending RunAt(const std::string& code, std::optional<std::uint64_t> clock_ms = kInstant) {
  ForkedRun run(code);
  run.program.clock_ms = clock_ms;
  return run.Go();
}

TEST(FrozenClock, EveryWayToAskForTheTimeGivesTheInstant) {
  EXPECT_EQ(RunAt("return [Date.now(), new Date().getTime(), +new Date(), Date(), new Date().toISOString(),"
                  "Reflect.construct(Date, []).getTime(), new (class extends Date {})().getTime()]")
                .outcome.value,
            R"x([1700000000123,1700000000123,1700000000123,"Tue Nov 14 2023 22:13:20 GMT+0000 )x"
            R"x((Coordinated Universal Time)","2023-11-14T22:13:20.123Z",1700000000123,1700000000123])x");
  EXPECT_EQ(RunAt("return [Temporal.Now.instant(), Temporal.Now.instant().epochNanoseconds.toString(),"
                  "Temporal.Now.zonedDateTimeISO(), Temporal.Now.plainDateTimeISO(), "
                  "Temporal.Now.plainDateISO(), Temporal.Now.plainTimeISO(), "
                  "Temporal.Now.plainDateTimeISO('Asia/Tokyo'), Temporal.Now.timeZoneId()]")
                .outcome.value,
            R"(["2023-11-14T22:13:20.123Z","1700000000123000000","2023-11-14T22:13:20.123+00:00[UTC]",)"
            R"("2023-11-14T22:13:20.123","2023-11-14","22:13:20.123","2023-11-15T07:13:20.123","UTC"])");
  EXPECT_EQ(RunAt("const f = new Intl.DateTimeFormat('en-US', {dateStyle: 'short', timeStyle: 'medium'});"
                  "return [f.format(), f.formatToParts().map(p => p.value).join(''), "
                  "f.format(undefined) === f.format(Date.now())]")
                .outcome.value,
            "[\"11/14/23, 10:13:20 PM\",\"11/14/23, 10:13:20 PM\",true]");
}

TEST(FrozenClock, StandsStillWhileTheProgramWorksAndWaits) {
  ForkedRun run(
      "const seen = new Set(); const look = () => seen.add([Date.now(), +new Date(), "
      "Temporal.Now.instant().epochNanoseconds].join());"
      "look(); for (let i = 0, x = 0; i < 3e7; i++) x += i; look();"
      "await dataProxy.request('m'); look(); await Promise.resolve(); look(); return [...seen]");
  run.program.clock_ms = kInstant;
  run.answer = [](const SeenCall& call) { return HostAnswer{call.call, HostAnswer::Kind::kValue, "1"}; };
  const Ending ending = run.Go();
  EXPECT_EQ(ending.outcome.value, "[\"1700000000123,1700000000123,1700000000123000000\"]")
      << ending.Describe();
}

TEST(FrozenClock, TakesTheFirstAndTheLastInstantThatADateCanHold) {
  const char* const code =
      "return [Date.now(), new Date().toISOString(), Temporal.Now.instant().epochMilliseconds, "
      "String(Temporal.Now.plainDateTimeISO()), typeof Date(), typeof Intl.DateTimeFormat().format()]";
  EXPECT_EQ(RunAt(code, 0).outcome.value,
            R"([0,"1970-01-01T00:00:00.000Z",0,"1970-01-01T00:00:00","string","string"])");
  EXPECT_EQ(RunAt(code, kMaxClockMs).outcome.value,
            R"([8640000000000000,"+275760-09-13T00:00:00.000Z",8640000000000000,"+275760-09-13T00:00:00",)"
            R"("string","string"])");
}

TEST(FrozenClock, IsForJobsThatAskAndTimeRunsForOthers) {
  const Ending ending = RunAt(
      "const begin = Date.now(), first = Temporal.Now.instant().epochMilliseconds; let now = begin;"
      "while (now === begin) now = Date.now();"
      "return [now > begin, Math.abs(first - begin) < 1000, begin > Date.UTC(2024, 0, 1)]",
      std::nullopt);
  EXPECT_EQ(ending.outcome.value, "[true,true,true]") << ending.Describe();
}

TEST(FrozenClock, ThereIsNoOtherClockInTheEnvironment) {
  EXPECT_EQ(RunCode("return [typeof performance, typeof console.time, typeof setTimeout, typeof "
                    "Atomics.wait, typeof SharedArrayBuffer]")
                .outcome.value,
            R"(["undefined","undefined","undefined","undefined","undefined"])");
}

TEST(Seed, EachOfItsFiftyThreeBitsMakesAnotherSequence) {
  std::set<std::string> sequences;
  const auto draw = [](std::uint64_t seed) {
    ForkedRun run("return [Math.random(), Math.random()]");
    run.program.seed = seed;
    return run.Go().outcome.value;
  };
  sequences.insert(draw(0));
  for (int bit = 0; bit < 53; ++bit) sequences.insert(draw(std::uint64_t{1} << bit));
  sequences.insert(draw(kMaxSeed));
  EXPECT_EQ(sequences.size(), 55u);
}

// A change of these is a change of what every receipt of the past promises.
TEST(Seed, GivesTheSequenceThatItHasAlwaysGiven) {
  ForkedRun run("return [Math.random(), Math.random(), Math.random()]");
  run.program.seed = 42;
  EXPECT_EQ(run.Go().outcome.value, "[0.5101351617394058,0.07490415715262022,0.12454732720762607]");
  run.program.seed = kMaxSeed;
  EXPECT_EQ(run.Go().outcome.value, "[0.37738021558637336,0.7352411807788818,0.2007136426480386]");
}

TEST(V8FlagsText, NamesTheCompilersThatAreOff) {
  EXPECT_TRUE(V8Flags(Jit::kFull).starts_with("--single-threaded --"));
  EXPECT_EQ(V8Flags(Jit::kFull).find("turbofan"), std::string::npos);
  EXPECT_EQ(V8Flags(Jit::kMaglev), V8Flags(Jit::kFull) + " --no-turbofan");
  EXPECT_EQ(V8Flags(Jit::kNone), V8Flags(Jit::kFull) + " --jitless");
}

}  // namespace
}  // namespace skerry::engine
