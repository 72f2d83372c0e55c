// Scores model-written programs with the C++ client: submit them all, answer their host calls from a slow
// source, show what they report while they run, and cancel those that are still going when time is up.
//
//   score ipc:///run/skerry/clients
//
// docs/client-cpp.md explains it; tests/integration/example_cpp_test.cc runs it.
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "clients/cpp/client.h"

namespace {

using namespace skerry;

// What a model answered to "return the price of input.item, from the host's catalogue, with 20 % tax".
const std::map<std::string, std::string> kCandidates = {
    {"right", "const p = await dataProxy.request('price', {item: input.item}); return Math.round(p * 1.2)"},
    {"no-tax", "reportStatus('asking'); return await dataProxy.request('price', {item: input.item})"},
    {"typo", "return await dataProxy.request('price', {item: input.itme}).toFixed(2)"},
    {"endless", "for (;;);"},
    {"wrong-method", "return await dataProxy.request('getPrice', {item: input.item})"},
};
constexpr const char* kInput = R"({"item":"lamp"})";
constexpr const char* kExpected = "60";
constexpr Millis kTimeForAll{1'500};

// Runs on one of the client's host call threads: it may block, as a query would, and must be thread-safe.
HostReply AnswerCall(const JobId&, std::string_view method, std::string_view params) {
  if (method != "price") return {HostReply::Kind::kError, "no such method", Millis(0)};
  std::this_thread::sleep_for(Millis(100));  // the catalogue is slow
  const bool known = params.find("lamp") != std::string_view::npos;
  return {HostReply::Kind::kValue, known ? "50" : "null", Millis(0)};
}

// Submits a job, making room where the client is full: whoever calls Next makes room.
template <class Handle>
bool SubmitOne(Client& client, JobRequest request, Handle handle) {
  for (;;) {
    const Result<SubmitResult> taken = client.Submit(request);
    if (!taken) {
      std::fprintf(stderr, "%s: %s\n", request.spec.id.str().c_str(), taken.error().message.c_str());
      return false;
    }
    if (*taken == SubmitResult::kTaken) return true;
    if (auto event = client.Next(Millis(100))) handle(std::move(*event));
  }
}

class Scores {
 public:
  void Take(const ClientEvent& event) {
    if (const auto* notice = std::get_if<JobNotice>(&event)) {
      std::printf("%s says %s\n", notice->id.str().c_str(), notice->payload.c_str());
    } else if (const auto* final = std::get_if<JobFinal>(&event)) {
      Judge(*final);
    } else if (const auto* failed = std::get_if<LinkFailed>(&event)) {
      std::fprintf(stderr, "the broker is gone: %s\n", failed->error.message.c_str());
      gone_ = true;
    }
  }
  bool gone() const { return gone_; }

 private:
  // The comparison is made here, where the program cannot reach.
  static void Judge(const JobFinal& final) {
    const Outcome& outcome = final.outcome;
    const char* id = final.id.str().c_str();
    if (outcome.ok()) {
      std::printf("%s scores %d\n", id, outcome.value == kExpected ? 1 : 0);
    } else if (outcome.error->fault == Fault::kInfrastructure) {
      std::printf("%s has no score: %s\n", id, outcome.error->message.c_str());  // never the program's fault
    } else {
      std::printf("%s scores 0: %s\n", id, std::string(NameOf(outcome.error->code)).c_str());
    }
  }

  bool gone_ = false;
};

int Score(const std::string& broker) {
  ClientOptions options;
  options.broker = broker;
  options.on_call = AnswerCall;
  options.host_call_threads = 8;
  auto connected = Client::Connect(options);
  if (!connected) {
    std::fprintf(stderr, "%s\n", connected.error().message.c_str());
    return 69;
  }
  Client& client = **connected;
  Scores scores;
  for (const auto& [id, code] : kCandidates) {
    JobRequest request;
    request.spec.id = JobId(id);
    request.spec.limits = {{"timeoutMs", 10'000}, {"memoryMb", 64}};
    request.code = code;
    request.input = kInput;
    if (!SubmitOne(client, std::move(request), [&](const ClientEvent& event) { scores.Take(event); }))
      return 1;
  }
  const TimePoint end = SteadyClock::now() + kTimeForAll;
  bool cancelled = false;
  while (client.unfinished() > 0 && !scores.gone()) {
    if (const auto event = client.Next(Millis(50))) scores.Take(*event);
    if (!cancelled && SteadyClock::now() >= end) {
      cancelled = true;
      for (const auto& [id, code] : kCandidates)
        client.Cancel(JobId(id));  // those that have ended do not mind
    }
  }
  return scores.gone() ? 69 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: score BROKER, for example score ipc:///run/skerry/clients\n");
    return 2;
  }
  return Score(argv[1]);
}
