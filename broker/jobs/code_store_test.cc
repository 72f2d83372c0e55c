#include "broker/jobs/code_store.h"

#include <gtest/gtest.h>

#include <string>

#include "common/hash.h"

namespace skerry::broker {
namespace {

constexpr Bytes kPlenty = Bytes::MiB(1);
const TenantId kTenant("t");

CodeFound Resolve(CodeStore& store, const std::string& hash, const std::string& code,
                  const TenantId& tenant = kTenant) {
  Payload frame(code);
  return store.Resolve(tenant, hash, frame);
}
std::uint64_t Keep(CodeStore& store, const std::string& code, const TenantId& tenant = kTenant) {
  return store.Keep(tenant, Sha256(code), Payload(code));
}

TEST(CodeStore, FindsWhatWasKeptAndGivesAllOneFrame) {
  CodeStore store(kPlenty);
  Payload first("return 1");
  const std::string hash = Sha256("return 1");
  EXPECT_EQ(store.Resolve(kTenant, hash, first), CodeFound::kSent);
  EXPECT_EQ(store.Keep(kTenant, hash, first), 0u);
  Payload left_out, again("return 1");
  EXPECT_EQ(store.Resolve(kTenant, hash, left_out), CodeFound::kKept);
  EXPECT_EQ(store.Resolve(kTenant, hash, again), CodeFound::kSent);
  EXPECT_EQ(left_out.bytes(), "return 1");
  EXPECT_EQ(left_out.identity(), first.identity());
  EXPECT_EQ(again.identity(), first.identity());
}

TEST(CodeStore, AsksForWhatItHasNot) {
  CodeStore store(kPlenty);
  EXPECT_EQ(Resolve(store, Sha256("return 1"), ""), CodeFound::kNeeded);
  EXPECT_EQ(Resolve(store, Sha256("return 1"), "return 1"), CodeFound::kSent);
  EXPECT_EQ(Resolve(store, Sha256("return 1"), ""), CodeFound::kNeeded) << "nobody has said to keep it";
}

TEST(CodeStore, TakesNoCodeUnderAnotherHashWhetherItKnowsThatOrNot) {
  CodeStore store(kPlenty);
  EXPECT_EQ(Resolve(store, Sha256("return 1"), "return 2"), CodeFound::kWrong);
  Keep(store, "return 1");
  EXPECT_EQ(Resolve(store, Sha256("return 1"), "return 2"), CodeFound::kWrong);
  EXPECT_EQ(Resolve(store, Sha256(""), "return 2"), CodeFound::kWrong);
  EXPECT_EQ(Resolve(store, "short", "return 2"), CodeFound::kWrong);
}

TEST(CodeStore, CodeThatIsEmptyInEarnestIsAProgramAsAnyOther) {
  CodeStore store(kPlenty);
  EXPECT_EQ(Resolve(store, Sha256(""), ""), CodeFound::kSent);
  Keep(store, "");
  EXPECT_EQ(Resolve(store, Sha256(""), ""), CodeFound::kSent);
}

TEST(CodeStore, OneTenantsCodeIsNotAnothers) {
  CodeStore store(kPlenty);
  Keep(store, "return 1");
  EXPECT_EQ(Resolve(store, Sha256("return 1"), "", TenantId("another")), CodeFound::kNeeded);
}

TEST(CodeStore, IsFullAtExactlyItsBytesAndThenForgetsWhatWasUsedLongestAgo) {
  const std::uint64_t entry = CodeStore::kBytesPerEntry + 2 + 32 + 100;  // "t", a NUL, the hash, the code
  CodeStore store(Bytes(3 * entry));
  const std::string a(100, 'a'), b(100, 'b'), c(100, 'c'), d(100, 'd');
  for (const std::string* code : {&a, &b, &c}) EXPECT_EQ(Keep(store, *code), 0u);
  EXPECT_EQ(store.bytes(), 3 * entry);
  EXPECT_EQ(Resolve(store, Sha256(a), ""), CodeFound::kKept);  // used: b is the oldest now
  EXPECT_EQ(Keep(store, d), 1u);
  EXPECT_EQ(store.size(), 3u);
  EXPECT_EQ(store.bytes(), 3 * entry);
  EXPECT_EQ(Resolve(store, Sha256(b), ""), CodeFound::kNeeded);
  for (const std::string* code : {&a, &c, &d})
    EXPECT_EQ(Resolve(store, Sha256(*code), ""), CodeFound::kKept) << *code;
}

TEST(CodeStore, KeepsWhatFitsExactlyAndNotOneByteMoreAndForgetsNothingForIt) {
  const std::uint64_t books = CodeStore::kBytesPerEntry + 2 + 32;
  CodeStore store(Bytes(books + 100));
  EXPECT_EQ(Keep(store, std::string(100, 'a')), 0u);
  EXPECT_EQ(Keep(store, std::string(101, 'b')), 0u);
  EXPECT_EQ(Resolve(store, Sha256(std::string(100, 'a')), ""), CodeFound::kKept);
  EXPECT_EQ(store.size(), 1u);
}

TEST(CodeStore, KeepsTheSameOnceHoweverOftenItComes) {
  CodeStore store(kPlenty);
  Keep(store, "return 1");
  const std::uint64_t bytes = store.bytes();
  Keep(store, "return 1");
  EXPECT_EQ(store.bytes(), bytes);
  EXPECT_EQ(store.size(), 1u);
}

TEST(CodeStore, AFrameThatJobsHaveOutlivesItsPlace) {
  CodeStore store(Bytes(CodeStore::kBytesPerEntry + 2 + 32 + 100));
  Keep(store, std::string(100, 'a'));
  Payload code;
  store.Resolve(kTenant, Sha256(std::string(100, 'a')), code);
  EXPECT_EQ(Keep(store, std::string(100, 'b')), 1u);
  EXPECT_EQ(code.bytes(), std::string(100, 'a'));
}

}  // namespace
}  // namespace skerry::broker
