#include "common/wire/codec.h"

#include <gtest/gtest.h>

#include <random>

#include "common/wire/stream.h"

namespace skerry::wire {
namespace {

Dispatch FullDispatch() {
  Dispatch dispatch;
  dispatch.lease = LeaseId(7);
  dispatch.session = SessionId("s");
  dispatch.attempt = 2;
  dispatch.job.id = JobId("a1");
  dispatch.job.tenant = TenantId("t");
  dispatch.job.user = UserId("u");
  dispatch.job.mode = Mode::kModule;
  dispatch.job.limits = {{"timeoutMs", 5}, {"memoryMb", 64}};
  dispatch.job.code_hash = std::string(32, '\xff');
  dispatch.job.memory_mb = 64;
  dispatch.job.priority = -5;
  dispatch.job.deadline_ms = 1000;
  dispatch.job.retry = Retry::kNever;
  dispatch.job.admission = Admission::kFailFast;
  dispatch.job.wasm = true;
  dispatch.job.seed = kMaxSeed;
  dispatch.job.clock_ms = 0;
  dispatch.job.receipt = true;
  return dispatch;
}

TEST(WireCodec, ADispatchKeepsEveryField) {
  const std::string bytes = Encode(FullDispatch());
  const auto header = Decode(bytes);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(Encode(*header), bytes);
  const auto& job = std::get<Dispatch>(*header).job;
  EXPECT_EQ(job.priority, -5);
  EXPECT_EQ(job.limits.size(), 2u);
  EXPECT_EQ(job.code_hash.size(), 32u);
  EXPECT_EQ(job.admission, Admission::kFailFast);
}

TEST(WireCodec, ASeedOfZeroIsNotAnAbsentOne) {
  Submit submit;
  submit.job.id = JobId("a");
  submit.job.seed = 0;
  submit.job.clock_ms = 0;
  auto job = std::get<Submit>(*Decode(Encode(submit))).job;
  EXPECT_EQ(job.seed, 0u);
  EXPECT_EQ(job.clock_ms, 0u);
  submit.job.seed.reset();
  submit.job.clock_ms.reset();
  job = std::get<Submit>(*Decode(Encode(submit))).job;
  EXPECT_FALSE(job.seed);
  EXPECT_FALSE(job.clock_ms);
}

TEST(WireCodec, ASeedThatIsNoSeedIsReadAsOneThatNoJobMayHave) {
  const std::string head =
      "\x83\xa1t\xa6"
      "submit\xa2id\xa1x\xa4"
      "seed";
  for (const std::string& value : {std::string("\xff"), std::string("\xc0"), std::string("\xc3"),
                                   std::string("\xa1x"), std::string("\x90"), std::string("\x80"),
                                   "\xcb\x3f\xf8" + std::string(6, '\0'), "\xcf" + std::string(8, '\xff')}) {
    const auto header = Decode(head + value);
    ASSERT_TRUE(header) << header.error().message;
    const JobSpec& job = std::get<Submit>(*header).job;
    EXPECT_EQ(job.seed, ~0ull);
    EXPECT_TRUE(FaultInReproducibility(job));
  }
}

TEST(WireCodec, AFinalCarriesAnOutcomeThereAndBack) {
  Outcome outcome;
  outcome.error = MakeError(Code::kTimeout, "ran longer than timeoutMs", "timeoutMs");
  outcome.error->started = true;
  outcome.error->position = {3, 14};
  outcome.usage.cpu_ms = 12.5;
  outcome.usage.dropped_events = 99;
  const auto header = Decode(Encode(ToFinal(outcome)));
  ASSERT_TRUE(header);
  const Outcome back = ToOutcome(std::get<Final>(*header), DetailPayload(*outcome.error));
  ASSERT_TRUE(back.error);
  EXPECT_EQ(back.error->code, Code::kTimeout);
  EXPECT_EQ(back.error->limit, "timeoutMs");
  EXPECT_EQ(back.error->fault, Fault::kLimit);
  EXPECT_TRUE(back.error->started);
  EXPECT_EQ(back.error->message, "ran longer than timeoutMs");
  EXPECT_EQ(back.error->name, "SandboxTimeoutError");
  EXPECT_EQ(back.error->position, (SourcePosition{3, 14}));
  EXPECT_EQ(back.usage.cpu_ms, 12.5);
  EXPECT_EQ(back.usage.dropped_events, 99u);
}

TEST(WireCodec, UnknownKeysAreIgnored) {
  // {"t": "accepted", "id": "x", "new": [1]}
  const std::string bytes =
      "\x83\xa1t\xa8"
      "accepted\xa2id\xa1x\xa3new\x91\x01";
  const auto header = Decode(bytes);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(std::get<Accepted>(*header).id.str(), "x");
}

TEST(WireCodec, AZeroOrEmptyFieldMeansTheSameWhereItComesFromAndWhereItIsSentOnTo) {
  Event event;
  event.attempt = 7;
  std::string bytes = Encode(event);
  const std::string key = "attempt";
  bytes[bytes.find(key) + key.size()] = '\0';
  const auto zero = Decode(bytes);
  ASSERT_TRUE(zero) << zero.error().message;
  EXPECT_EQ(std::get<Event>(*zero).attempt, 1u) << "as one that is missing";
  EXPECT_EQ(Encode(*Decode(Encode(*zero))), Encode(*zero));

  const auto empty = Decode("\x83\xa1t\xa6submit\xa2id\xa1x\xa6tenant\xa0");
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(std::get<Submit>(*empty).job.tenant.str(), "default") << "as one that is missing";
}

TEST(WireCodec, FaultsNameTheMessageAndTheField) {
  EXPECT_EQ(Decode("\x81\xa1t\xa8"
                   "accepted")
                .error()
                .message,
            "accepted.id is missing");
  EXPECT_EQ(Decode("\x82\xa1t\xa8"
                   "accepted\xa2id\x01")
                .error()
                .message,
            "accepted.id must be a string");
  EXPECT_EQ(Decode("\x81\xa1t\xa3nix").error().message, "unknown message type 'nix'");
  EXPECT_EQ(Decode("\x81\xa1t\xa3n\xa7o").error().message, "unknown message type 'n?o'")
      << "a REFUSE with it must be text";
  EXPECT_EQ(Decode("\x82\xa1\xa7\xc3\xa1\xa7\xc3").error().message, "header has key '?' twice");
  EXPECT_EQ(Decode("\x81\xa1x\xa3nix").error().message, "header has no type 't'");
  EXPECT_EQ(Decode("\x93\x01\x02\x03").error().message, "header is not a map");
}

TEST(WireCodec, AnIdOfTheLongestLengthPassesAndOneByteMoreIsRefused) {
  EXPECT_TRUE(Decode(Encode(Accepted{JobId(std::string(kMaxIdBytes, 'a'))})));
  EXPECT_FALSE(Decode(Encode(Accepted{JobId(std::string(kMaxIdBytes + 1, 'a'))})));
}

TEST(WireCodec, NestingSizeAndTrailingBytesAreBounded) {
  EXPECT_FALSE(Decode("\x81\xa1t" + std::string(100, '\x91') + '\x01'));
  EXPECT_FALSE(Decode("\xdf\xff\xff\xff\xff"));           // a map of 2^32-1 entries
  EXPECT_FALSE(Decode("\x81\xa1t\xdb\xff\xff\xff\xff"));  // a string of 2^32-1 bytes
  EXPECT_FALSE(Decode(Encode(Ping{}) + "x"));
  EXPECT_FALSE(Decode(std::string(kMaxHeaderBytes + 1, '\x00')));
}

TEST(WireCodec, MutatedHeadersNeverCrashAndWhatDecodesEncodesAgain) {
  std::mt19937 random(1);
  const std::string original = Encode(FullDispatch());
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = original;
    for (unsigned n = random() % 4 + 1; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const auto header = Decode(bytes);
    if (!header) continue;
    EXPECT_TRUE(Decode(Encode(*header)));
  }
}

TEST(WireStream, MessagesComeOutWholeHoweverTheBytesArrive) {
  const std::string bytes =
      StreamBytes(FullDispatch(), {"code", "in"}) + StreamBytes(Ping{}) + StreamBytes(Call{}, {"m"});
  for (std::size_t step : {1u, 3u, 1000u}) {
    FrameReader reader(16);
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.Append(std::string_view(bytes).substr(at, step));
      for (;;) {
        auto frame = reader.Next();
        ASSERT_TRUE(frame);
        if (!*frame) break;
        frames.push_back(std::move(**frame));
      }
    }
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[0].payloads, (std::vector<std::string>{"code", "in"}));
    EXPECT_TRUE(frames[1].payloads.empty());
    EXPECT_EQ(frames[2].payloads, (std::vector<std::string>{"m"}));
    EXPECT_EQ(reader.buffered(), 0u);
  }
}

