// The codec alone, without sockets: whatever comes, it answers with a header or with an Error, and what it
// accepts it can write and read again.
#include <gtest/gtest.h>

#include "common/wire/codec.h"
#include "common/wire/stream.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/mutator.h"

namespace skerry::fuzz {
namespace {

constexpr std::size_t kMaxPayloadBytes = 1u << 20;

class CodecFuzz : public ::testing::Test {
 protected:
  template <class Try>
  void ForEachMutation(Try attempt) {
    for (const std::string& type : TypesOf(samples_)) {
      SCOPED_TRACE(campaign_.Shown(type));
      const Samples of_type = OfType(samples_, type);
      Mutator mutator(samples_, campaign_.SeedOf(type));
      for (std::size_t i = 0; i < campaign_.mutations && !HasFatalFailure(); ++i)
        attempt(mutator, of_type[i % of_type.size()].frames);
    }
  }

  const Campaign campaign_;
  const Samples samples_ = LoadSamples();
};

void CheckHeader(const std::string& bytes) {
  const auto header = wire::Decode(bytes);
  if (!header) {
    ASSERT_FALSE(header.error().message.empty());
    // It goes back to the peer and into logs.
    ASSERT_LT(header.error().message.size(), 300u);
    return;
  }
  // A number that is zero is left out, and read as its default: attempt 0 comes back as 1, and stays so.
  const auto second = wire::Decode(wire::Encode(*header));
  ASSERT_TRUE(second) << second.error().message;
  const auto third = wire::Decode(wire::Encode(*second));
  ASSERT_TRUE(third) << third.error().message;
  ASSERT_EQ(wire::Encode(*third), wire::Encode(*second));
}

TEST_F(CodecFuzz, DecodeAnswersEveryHeaderAndReadsBackWhatItAccepts) {
  ForEachMutation([](Mutator& mutator, const Frames& message) { CheckHeader(mutator.Mutate(message)[0]); });
}

TEST_F(CodecFuzz, DecodeDetailAnswersEveryPayload) {
  const std::string detail = wire::DetailPayload(MakeError(Code::kRuntime, "boom"));
  Mutator mutator(samples_, campaign_.SeedOf("errorDetail"));
  for (std::size_t i = 0; i < campaign_.mutations; ++i) {
    const auto decoded = wire::DecodeDetail(mutator.Mutate({detail})[0]);
    ASSERT_TRUE(decoded || !decoded.error().message.empty());
  }
}

// What a reader holds never passes one message's declared size and what came in one read.
TEST_F(CodecFuzz, TheStreamReaderCutsOrRefusesAndHoldsNoMoreThanOneMessage) {
  ForEachMutation([](Mutator& mutator, const Frames& message) {
    wire::FrameReader reader(kMaxPayloadBytes);
    const std::string bytes = StreamOf(message) + mutator.MutateStream(message);
    std::size_t appended = 0;
    bool first = false;
    while (appended < bytes.size()) {
      const std::size_t chunk = std::min(1 + mutator.random().Below(64), bytes.size() - appended);
      reader.Append(std::string_view(bytes).substr(appended, chunk));
      appended += chunk;
      for (;;) {
        const auto frame = reader.Next();
        if (!frame) return;  // broken for good
        if (!*frame) break;
        const bool is_first = !std::exchange(first, true);
        ASSERT_TRUE(!is_first || (*frame)->header == message[0]);
        ASSERT_LE((*frame)->payloads.size(), wire::kMaxPayloads);
      }
      ASSERT_LE(reader.buffered(), bytes.size());
      ASSERT_GE(reader.Missing(), 1u);
    }
    ASSERT_TRUE(first);
  });
}

TEST_F(CodecFuzz, APrefixThatDeclaresTooMuchIsRefusedBeforeItsBytesCome) {
  Random random(campaign_.seed);
  for (std::size_t i = 0; i < campaign_.mutations; ++i) {
    const std::string prefix = random.Bytes(wire::kStreamPrefixBytes);
    const auto sizes = wire::ParseStreamPrefix(prefix.data(), kMaxPayloadBytes);
    if (sizes) {
      ASSERT_LE(sizes->Total(), wire::kStreamPrefixBytes + wire::kMaxHeaderBytes + 2 * kMaxPayloadBytes);
      ASSERT_LE(sizes->payload_count, wire::kMaxPayloads);
    }
  }
}

}  // namespace
}  // namespace skerry::fuzz
