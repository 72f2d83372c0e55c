// The client against a real broker and a fake worker.
#include "clients/cpp/client.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "clients/cpp/testing/processes.h"

namespace skerry {
namespace {

class ClientTest : public ::testing::Test {
 protected:
  std::unique_ptr<Client> Connect(ClientOptions options = {}) {
    options.broker = processes_.clients();
    auto client = Client::Connect(std::move(options));
    if (client) return std::move(*client);
    ADD_FAILURE() << client.error().message;
    return nullptr;
  }
  static JobRequest Request(const std::string& id, const std::string& code, const std::string& input = "") {
    JobRequest request;
    request.spec.id = JobId(id);
    request.code = code;
    request.input = input;
    return request;
  }
  static void Submit(Client& client, JobRequest request) {
    const auto taken = client.Submit(request);
    ASSERT_TRUE(taken) << taken.error().message;
    ASSERT_EQ(*taken, SubmitResult::kTaken);
  }
  static CasesRequest Cases(const std::string& id, const std::string& code, std::size_t count) {
    CasesRequest request;
    request.spec.id = JobId(id);
    request.spec.program = true;
    request.program = Program::Of(code);
    for (std::size_t i = 0; i < count; ++i) request.inputs.push_back(std::to_string(i));
    return request;
  }
  static void SubmitCases(Client& client, CasesRequest request) {
    const auto taken = client.SubmitCases(request);
    ASSERT_TRUE(taken) << taken.error().message;
    ASSERT_EQ(*taken, SubmitResult::kTaken);
  }
  /// The next final; what else comes before it is counted.
  std::optional<JobFinal> NextFinal(Client& client, Millis patience = Millis(20'000)) {
    for (const TimePoint until = SteadyClock::now() + patience; SteadyClock::now() < until;) {
      auto event = client.Next(Millis(100));
      if (!event) continue;
      if (auto* final = std::get_if<JobFinal>(&*event)) return std::move(*final);
      if (auto* failed = std::get_if<LinkFailed>(&*event)) {
        ADD_FAILURE() << failed->error.message;
        return std::nullopt;
      }
      if (std::holds_alternative<JobNotice>(*event)) ++notices_;
    }
    return std::nullopt;
  }

  testing::Processes processes_;
  int notices_ = 0;
};

TEST_F(ClientTest, StreamsManyMoreJobsThanFitInFlightAndEachEndsOnce) {
  processes_.StartBroker();
  processes_.StartWorker(4);
  ClientOptions options;
  options.max_in_flight = 50;
  auto client = Connect(options);
  ASSERT_TRUE(client);
  std::map<std::string, std::string> values;
  int next = 0;
  while (values.size() < 2'000) {
    for (; next < 2'000; ++next) {
      JobRequest request = Request("j" + std::to_string(next), "log x;echo", std::to_string(next));
      auto taken = client->Submit(request);
      ASSERT_TRUE(taken);
      if (*taken == SubmitResult::kFull) break;
      ASSERT_LE(client->unfinished(), 2'000u);
    }
    auto final = NextFinal(*client);
    ASSERT_TRUE(final);
    ASSERT_TRUE(values.emplace(final->id.str(), final->outcome.value).second)
        << "two finals of " << final->id.str();
  }
  for (const auto& [id, value] : values) EXPECT_EQ("j" + value, id);
  EXPECT_EQ(notices_, 2'000);
  EXPECT_EQ(client->unfinished(), 0u);
}

TEST_F(ClientTest, AKilledBrokerThatIsStartedAgainCostsNoJobAndNoSecondFinal) {
  processes_.StartBroker();
  processes_.StartWorker(4);
  auto client = Connect();
  ASSERT_TRUE(client);
  for (int i = 0; i < 200; ++i)
    Submit(*client, Request("j" + std::to_string(i), "sleep 10;echo", std::to_string(i)));
  std::set<std::string> ended;
  for (int i = 0; i < 20; ++i) ended.insert(NextFinal(*client)->id.str());
  processes_.KillBroker();
  processes_.StartBroker();
  while (ended.size() < 200) {
    auto final = NextFinal(*client);
    ASSERT_TRUE(final) << ended.size() << " jobs ended";
    EXPECT_TRUE(final->outcome.ok());
    ASSERT_TRUE(ended.insert(final->id.str()).second) << "two finals of " << final->id.str();
  }
}

TEST_F(ClientTest, AKilledWorkersJobRunsAgainOnTheNextOne) {
  processes_.StartBroker();
  processes_.StartWorker(1);
  auto client = Connect();
  ASSERT_TRUE(client);
  Submit(*client, Request("a", "log first;sleep 300;echo", "1"));
  auto event = client->Next(Millis(5'000));
  ASSERT_TRUE(event && std::holds_alternative<JobNotice>(*event));
  processes_.KillWorker();
  processes_.StartWorker(1);
  bool restarted = false;
  for (;;) {
    event = client->Next(Millis(20'000));  // the broker gives a silent worker 10 s
    ASSERT_TRUE(event);
    restarted = restarted || std::holds_alternative<JobRestarted>(*event);
    if (auto* final = std::get_if<JobFinal>(&*event)) {
      EXPECT_TRUE(final->outcome.ok());
      EXPECT_EQ(final->outcome.attempt, 2u);
      break;
    }
  }
  EXPECT_TRUE(restarted);
}

TEST_F(ClientTest, HostCallsAreAnsweredByTheHandlerWithItsDelayWhileOthersGoOn) {
  processes_.StartBroker();
  processes_.StartWorker(4);
  ClientOptions options;
  options.on_call = [](const JobId& job, std::string_view method, std::string_view params) -> HostReply {
    if (method == "slow") return {HostReply::Kind::kValue, "\"slow\"", Millis(300)};
    if (method == "never") return {HostReply::Kind::kNever, "", Millis(0)};
    if (method == "fail") return {HostReply::Kind::kError, "refused " + job.str(), Millis(0)};
    return {HostReply::Kind::kValue, std::string(params), Millis(0)};
  };
  auto client = Connect(options);
  ASSERT_TRUE(client);
  Submit(*client, Request("slow", "call slow"));
  Submit(*client, Request("never", "call never"));
  Submit(*client, Request("fail", "call fail"));
  Submit(*client, Request("echo", "call echo {\"a\":1}"));
  std::vector<std::string> order;
  for (int i = 0; i < 3; ++i) {
    auto final = NextFinal(*client);
    ASSERT_TRUE(final);
    order.push_back(final->id.str());
    if (final->id.str() == "echo") {
      EXPECT_EQ(final->outcome.value, "{\"a\":1}");
    }
    if (final->id.str() == "fail") {
      EXPECT_EQ(final->outcome.error->message, "refused fail");
    }
  }
  EXPECT_EQ(order.back(), "slow");
  client->Cancel(JobId("never"));
  EXPECT_EQ(NextFinal(*client)->outcome.error->code, Code::kCancelled);
}

TEST_F(ClientTest, AHandlerThatBlocksHoldsUpNoOtherJob) {
  processes_.StartBroker();
  processes_.StartWorker(4);
  ClientOptions options;
  options.host_call_threads = 2;
  options.on_call = [](const JobId&, std::string_view method, std::string_view) -> HostReply {
    if (method == "block") std::this_thread::sleep_for(Millis(1'000));
    return {HostReply::Kind::kValue, "1", Millis(0)};
  };
  auto client = Connect(options);
  ASSERT_TRUE(client);
  const TimePoint start = SteadyClock::now();
  Submit(*client, Request("blocks", "call block"));
  Submit(*client, Request("echo", "echo", "1"));
  Submit(*client, Request("calls", "call quick;call quick;call quick"));
  for (int i = 0; i < 2; ++i) EXPECT_NE(NextFinal(*client)->id.str(), "blocks");
  EXPECT_LT(SteadyClock::now() - start, Millis(900));
  EXPECT_EQ(NextFinal(*client)->id.str(), "blocks");
}

TEST_F(ClientTest, AHandlerMayCallTheClient) {
  processes_.StartBroker();
  processes_.StartWorker(2);
  Client* self = nullptr;
  ClientOptions options;
  options.on_call = [&self](const JobId& job, std::string_view, std::string_view) -> HostReply {
    self->Cancel(job);
    return {HostReply::Kind::kNever, "", Millis(0)};
  };
  for (const std::size_t threads : {std::size_t{0}, std::size_t{1}}) {
    options.host_call_threads = threads;
    auto client = Connect(options);
    ASSERT_TRUE(client);
    self = client.get();
    Submit(*client, Request("a", "call m"));
    EXPECT_EQ(NextFinal(*client)->outcome.error->code, Code::kCancelled) << threads << " threads";
  }
}

TEST_F(ClientTest, CallsThatWaitForAThreadHoldUpReadingAndAreAllAnswered) {
  processes_.StartBroker();
  processes_.StartWorker(50);
  ClientOptions options;
  options.host_call_threads = 1;
  options.max_waiting_calls = Bytes::KiB(1);
  options.on_call = [](const JobId&, std::string_view, std::string_view) -> HostReply {
    std::this_thread::sleep_for(Millis(2));
    return {HostReply::Kind::kValue, "1", Millis(0)};
  };
  auto client = Connect(options);
  ASSERT_TRUE(client);
  for (int i = 0; i < 200; ++i)
    Submit(*client, Request("j" + std::to_string(i), "call m " + std::string(300, '7')));
  for (int i = 0; i < 200; ++i) {
    auto final = NextFinal(*client);
    ASSERT_TRUE(final);
    EXPECT_TRUE(final->outcome.ok());
  }
}

TEST_F(ClientTest, OptionsOutOfRangeAreErrors) {
  ClientOptions options;
  options.broker = processes_.clients();
  options.host_call_threads = 257;
  EXPECT_EQ(Client::Connect(options).error().kind, ErrorKind::kInvalid);
  options.host_call_threads = 1;
  options.session = SessionId(std::string(kMaxIdBytes + 1, 's'));
  EXPECT_EQ(Client::Connect(options).error().kind, ErrorKind::kInvalid);
}

TEST_F(ClientTest, AClientThatGoesFreesItsSlots) {
  processes_.StartBroker();
  processes_.StartWorker(1);
  {
    auto client = Connect();
    ASSERT_TRUE(client);
    Submit(*client, Request("a", "log on;hang"));
    ASSERT_TRUE(client->Next(Millis(5'000)));
  }
  auto next = Connect();
  ASSERT_TRUE(next);
  Submit(*next, Request("b", "echo", "1"));
  EXPECT_TRUE(NextFinal(*next, Millis(3'000)));
}

TEST_F(ClientTest, OverloadIsWaitedOutUntilEveryJobHasRun) {
  processes_.StartBroker({"--max-queued", "3"});
  processes_.StartWorker(1);
  auto client = Connect();
  ASSERT_TRUE(client);
  for (int i = 0; i < 30; ++i) Submit(*client, Request("j" + std::to_string(i), "echo", "1"));
  for (int i = 0; i < 30; ++i) {
    auto final = NextFinal(*client);
    ASSERT_TRUE(final);
    EXPECT_TRUE(final->outcome.ok()) << final->outcome.error->message;
  }
}

TEST_F(ClientTest, ACallerThatTakesItsTimeLosesNothing) {
  processes_.StartBroker();
  processes_.StartWorker(2);
  ClientOptions options;
  options.max_undelivered = Bytes::KiB(64);
  auto client = Connect(options);
  ASSERT_TRUE(client);
  constexpr int kLines = 1'900;  // within the job's caps: a worker that lets more through is cut off
  std::string code;
  for (int i = 0; i < kLines; ++i) code += "log " + std::to_string(i) + std::string(500, '.') + ";";
  JobRequest request = Request("a", code);
  request.spec.limits = {{"maxCodeBytes", 4u << 20}};
  Submit(*client, std::move(request));
  std::this_thread::sleep_for(Millis(500));
  int next = 0;
  for (;;) {
    auto event = client->Next(Millis(10'000));
    ASSERT_TRUE(event) << "after " << next << " events";
    if (auto* notice = std::get_if<JobNotice>(&*event)) {
      ASSERT_EQ(std::atoi(notice->payload.c_str()), next++);
    } else if (auto* final = std::get_if<JobFinal>(&*event)) {
      EXPECT_TRUE(final->outcome.ok());
      break;
    }
  }
  EXPECT_EQ(next, kLines);
}

TEST_F(ClientTest, CasesStreamTheirEndsAndThenTheirSummaryBesideOtherJobs) {
  processes_.StartBroker();
  processes_.StartWorker(4);
  ClientOptions options;
  options.max_in_flight = 50;
  auto client = Connect(options);
  ASSERT_TRUE(client);
  SubmitCases(*client, Cases("a", "log x;echo", 500));
  EXPECT_EQ(client->unfinished(), 501u);
  Submit(*client, Request("beside", "echo", "1"));
  std::set<std::uint32_t> ended;
  while (auto event = client->Next(Millis(10'000))) {
    if (const auto* notice = std::get_if<JobNotice>(&*event)) {
      ASSERT_TRUE(notice->of_case);
    } else if (const auto* final = std::get_if<JobFinal>(&*event); final != nullptr && final->of_case) {
      EXPECT_EQ(final->outcome.value, std::to_string(final->of_case->number));
      EXPECT_TRUE(ended.insert(final->of_case->number).second);
    } else if (const auto* summary = std::get_if<CasesEnded>(&*event)) {
      EXPECT_EQ(summary->id.str(), "a");
      EXPECT_EQ(summary->summary.ok, 500u);
      EXPECT_EQ(ended.size(), 500u);
      break;
    }
  }
  EXPECT_EQ(client->unfinished(), 0u);
}

TEST_F(ClientTest, AHandlerMayCancelTheCaseThatCallsByTheNameItIsGiven) {
  processes_.StartBroker();
  processes_.StartWorker(4);
  Client* self = nullptr;
  ClientOptions options;
  options.on_call = [&self](const JobId& job, std::string_view, std::string_view) -> HostReply {
    self->Cancel(job);
    return {HostReply::Kind::kNever, "", Millis(0)};
  };
  auto client = Connect(options);
  ASSERT_TRUE(client);
  self = client.get();
  SubmitCases(*client, Cases("a", "call m", 2));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(NextFinal(*client)->outcome.error->code, Code::kCancelled);
}

TEST_F(ClientTest, NobodyThereIsAnErrorAfterTheConnectTimeout) {
  ClientOptions options;
  options.broker = processes_.clients();
  options.connect_timeout = Millis(200);
  const TimePoint start = SteadyClock::now();
  const auto client = Client::Connect(options);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().kind, ErrorKind::kUnavailable);
  EXPECT_LT(SteadyClock::now() - start, Millis(2'000));
}

TEST_F(ClientTest, AnEndpointThatOtherMachinesReachIsRefused) {
  ClientOptions options;
  options.broker = "tcp://10.1.2.3:7001";
  const auto client = Client::Connect(options);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace skerry
