// Real isolates that run several jobs, and jobs whose values are MessagePack.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/wire/codec.h"
#include "common/wire/stream.h"
#include "worker/cell/cell_process.h"

namespace skerry::cell {
namespace {

using namespace std::string_literals;

/// One isolate of a cell of its own, and the worker's end of its socket.
class Talk : public ::testing::Test {
 protected:
  Talk() {
    CellOptions options;
    options.program = SKERRY_BIN_DIR "/skerry-cell";
    auto started = CellProcess::Start(options);
    EXPECT_TRUE(started) << started.error().message;
    cell_ = std::move(*started);
    EXPECT_TRUE(cell_->RequestFork());
    pollfd ready{cell_->control_fd(), POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, 5'000), 1);
    auto forked = cell_->OnReadable();
    EXPECT_TRUE(forked && *forked);
    isolate_ = std::move(std::get<IsolateProcess>(**forked));
  }
  ~Talk() override {
    kill(isolate_.pid, SIGKILL);
    siginfo_t info{};
    waitid(P_PIDFD, static_cast<id_t>(isolate_.pidfd.get()), &info, WEXITED);
  }

  void Send(const wire::Header& header, const std::vector<std::string_view>& payloads) {
    const std::string bytes = wire::StreamBytes(header, payloads);
    EXPECT_EQ(write(isolate_.socket.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void SendJob(std::string_view code, std::string_view input = "") {
    wire::Dispatch dispatch;
    dispatch.job = asks_;
    dispatch.job.id = JobId("j");
    Send(dispatch, {code, input});
  }
  /// The next message; nothing: its socket has ended, or five seconds have passed.
  std::optional<wire::Frame> Hear() {
    for (;;) {
      auto frame = reader_.Next();
      if (!frame || *frame) return frame ? std::move(*frame) : std::nullopt;
      pollfd ready{isolate_.socket.get(), POLLIN, 0};
      char buffer[4096];
      const ssize_t got = poll(&ready, 1, 5'000) > 0 ? read(isolate_.socket.get(), buffer, sizeof buffer) : 0;
      if (got <= 0) return std::nullopt;
      reader_.Append(std::string_view(buffer, static_cast<std::size_t>(got)));
    }
  }
  /// The next message's type and last payload.
  std::string HearText() {
    const auto frame = Hear();
    if (!frame) return "(end)";
    const auto header = wire::Decode(frame->header);
    if (!header) return "(no header)";
    const std::string type =
        std::visit([](const auto& message) { return std::string(message.kType); }, *header);
    if (const auto* final = std::get_if<wire::Final>(&*header); final != nullptr && !final->ok)
      return std::string(NameOf(final->code)) + " " +
             wire::ToOutcome(*final, frame->payloads.at(0)).error->message;
    return type + (frame->payloads.empty() ? "" : " " + frame->payloads.back());
  }

  std::unique_ptr<CellProcess> cell_;
  IsolateProcess isolate_;
  wire::FrameReader reader_{1u << 24};
  JobSpec asks_;
};

TEST_F(Talk, AnIsolateWhoseJobsShareItSaysWhenItIsReadyForTheNext) {
  asks_.reuse = Reuse::kContext;
  for (int i = 0; i < 20; ++i) {
    SendJob("const before = globalThis.mine; globalThis.mine = 1; return [before === undefined, input]",
            std::to_string(i));
    EXPECT_EQ(HearText(), "final [true," + std::to_string(i) + "]");
    EXPECT_EQ(HearText(), "credit");
  }
  SendJob("return (");
  EXPECT_EQ(HearText().substr(0, 7), "COMPILE");
  EXPECT_EQ(HearText(), "credit");
  SendJob("throw 1");
  EXPECT_EQ(HearText().substr(0, 7), "RUNTIME");
  EXPECT_EQ(HearText(), "credit");
}

TEST_F(Talk, AnAnswerThatComesBehindTheFinalIsNotTheNextJobs) {
  asks_.reuse = Reuse::kContext;
  SendJob("dataProxy.request('m'); return 1");
  EXPECT_EQ(HearText(), "call null");
  EXPECT_EQ(HearText(), "final 1");
  wire::Answer answer;
  answer.call = 1;
  Send(answer, {"666"});
  EXPECT_EQ(HearText(), "credit");
  SendJob("return await dataProxy.request('m')");
  EXPECT_EQ(HearText(), "call null");
  Send(answer, {"7"});
  EXPECT_EQ(HearText(), "final 7");
}

TEST_F(Talk, AnIsolateWhoseJobDidNotAskLeavesBehindItsFinal) {
  SendJob("return 1");
  EXPECT_EQ(HearText(), "final 1");
  EXPECT_EQ(HearText(), "(end)");
}

TEST_F(Talk, AnIsolateLeavesBehindALimitThatEndedItsJob) {
  asks_.reuse = Reuse::kContext;
  asks_.limits = {{"maxDataRequests", 0}};
  SendJob("return await dataProxy.request('m')");
  EXPECT_EQ(HearText(), "tripped");
  EXPECT_EQ(HearText().substr(0, 5), "LIMIT");
  EXPECT_EQ(HearText(), "(end)");
}

TEST_F(Talk, ValuesOfAMsgpackJobCrossAsGoldenBytes) {
  asks_.encoding = Encoding::kMsgpack;
  SendJob(
      "reportStatus([1]); console.log('é'); const a = await dataProxy.request('m', {p: 0.5});"
      "return {input, a, u: undefined, n: null}",
      "\x82\xa1\x61\x01\xa1\x62\x92\xc3\xcb\x3f\xf8\0\0\0\0\0\0"s);
  EXPECT_EQ(HearText(), "event \x91\x01");
  EXPECT_EQ(HearText(), "event é");
  EXPECT_EQ(HearText(), "call \x81\xa1\x70\xcb\x3f\xe0\0\0\0\0\0\0"s);
  wire::Answer answer;
  answer.call = 1;
  Send(answer, {"\x92\xd1\xff\x00\xa1\x78"s});
  EXPECT_EQ(
      HearText(),
      "final \x83\xa5input\x82\xa1\x61\x01\xa1\x62\x92\xc3\xcb\x3f\xf8\0\0\0\0\0\0\xa1\x61\x92\xd1\xff\0\xa1x\xa1n\xc0"s);
}

TEST_F(Talk, AMsgpackInputThatJsonCannotSayIsValidationAndADeepOneToo) {
  asks_.encoding = Encoding::kMsgpack;
  asks_.reuse = Reuse::kContext;
  SendJob("return 1", "\xc4\x01\x00"s);
  EXPECT_EQ(HearText(), "VALIDATION input is no JSON value in MessagePack: it has binary data");
  EXPECT_EQ(HearText(), "credit");
  SendJob("return 1", std::string(200'000, '\x91'));
  EXPECT_EQ(HearText(),
            "VALIDATION input is no JSON value in MessagePack: it nests deeper than 20000 levels");
  EXPECT_EQ(HearText(), "credit");
  SendJob("let depth = 0; for (let at = input; Array.isArray(at); at = at[0]) depth++; return depth",
          std::string(20'000, '\x91') + "\x01");
  EXPECT_EQ(HearText(), "final \xcd\x4e\x20");
  EXPECT_EQ(HearText(), "credit");
  SendJob("let deep = []; for (let i = 0; i < 4000; i++) deep = [deep]; return deep");
  EXPECT_EQ(HearText(), "final " + std::string(4'000, '\x91') + "\x90");
}

}  // namespace
}  // namespace skerry::cell