TEST(WireStream, APayloadAtItsBoundPassesAndOneByteMoreBreaksTheStream) {
  FrameReader exact(8);
  exact.Append(StreamBytes(Ping{}, {std::string(8, 'x')}));
  EXPECT_TRUE(exact.Next()->has_value());
  FrameReader over(8);
  over.Append(StreamBytes(Ping{}, {std::string(9, 'x')}));
  EXPECT_FALSE(over.Next());
}

TEST(WireStream, AnOversizedPrefixIsRefusedBeforeItsBodyArrives) {
  FrameReader reader(1024);
  reader.Append(std::string("\x01\x01\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00", 12));
  EXPECT_FALSE(reader.Next());
  FrameReader wrong_version(1024);
  wrong_version.Append(std::string("\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 12));
  EXPECT_FALSE(wrong_version.Next());
}

TEST(Codec, ANumberThatWasReadCanBeSentOnWhateverItsSign) {
  for (const double number : {-4.5e13, -1.0, -0.5, 0.0, 0.5, 1.0, 4.5e13}) {
    Final final;
    final.usage.wall_ms = number;
    const auto read = Decode(Encode(final));
    ASSERT_TRUE(read) << number << ": " << read.error().message;
    EXPECT_EQ(std::get<Final>(*read).usage.wall_ms, number);
  }
}

}  // namespace
}  // namespace skerry::wire
