#include "worker/agent/jobs/code_store.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

std::string HashOf(char c) {
  return std::string(32, c);
}
constexpr std::uint64_t kEach = 1000;  // of a code of that many bytes less what an entry takes
const std::string kCode(kEach - 32 - 256, 'x');

TEST(CodeStore, FindsWhatWasKeptByItsHash) {
  CodeStore store(Bytes::MiB(1));
  EXPECT_EQ(store.Find(HashOf('a')), nullptr);
  store.Keep(HashOf('a'), "return 1");
  store.Keep(HashOf('b'), "");
  ASSERT_NE(store.Find(HashOf('a')), nullptr);
  EXPECT_EQ(*store.Find(HashOf('a')), "return 1");
  EXPECT_EQ(*store.Find(HashOf('b')), "");
  const Bytes bytes = store.bytes();
  store.Keep(HashOf('a'), "return 1");
  EXPECT_EQ(store.bytes(), bytes) << "once is enough";
}

TEST(CodeStore, HoldsExactlyItsBytesAndDropsTheOneLongestUnused) {
  CodeStore store{Bytes(2 * kEach)};
  store.Keep(HashOf('a'), kCode);
  store.Keep(HashOf('b'), kCode);
  EXPECT_EQ(store.bytes(), Bytes(2 * kEach));
  EXPECT_NE(store.Find(HashOf('a')), nullptr);
  store.Keep(HashOf('c'), kCode);
  EXPECT_NE(store.Find(HashOf('a')), nullptr);
  EXPECT_EQ(store.Find(HashOf('b')), nullptr);
  EXPECT_NE(store.Find(HashOf('c')), nullptr);
  EXPECT_EQ(store.bytes(), Bytes(2 * kEach));
}

TEST(CodeStore, DoesNotEmptyItselfForWhatIsTooLarge) {
  CodeStore store{Bytes(kEach)};
  store.Keep(HashOf('a'), kCode);
  store.Keep(HashOf('b'), kCode + "x");
  EXPECT_NE(store.Find(HashOf('a')), nullptr);
  EXPECT_EQ(store.Find(HashOf('b')), nullptr);
}

}  // namespace
}  // namespace skerry::agent
