// The same receipt gives the same value and events, on whatever worker and cell it runs
// (docs/reproducible.md).
#include <set>
#include <string>
#include <vector>

#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

/// Programs that would show a difference: chance, time, orders, formats, host calls.
std::vector<Job> Programs() {
  std::vector<Job> jobs = {
      Job("random", "return Array.from({length: 1000}, Math.random)"),
      Job("shuffle",
          "const a = [...Array(200).keys()]; for (let i = 199; i; i--) { const j = Math.random() * (i + 1) | "
          "0;"
          "[a[i], a[j]] = [a[j], a[i]] } console.log(a.join()); return a"),
      Job("dates",
          "const f = new Intl.DateTimeFormat(); return [Date.now(), new Date(), Date(), f.format(), "
          "new Date().toLocaleString('de-DE', {timeZone: 'Asia/Tokyo', dateStyle: 'full', timeStyle: "
          "'long'})]"),
      Job("temporal",
          "return [Temporal.Now.instant(), Temporal.Now.plainDateTimeISO(), Temporal.Now.timeZoneId(), "
          "Temporal.Now.zonedDateTimeISO('Europe/Paris').add({months: 1})].map(String)"),
      Job("order",
          "const m = new Map(), s = new Set(), o = {}; for (let i = 0; i < 500; i++) { const k = "
          "Math.random().toString(36); m.set(k, i); s.add(k); o[k] = i; o[i * 7 % 500] = k }"
          "for (const k of [...m.keys()].slice(0, 99)) { m.delete(k); m.set(k, 0) }"
          "return [[...m], [...s], Object.entries(o)]"),
      Job("sort",
          "const a = Array.from({length: 3000}, (_, i) => ({k: Math.random() * 9 | 0, i}));"
          "return a.sort((x, y) => x.k - y.k).map(x => x.i)"),
      Job("format",
          "return [0.1 + 0.2, 1e21, Math.PI.toFixed(10), (1234.5).toLocaleString('de-DE'), Math.sin(1e6), "
          "Math.pow(1.1, 99.5), 2n ** 200n + '', ['ä', 'z', 'a', 'ö'].sort(Intl.Collator('sv').compare), "
          "new Intl.RelativeTimeFormat('en').format(-3, 'day')]"),
      Job("async",
          "const seen = []; const step = async (n) => { for (let i = 0; i < 5; i++) { await null; "
          "seen.push(n + i); if (Math.random() < 0.3) await Promise.resolve() } };"
          "await Promise.all(['a', 'b', 'c'].map(step)); Promise.reject(new Error('left')); "
          "reportStatus(seen); return seen"),
      Job("calls",
          "const got = []; for (let i = 0; i < 5; i++) got.push(await dataProxy.request('rows', {i, r: "
          "Math.random()})); try { await dataProxy.request('none') } catch (e) { got.push(String(e)) } "
          "return got"),
      Job("hot",  // tiers up in the middle
          "let x = 0; for (let i = 0; i < 3e6; i++) x = (x * 31 + (Math.random() * 1e6 | 0)) % 1000003; "
          "return x"),
      Job("throws", "const at = Math.random(); console.error(Date.now()); throw new RangeError('at ' + at)"),
      Job("deep", "let n = 0; const f = () => { n++; f() }; try { f() } catch (e) { return e.name } "),
      Job("script", "var r = Math.random(); [r, Date.now()]").Mode("script"),
      Job("module", "export default (x) => [x, Math.random(), Date.now()]").Mode("module").Set("input", 5),
      Job("wasm",
          "const m = new WebAssembly.Instance(new WebAssembly.Module(new "
          "Uint8Array([0,97,115,109,1,0,0,0,1,7,"
          "1,96,2,124,124,1,124,3,2,1,0,7,5,1,1,97,0,0,10,9,1,7,0,32,0,32,1,162,11])));"
          "return m.exports.a(Math.random(), Date.now())")
          .Set("wasm", true),
  };
  return jobs;
}

RunOptions Fixtures() {
  RunOptions options;
  options.fixtures = Json{{"rows", Json::array({1, "two", nullptr})}};
  return options;
}

