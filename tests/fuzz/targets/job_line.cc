// cli::JobLineParser: a line of a jobs file.
#include "clients/cli/job_line.h"

#include <nlohmann/json.hpp>

#include "clients/cli/result_line.h"
#include "common/text_check.h"
#include "common/wire/codec.h"
#include "tests/fuzz/targets/target.h"

namespace {

using skerry::fuzz::Demand;
namespace cli = skerry::cli;

void CheckJob(const cli::JobLine& line) {
  const skerry::JobRequest& job = line.job;
  Demand(line.cases.size() <= skerry::kMaxCases, "cases are within their bound");
  for (const std::string& input : line.cases) Demand(skerry::IsJson(input), "each case is JSON");
  Demand(line.program_hash.empty() || (line.program_hash.size() == 32 && job.code.empty()),
         "a program is named or there");
  Demand(skerry::IsUtf8(job.code), "code is UTF-8");
  Demand(job.input.empty() || skerry::IsJson(job.input), "an input is JSON");
  const std::string header = skerry::wire::Encode(skerry::wire::Submit{job.spec});
  Demand(header.size() <= skerry::wire::kMaxHeaderBytes, "a job's header can be sent");
  const auto read = skerry::wire::Decode(header);
  Demand(read.has_value(), "a job's header can be read");
  Demand(skerry::wire::Encode(*read) == header, "a job survives the wire");
}

void CheckFault(const cli::LineFault& fault) {
  skerry::Outcome outcome;
  outcome.error = fault.error;
  Demand(fault.error.code == skerry::Code::kValidation, "a bad line is VALIDATION");
  Demand(fault.error.message.starts_with("line 7: "), "a fault names its line");
  const std::string line = cli::ResultLine(skerry::JobId(fault.id), outcome, "");
  Demand(line.ends_with("}\n") && line.find('\n') == line.size() - 1, "its result is one line");
  Demand(skerry::IsJson(std::string_view(line).substr(0, line.size() - 1)), "its result is JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string line(reinterpret_cast<const char*>(data), size);
  static cli::JobLineParser parser({});
  const auto first = parser.Parse(line, 7);
  cli::JobLineParser fresh({});
  const auto again = fresh.Parse(line, 7);
  Demand(first.index() == again.index(), "a line says the same whatever came before it");
  if (const auto* fault = std::get_if<cli::LineFault>(&first)) {
    CheckFault(*fault);
    Demand(std::get<cli::LineFault>(again).error.message == fault->error.message, "and so does its fault");
    return 0;
  }
  const auto& job = std::get<cli::JobLine>(first);
  CheckJob(job);
  Demand(std::get<cli::JobLine>(again).job.code == job.job.code, "and so does its code");
  const auto other = nlohmann::json::parse(line, nullptr, false);
  if (other.is_discarded()) return 0;
  Demand(other.is_object() && other.contains("code") == job.program_hash.empty(),
         "a job is an object with code, or the name of a program");
  if (other.contains("code")) Demand(other.at("code") == job.job.code, "code is what the line says");
  Demand(other.contains("cases") != job.cases.empty(), "there are cases where the line has some");
  for (std::size_t i = 0; i < job.cases.size(); ++i) {
    const auto read = nlohmann::json::parse(job.cases[i], nullptr, false);
    Demand(read.is_discarded() || read == other.at("cases").at(i), "each case is what the line says");
  }
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  return {
      R"({"id":"a1","code":"return input.x+1","input":{"x":1},"mode":"function","limits":{"timeoutMs":1000},)"
      R"("tenant":"t","user":"u","priority":0,"deadlineMs":60000,"retry":"safe","admission":"queue"})",
      R"({"code":"\u00e9\ud83d\ude00","mode":"script","retry":"never","wasm":true,"priority":-100})",
      R"({"code":"","mode":"module","retry":"always","admission":"failFast","wasm":false,"input":[1, 2.0]})",
      R"({"code":"x","seed":9007199254740991,"clock":"frozen","receipt":true})",
      R"({"code":"x","seed":-0,"clock":1735689600000.0,"receipt":false})",
      R"({"code":"x","limits":{"memoryMb":64.0,"cpuMs":1e3,"maxCodeBytes":1,"maxDataRequests":0}})",
      R"({"code":"x","limits":{"maxEventBytes":99,"maxEventBytes":99}})",
      R"({"code":"x","libraries":["lodash","ajv"],"reuse":"context","encoding":"json","program":true})",
      R"({"code":"x","cases":[1, {"a":2.0} ,"\u00e9",null],"stopOn":"firstFailure"})",
      R"({"program":{"hash":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F"},"input":1})",
      R"({"id":"a","id":"b","code":1})",
      R"({"code":"\ud800"})",
      R"({ "code" : "x" , "input" : null } )",
      R"([1])",
      "\xff"};
}
