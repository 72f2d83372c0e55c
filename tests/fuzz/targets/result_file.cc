// cli::ResultFile: results of an earlier run, which --resume reads, cuts and rewrites.
#include "clients/cli/result_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/fuzz/targets/target.h"
#include "tests/support/places.h"

namespace {

using skerry::cli::Existing;
using skerry::cli::ResultFile;
using skerry::fuzz::Demand;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const skerry::testing::TempDir dir;
  static const std::string path = dir / "results.jsonl";
  const std::string before(reinterpret_cast<const char*>(data), size);
  skerry::testing::WriteFile(path, before);
  std::uint64_t kept = 0;
  std::string after;
  {
    auto file = ResultFile::Open(path, Existing::kKeep);
    if (!file) {
      Demand(file.error().message.find(path) != std::string::npos, "a refusal names the file");
      return 0;
    }
    after = skerry::testing::ReadFile(path);
    Demand(after.empty() || after.back() == '\n', "what is appended begins a line");
    Demand(after.size() <= before.size() + 1, "nothing is added to what is kept");
    kept = file->kept_ok() + file->kept_errors();
    Demand(file->Write("{\"id\":\"new\",\"outcome\":\"ok\"}\n").has_value(), "a result can be appended");
  }
  auto again = ResultFile::Open(path, Existing::kKeep);
  Demand(again.has_value(), "a file that was resumed can be resumed again");
  Demand(again->run_again() == 0, "faults are taken out once");
  Demand(again->kept_ok() + again->kept_errors() == kept + 1,
         "what was kept is still there, and the new line");
  Demand(again->done().Contains("new"), "the new line's job is done");
  Demand(skerry::testing::ReadFile(path).starts_with(after), "what was kept is not touched again");
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  const std::string ok =
      R"({"id":"a","outcome":"ok","value":2,"error":null,"events":[],"usage":{},"attempt":1})";
  const std::string bad =
      R"({"id":"b","outcome":"error","value":null,"error":{"code":"OOM","fault":"limit"}})";
  const std::string lost = R"({"id":"c","outcome":"error","error":{"fault":"infrastructure"}})";
  const std::string in_case = R"({"id":"a","case":0,"outcome":"ok"})";
  const std::string lost_case =
      R"({"id":"a","case":1,"outcome":"error","error":{"code":"LOST","fault":"infrastructure"}})";
  const std::string summary = R"({"id":"a","summary":{"cases":2},"outcome":"ok"})";
  return {in_case + "\n" + lost_case + "\n" + summary + "\n" + ok + "\n",
          in_case + "\n" + summary + "\n" + lost_case + "\n",
          ok + "\n" + bad + "\n" + lost + "\n" + ok.substr(0, 20),
          lost + "\n\n \n" + ok + "\r\n",
          ok,
          "",
          "\n",
          "\xef\xbb\xbf" + ok + "\n",
          "{\"id\":\"\\u0061\",\"outcome\":\"ok\"}\n",
          "[]\n"};
}
