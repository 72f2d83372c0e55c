#include "worker/cell/msgpack_job.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace skerry::cell {
namespace {

using namespace std::string_literals;

class FakePort final : public engine::JobPort {
 public:
  void SendEvent(EventType, Level, std::string_view payload, bool truncated) override {
    sent.push_back(std::string(payload) + (truncated ? " cut" : ""));
  }
  void SendDropped(std::uint64_t) override {}
  void SendTripped(LimitId) override {}
  void SendCall(std::uint32_t, std::string_view method, std::string_view params) override {
    sent.push_back(std::string(method) + " " + std::string(params));
  }
  engine::HostAnswer AwaitAnswer() override { return answer; }

  std::vector<std::string> sent;
  engine::HostAnswer answer;
};

Outcome Ok(std::string value) {
  Outcome outcome;
  outcome.value = std::move(value);
  return outcome;
}

TEST(MsgpackJob, HasItsInputAndGivesItsValueAsTheyCross) {
  FakePort port;
  std::string seen = "not run";
  const auto run = [&](std::string_view input, engine::JobPort&) {
    seen = input;
    return Ok(R"({"b":[0.5]})");
  };
  EXPECT_EQ(RunMsgpackJob("\x81\xa1\x61\x01"s, port, run).value, "\x81\xa1\x62\x91\xcb\x3f\xe0\0\0\0\0\0\0"s);
  EXPECT_EQ(seen, R"({"a":1})");
  EXPECT_EQ(RunMsgpackJob("", port, run).value.substr(0, 1), "\x81");
  EXPECT_EQ(seen, "") << "undefined";
}

TEST(MsgpackJob, RefusesAnInputThatJsonCannotSayAndRunsNothing) {
  FakePort port;
  bool ran = false;
  const Outcome outcome = RunMsgpackJob("\xc4\x01\x00"s, port, [&](std::string_view, engine::JobPort&) {
    ran = true;
    return Ok("1");
  });
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error->code, Code::kValidation);
  EXPECT_EQ(outcome.error->fault, Fault::kClient);
  EXPECT_EQ(outcome.error->message, "input is no JSON value in MessagePack: it has binary data");
  EXPECT_FALSE(ran);
}

TEST(MsgpackJob, PacksStatusesAndParamsAndLeavesConsoleTextAlone) {
  FakePort port;
  RunMsgpackJob("", port, [&](std::string_view, engine::JobPort& inner) {
    inner.SendEvent(EventType::kConsole, Level::kLog, "[1]", false);
    inner.SendEvent(EventType::kStatus, Level::kLog, "[1]", false);
    inner.SendEvent(EventType::kStatus, Level::kLog, "\"be\"", true);
    inner.SendCall(1, "m", "{}");
    return Ok("null");
  });
  EXPECT_EQ(port.sent, (std::vector<std::string>{"[1]", "\x91\x01",
                                                 "\xa2"
                                                 "be cut",
                                                 "m \x80"}));
}

TEST(MsgpackJob, UnpacksAnswersAndRejectsThoseThatJsonCannotSay) {
  using Kind = engine::HostAnswer::Kind;
  FakePort port;
  const auto ask = [&](Kind kind, std::string text) {
    port.answer = {1, kind, std::move(text)};
    engine::HostAnswer heard;
    RunMsgpackJob("", port, [&](std::string_view, engine::JobPort& inner) {
      heard = inner.AwaitAnswer();
      return Ok("null");
    });
    return heard;
  };
  EXPECT_EQ(ask(Kind::kValue, "\x92\x01\xc0").text, "[1,null]");
  EXPECT_EQ(ask(Kind::kError, "plain words").text, "plain words");
  const engine::HostAnswer wrong = ask(Kind::kValue, "\xc1");
  EXPECT_EQ(wrong.kind, Kind::kError);
  EXPECT_NE(wrong.text.find("MessagePack"), std::string::npos);
}

TEST(MsgpackJob, LeavesErrorsAsTheyAre) {
  FakePort port;
  const Outcome outcome = RunMsgpackJob("", port, [&](std::string_view, engine::JobPort&) {
    Outcome failed;
    failed.error = MakeError(Code::kRuntime, "thrown");
    return failed;
  });
  EXPECT_EQ(outcome.error->message, "thrown");
}

}  // namespace
}  // namespace skerry::cell
