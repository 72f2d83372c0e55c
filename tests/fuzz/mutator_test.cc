#include "tests/fuzz/mutator.h"

#include <gtest/gtest.h>

#include <set>

#include "common/wire/codec.h"
#include "common/wire/stream.h"

namespace skerry::fuzz {
namespace {

class MutatorTest : public ::testing::Test {
 protected:
  const Samples samples_ = LoadSamples();
  Frames Message(std::string_view type) const { return OfType(samples_, type).at(0).frames; }
};

TEST_F(MutatorTest, EveryTypeOfTheWireHasASampleThatDecodes) {
  EXPECT_EQ(TypesOf(samples_).size(), std::variant_size_v<wire::Header>);
  for (const Sample& sample : samples_) {
    const auto header = wire::Decode(sample.frames[0]);
    ASSERT_TRUE(header) << sample.type << ": " << header.error().message;
  }
}

TEST_F(MutatorTest, GivesTheSameForTheSameSeedAndOtherForAnother) {
  Mutator a(samples_, 7);
  Mutator b(samples_, 7);
  Mutator c(samples_, 8);
  int same = 0;
  for (int i = 0; i < 200; ++i) {
    const Frames from_a = a.Mutate(Message("submit"));
    EXPECT_EQ(from_a, b.Mutate(Message("submit")));
    same += from_a == c.Mutate(Message("submit")) ? 1 : 0;
    EXPECT_EQ(a.MutateStream(Message("event")), b.MutateStream(Message("event")));
    c.MutateStream(Message("event"));
  }
  EXPECT_LT(same, 100);
}

TEST_F(MutatorTest, EachMutationChangesMostMessages) {
  for (std::size_t i = 0; i < kMutationCount; ++i) {
    const auto mutation = static_cast<Mutation>(i);
    Mutator mutator(samples_, i);
    int changed = 0;
    for (int round = 0; round < 100; ++round)
      changed += mutator.Apply(mutation, Message("dispatch")) != Message("dispatch") ? 1 : 0;
    // Swapping a frame with itself, or a type for its own, changes nothing now and then.
    EXPECT_GT(changed, 50) << NameOf(mutation);
  }
}

TEST_F(MutatorTest, NeverGivesAMessageWithoutFrames) {
  Mutator mutator(samples_, 3);
  for (const Sample& sample : samples_) {
    for (int i = 0; i < 500; ++i) EXPECT_FALSE(mutator.Mutate(sample.frames).empty());
  }
}

TEST_F(MutatorTest, ASwappedTypeIsThatTypesNameOverTheOldFields) {
  const std::string header = Retyped(Message("submit")[0], "cancel");
  const auto decoded = wire::Decode(header);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(std::get<wire::Cancel>(*decoded).id.str(), "a1");
}

TEST_F(MutatorTest, ReachesBothSidesOfTheDecoder) {
  Mutator mutator(samples_, 11);
  int good = 0;
  int bad = 0;
  for (int i = 0; i < 2'000; ++i) ++(wire::Decode(mutator.Mutate(Message("final"))[0]) ? good : bad);
  EXPECT_GT(good, 200);
  EXPECT_GT(bad, 200);
}

TEST_F(MutatorTest, AStreamOfAMessageIsWhatTheReaderCuts) {
  wire::FrameReader reader(1 << 20);
  reader.Append(StreamOf(Message("call")));
  const auto frame = reader.Next();
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->header, Message("call")[0]);
  const Frames message = Message("call");
  EXPECT_EQ((*frame)->payloads, Frames(message.begin() + 1, message.end()));
}

}  // namespace
}  // namespace skerry::fuzz
