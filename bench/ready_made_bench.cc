// ready-made: what jobs save that find their library loaded, their program evaluated, or their isolate warm,
// beside the same jobs without.
#include <string>
#include <utility>

#include "bench/bench.h"
#include "bench/interleave.h"
#include "bench/pool.h"
#include "bench/stack_load.h"
#include "bench/statistics.h"

namespace skerry::bench {
namespace {

constexpr std::uint64_t kCases = 1'000;
constexpr std::uint64_t kQuickCases = 200;
constexpr std::size_t kLargeProgramBytes = 500'000;

constexpr const char* kLodash = "const _ = require('lodash'); return _.add(input.a, input.b);";
constexpr const char* kTrivialInput = R"({"a":19,"b":23})";

/// A module of about 500 KB, all of which is compiled and run when it is evaluated, as a bundle's is.
std::string LargeProgram() {
  std::string code = "const table = new Map();\n";
  for (int i = 0; code.size() < kLargeProgramBytes; ++i) {
    const std::string n = std::to_string(i);
    code += "const f" + n + " = (x) => { const y = (x * " + n + " + 7) % 1009; return y > 500 ? y - " + n +
            " : y + 1; };\ntable.set('f" + n + "', f" + n + "(" + n + "));\n";
  }
  return code + "export default (input) => table.get('f' + input.a) + table.size;\n";
}

struct Kind {
  std::string name;
  JobSpec spec;
  std::shared_ptr<const Program> program;
  std::string input = kTrivialInput;
};

/// One stretch of `count` inputs as cases of one job, or as so many jobs; jobs per second.
Result<double> RunInputs(Client& client, const Kind& kind, std::uint64_t count, std::uint64_t in_flight,
                         bool as_cases) {
  static std::uint64_t runs = 0;
  const std::string id = "r" + std::to_string(runs++);
  const TimePoint begin = SteadyClock::now();
  std::uint64_t submitted = 0;
  std::uint64_t ended = 0;
  if (as_cases) {
    CasesRequest request;
    request.spec = kind.spec;
    request.spec.id = JobId(id);
    request.spec.program = true;
    request.program = kind.program;
    request.inputs.assign(count, kind.input);
    const auto taken = client.SubmitCases(request);
    if (!taken) return Fail(taken.error());
    submitted = count;
  }
  while (ended < count) {
    while (submitted < count && submitted - ended < in_flight) {
      JobRequest request;
      request.spec = kind.spec;
      request.spec.id = JobId(id + "." + std::to_string(submitted));
      request.code = kind.program->text();
      request.input = kind.input;
      const auto taken = client.Submit(request);
      if (!taken) return Fail(taken.error());
      if (*taken == SubmitResult::kFull) break;
      ++submitted;
    }
    const auto event = client.Next(Millis(20'000));
    if (!event) return Fail(ErrorKind::kUnavailable, kind.name + ": no job has ended for 20 s");
    if (const auto* failed = std::get_if<LinkFailed>(&*event)) return Fail(failed->error);
    const auto* final = std::get_if<JobFinal>(&*event);
    if (final == nullptr) continue;
    if (!final->outcome.ok())
      return Fail(ErrorKind::kInternal, kind.name + " failed: " + final->outcome.error->message);
    ++ended;
  }
  return static_cast<double>(count) * 1000 / MillisBetween(begin, SteadyClock::now());
}

Status Compare(const Setting& setting, const std::string& workload, const std::string& baseline,
               const Side& ours, const Side& other) {
  for (const Side* side : {&ours, &other}) {
    if (auto warm = side->measure(); !warm) return Fail(warm.error());
  }
  const auto measured = Interleave({ours, other}, setting.plan.rounds, *setting.progress);
  if (!measured) return Fail(measured.error());
  setting.progress->Clear();
  setting.report->Add(Row()
                          .Text("workload", workload)
                          .Number("jobsPerSecond", Median((*measured)[0]), 0)
                          .Text("baseline", baseline)
                          .Number("baselineJobsPerSecond", Median((*measured)[1]), 0)
                          .Number("ratio", MedianRatio((*measured)[0], (*measured)[1]), 2));
  return {};
}

Kind KindOf(std::string name, Mode mode, std::string code) {
  Kind kind;
  kind.name = std::move(name);
  kind.spec.mode = mode;
  kind.program = Program::Of(std::move(code));
  return kind;
}

}  // namespace

Status RunReadyMadeBench(const Setting& setting) {
  PoolFlags flags;
  flags.worker->insert(flags.worker->end(), {"--library", "lodash=" SKERRY_LODASH});
  auto pool = Pool::Start(setting.binaries, flags);
  if (!pool) return Fail(pool.error());
  ClientOptions options;
  options.broker = (*pool)->clients();
  auto client = Client::Connect(options);
  if (!client) return Fail(client.error());
  const std::uint64_t count = setting.plan.rounds < kFullPlan.rounds ? kQuickCases : kCases;
  const auto side = [&](const Kind& kind, bool as_cases) {
    return Side{kind.name + (as_cases ? " as cases" : ""),
                [&client = **client, &setting, kind, count, as_cases] {
                  return RunInputs(client, kind, count, setting.in_flight(), as_cases);
                }};
  };

  const Kind trivial = KindOf("trivial", Mode::kFunction, "return input.a + input.b;");
  Kind lodash = KindOf("lodash", Mode::kFunction, kLodash);
  lodash.spec.libraries = {"lodash"};
  Kind reuse = trivial;
  reuse.name = "reuse";
  reuse.spec.reuse = Reuse::kContext;
  const auto tool = FindWorkload("tool");
  if (!tool) return Fail(tool.error());
  const Kind cases = KindOf("cases", Mode::kModule, "export default (input) => input.a + input.b;");
  Kind tools = KindOf("casesTool", Mode::kModule, "export default async (input) => {" + tool->code + "};");
  tools.input = tool->input;
  const Kind large = KindOf("cases500k", Mode::kModule, LargeProgram());
  if (auto done = Compare(setting, "lodash", "without", side(lodash, false), side(trivial, false)); !done)
    return done;
  if (auto done = Compare(setting, "reuse", "without", side(reuse, false), side(trivial, false)); !done)
    return done;
  if (auto done = Compare(setting, "cases", "jobs", side(cases, true), side(cases, false)); !done)
    return done;
  if (auto done = Compare(setting, "casesTool", "jobs", side(tools, true), side(tools, false)); !done)
    return done;
  if (auto done = Compare(setting, "cases500k", "jobs", side(large, true), side(large, false)); !done)
    return done;
  setting.report->Note(
      "without: the trivial job as it is; jobs: as many jobs of their own with the same code and inputs");
  return {};
}

}  // namespace skerry::bench
