#include "broker/jobs/payload.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace skerry::broker {
namespace {

TEST(Payload, IsACopyOfItsBytes) {
  std::string text = "return 1";
  const Payload payload(text);
  text[0] = 'X';
  EXPECT_EQ(payload.bytes(), "return 1");
  EXPECT_EQ(payload.size(), 8u);
}

TEST(Payload, MayBeEmpty) {
  EXPECT_EQ(Payload().bytes(), "");
  EXPECT_EQ(Payload("").size(), 0u);
}

TEST(Payload, CopiesShareTheBytesUntilTheLastIsGone) {
  Payload first("shared");
  Payload second = first;
  const char* at = first.bytes().data();
  EXPECT_EQ(second.bytes().data(), at);
  first = Payload("another");
  EXPECT_EQ(second.bytes(), "shared");
  Payload third = std::move(second);
  EXPECT_EQ(third.bytes().data(), at);
}

TEST(Payload, KeepsWhatHoldsItsBytesAliveAndNoLonger) {
  auto text = std::make_shared<std::string>("held by somebody else");
  const std::weak_ptr<std::string> alive = text;
  const char* at = text->data();
  Payload kept = Payload::Keep(std::move(text), [](const auto& owner) { return std::string_view(*owner); });
  Payload copy = kept;
  kept = Payload();
  EXPECT_EQ(copy.bytes().data(), at);
  EXPECT_FALSE(alive.expired());
  copy = Payload();
  EXPECT_TRUE(alive.expired());
}

TEST(Payload, FindsItsBytesWhereAMovedOwnerLies) {
  // A short string's bytes move with it.
  const Payload kept =
      Payload::Keep(std::string("short"), [](const std::string& owner) { return std::string_view(owner); });
  EXPECT_EQ(kept.bytes(), "short");
}

TEST(Payload, IsOnePointer) {
  EXPECT_EQ(sizeof(Payload), sizeof(void*));
}

}  // namespace
}  // namespace skerry::broker
