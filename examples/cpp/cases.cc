// Scores model-written programs, each over many tests, and gives one up at its first wrong answer: the
// program is evaluated once, and each test starts from that state in an isolate of its own.
//
//   cases ipc:///run/skerry/clients
//
// docs/client-cpp.md explains it; tests/integration/example_cpp_test.cc runs it.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "clients/cpp/client.h"

namespace {

using namespace skerry;

// What a model answered to "export a function that sorts numbers".
const std::map<std::string, std::string> kCandidates = {
    {"right", "export default (xs) => xs.toSorted((a, b) => a - b)"},
    {"as-text", "export default (xs) => xs.toSorted()"},
    {"throws", "export default (xs) => xs.sorted()"},
};
struct Test {
  std::string input;
  std::string expected;
};
const std::vector<Test> kTests = {
    {"[3,1,2]", "[1,2,3]"}, {"[]", "[]"}, {"[10,9]", "[9,10]"}, {"[1]", "[1]"}, {"[5,5,4]", "[4,5,5]"}};

bool SubmitAll(Client& client) {
  for (const auto& [id, code] : kCandidates) {
    CasesRequest request;
    request.spec.id = JobId(id);
    request.spec.mode = Mode::kModule;
    request.spec.program = true;
    request.spec.limits = {{"timeoutMs", 5'000}, {"memoryMb", 64}};
    request.program = Program::Of(code);
    for (const Test& test : kTests) request.inputs.push_back(test.input);
    request.stop_on = StopOn::kFirstFailure;
    const Result<SubmitResult> taken = client.SubmitCases(request);
    if (!taken || *taken == SubmitResult::kFull) {  // full only past max_waiting_cases, 64 MiB of inputs
      std::fprintf(stderr, "%s: %s\n", id.c_str(), taken ? "no room" : taken.error().message.c_str());
      return false;
    }
  }
  return true;
}

class Scores {
 public:
  explicit Scores(Client& client) : client_(client) {}

  // The comparison is made here, where the program cannot reach. A wrong answer is a failure that only we can
  // see: the rest is cancelled by hand.
  void Take(const JobFinal& final) {
    if (!final.of_case) return;
    const std::string& id = final.of_case->job.str();
    if (!final.outcome.ok()) {
      if (final.outcome.error->code != Code::kCancelled)
        why_[id] = ": " + std::string(NameOf(final.outcome.error->code));
    } else if (final.outcome.value == kTests[final.of_case->number].expected) {
      ++right_[id];
    } else {
      client_.Cancel(final.of_case->job);
    }
  }
  void Take(const CasesEnded& ended) {
    const std::string& id = ended.id.str();
    const char* verdict = right_[id] == kTests.size() ? "passes" : "fails";
    std::printf("%s %s%s\n", id.c_str(), verdict, why_[id].c_str());
  }

 private:
  Client& client_;
  std::map<std::string, std::size_t> right_;
  std::map<std::string, std::string> why_;
};

int Score(const std::string& broker) {
  ClientOptions options;
  options.broker = broker;
  auto connected = Client::Connect(options);
  if (!connected) {
    std::fprintf(stderr, "%s\n", connected.error().message.c_str());
    return 69;
  }
  Client& client = **connected;
  if (!SubmitAll(client)) return 1;
  Scores scores(client);
  while (client.unfinished() > 0) {
    const auto event = client.Next(Millis(1'000));
    if (!event) continue;
    if (const auto* final = std::get_if<JobFinal>(&*event)) scores.Take(*final);
    if (const auto* ended = std::get_if<CasesEnded>(&*event)) scores.Take(*ended);
    if (const auto* failed = std::get_if<LinkFailed>(&*event)) {
      std::fprintf(stderr, "the broker is gone: %s\n", failed->error.message.c_str());
      return 69;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: cases BROKER, for example cases ipc:///run/skerry/clients\n");
    return 2;
  }
  return Score(argv[1]);
}