/// With a suffix to its id, and more fields.
std::vector<Job> Asking(const std::string& suffix, const Json& fields) {
  std::vector<Job> jobs;
  for (const Job& program : Programs()) {
    Job job = program.As(program.id() + suffix);
    for (const auto& [field, value] : fields.items()) job.Set(field, value);
    jobs.push_back(job);
  }
  return jobs;
}

/// What a receipt promises: the value or error, and the events.
Json Promised(const JobResult& result) {
  Json error = result.Field("error");
  return {{"value", result.value()}, {"error", error}, {"events", result.Field("events")}};
}

TEST(Reproducible, TheSameSeedAndInstantGiveTheSameValuesEventsAndReceiptsOnAnyWorker) {
  const Json asked = {{"seed", 20250101}, {"clock", "frozen"}, {"receipt", true}};
  RunReport first;
  RunReport second;
  {
    const Pool pool({.isolates = 2, .workers = 2});
    first = pool.Run(Asking("", asked), Fixtures());
  }
  {
    // Other processes, and no isolate forked ahead.
    const Pool pool({.isolates = 4, .spares = 0});
    second = pool.Run(Asking("", asked), Fixtures());
  }
  for (const Job& program : Programs()) {
    const JobResult& one = first.At(program.id());
    const JobResult& other = second.At(program.id());
    EXPECT_TRUE(one.ok() || program.id() == "throws") << Shown(one);
    EXPECT_EQ(Promised(one), Promised(other)) << program.id();
    EXPECT_EQ(one.Field("receipt"), other.Field("receipt")) << program.id();
    EXPECT_TRUE(one.Field("receipt").is_object()) << program.id();
  }
}

TEST(Reproducible, AReceiptTurnedBackIntoAJobGivesTheSameAgain) {
  const Pool pool({.isolates = 2});
  // The clock that runs is told as real: nothing else of it could be asked for again.
  const RunReport first = pool.Run(Asking("", {{"receipt", true}, {"clock", 1'111'111'111'111}}), Fixtures());
  std::vector<Job> again;
  for (const Job& program : Programs()) {
    const Json receipt = first.At(program.id()).Field("receipt");
    ASSERT_TRUE(receipt.is_object()) << program.id();
    Job job = program;
    for (const char* field : {"seed", "clock", "mode", "limits", "wasm"}) job.Set(field, receipt.at(field));
    again.push_back(job.Set("receipt", true));
  }
  const RunReport second = pool.Run(again, Fixtures());
  for (const Job& program : Programs()) {
    EXPECT_EQ(Promised(first.At(program.id())), Promised(second.At(program.id()))) << program.id();
    EXPECT_EQ(first.At(program.id()).Field("receipt"), second.At(program.id()).Field("receipt"));
  }
}

class Chance : public PoolTest {};

TEST_F(Chance, WithoutASeedEachRunHasAnotherAndSaysWhich) {
  std::vector<Job> jobs;
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(Job("j" + std::to_string(i), "return Math.random()").Set("receipt", true));
  }
  const RunReport report = Run(jobs);
  std::set<Json> values;
  std::set<Json> seeds;
  for (const Job& job : jobs) {
    const JobResult& result = report.At(job.id());
    values.insert(result.value());
    seeds.insert(result.Field("receipt").at("seed"));
    EXPECT_EQ(result.Field("receipt").at("clock"), "real");
  }
  EXPECT_EQ(values.size(), 8u);
  EXPECT_EQ(seeds.size(), 8u);
}

TEST_F(Chance, SeedsGoUpToTheirBound) {
  const auto run = [&](const char* id, const Json& seed) {
    return RunOne(Job(id, "return Math.random()").Set("seed", seed));
  };
  EXPECT_TRUE(IsOk(run("zero", 0), 0.6390287099632053));
  EXPECT_TRUE(IsOk(run("most", 9007199254740991), 0.37738021558637336));
  EXPECT_TRUE(IsError(run("past", 9007199254740992), "VALIDATION"));
  EXPECT_TRUE(IsError(run("minus", -1), "VALIDATION"));
}

TEST_F(Chance, FrozenTimeIsTheDocumentedInstantOrTheJobsOwn) {
  const auto run = [&](const char* id, const Json& clock) {
    return RunOne(Job(id, "return [new Date(), Temporal.Now.instant()]").Set("clock", clock));
  };
  EXPECT_TRUE(
      IsOk(run("frozen", "frozen"), Json::array({"2025-01-01T00:00:00.000Z", "2025-01-01T00:00:00Z"})));
  EXPECT_TRUE(IsOk(run("own", 1), Json::array({"1970-01-01T00:00:00.001Z", "1970-01-01T00:00:00.001Z"})));
  EXPECT_TRUE(IsError(run("slow", "slow"), "VALIDATION"));
}

TEST_F(Chance, AReceiptComesWithErrorsOfJobsThatStartedAndWithNoOthers) {
  const auto spin = RunOne(Job("spin", "for(;;);").Limit("timeoutMs", 50).Set("receipt", true));
  EXPECT_TRUE(IsError(spin, "TIMEOUT", "timeoutMs"));
  EXPECT_EQ(spin.Field("receipt").at("limits").at("timeoutMs"), 50);
  const auto bomb = RunOne(Job("bomb", "const a=[];for(;;)a.push(new Array(1e5).fill(1))")
                               .Limit("memoryMb", 16)
                               .Set("receipt", true));
  EXPECT_TRUE(IsError(bomb, "OOM", "memoryMb"));
  EXPECT_TRUE(bomb.Field("receipt").is_object());
  const auto refused = RunOne(Job("refused", "1").Limit("memoryMb", 1'025).Set("receipt", true));
  EXPECT_TRUE(IsError(refused, "VALIDATION", "memoryMb"));
  EXPECT_TRUE(refused.Field("receipt").is_null());
  EXPECT_TRUE(RunOne(Job("unasked", "return 1")).Field("receipt").is_null());
}

TEST_F(Chance, AReceiptHasTheHashesThatAnybodyCanCompute) {
  const Json receipt =
      RunOne(Job("hashes", "return input").Set("input", "x").Set("receipt", true)).Field("receipt");
  EXPECT_EQ(receipt.at("codeSha256"), "22aff6fc496c247f085d5f6b2beaae9254d21f6c579f107f7d58d6402c24d6b1");
  EXPECT_EQ(receipt.at("inputSha256"), "ba2df4903a2c14e86dc3bcca58911b44ac1d2514b7227bf6eb08cfb978f55a1b");
  EXPECT_EQ(receipt.at("mode"), "function");
  EXPECT_EQ(receipt.at("wasm"), false);
  EXPECT_TRUE(receipt.at("v8").get<std::string>().starts_with("14.")) << receipt;
  EXPECT_TRUE(receipt.at("v8Flags").get<std::string>().ends_with("--no-turbofan")) << receipt;
}

TEST_F(Chance, ExecTakesSeedAndClockAndShowsTheReceipt) {
  const auto exec = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"exec", "-", "--broker", pool().client_url()});
    return RunSkerry(args, "return [Math.random(), Date.now()]");
  };
  const auto run = exec({"--seed", "9007199254740991", "--clock", "frozen", "--receipt"});
  EXPECT_EQ(run.out, "[0.37738021558637336,1735689600000]\n") << run.err;
  EXPECT_NE(run.err.find("receipt: {\"codeSha256\""), std::string::npos) << run.err;
  EXPECT_NE(exec({"--clock", "12"}).out.find(",12]"), std::string::npos);
  EXPECT_EQ(exec({"--seed", "9007199254740992"}).exit_code, 2);
  EXPECT_EQ(exec({"--seed", "-1"}).exit_code, 2);
  EXPECT_EQ(exec({"--clock", "slow"}).exit_code, 2);
  EXPECT_EQ(exec({"--clock", "8640000000000001"}).exit_code, 2);
  EXPECT_EQ(exec({"--receipt"}).exit_code, 0);
}

}  // namespace
}  // namespace skerry::testing
