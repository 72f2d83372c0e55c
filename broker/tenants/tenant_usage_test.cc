#include "broker/tenants/tenant_usage.h"

#include <gtest/gtest.h>

#include <limits>

namespace skerry::broker {
namespace {

const TenantId kAcme("acme");

wire::Final Failed(Code code) {
  wire::Final final;
  final.code = code;
  return final;
}

std::size_t At(Code code) {
  return static_cast<std::size_t>(code);
}

TEST(UsageBook, CountsJobsByOutcomeAndWhatTheyTook) {
  UsageBook book;
  book.Accepted(kAcme, 100);
  book.Accepted(kAcme, 20);
  wire::Final ok;
  ok.ok = true;
  ok.usage.wall_ms = 2.5;
  ok.usage.cpu_ms = 1.25;
  ok.usage.data_bytes = 7;
  book.Ended(kAcme, ok, 11);
  wire::Final timeout = Failed(Code::kTimeout);
  timeout.limit = "timeoutMs";
  timeout.usage.wall_ms = 1'000;
  timeout.usage.tripped.Add(LimitId::kMaxConsoleEvents);
  book.Ended(kAcme, timeout, 3);

  const TenantUsage* usage = book.Find(kAcme);
  ASSERT_NE(usage, nullptr);
  EXPECT_EQ(usage->accepted, 2u);
  EXPECT_EQ(usage->ok, 1u);
  EXPECT_EQ(usage->errors[At(Code::kTimeout)], 1u);
  EXPECT_EQ(usage->trips[static_cast<std::size_t>(LimitId::kTimeoutMs)], 1u);
  EXPECT_EQ(usage->trips[static_cast<std::size_t>(LimitId::kMaxConsoleEvents)], 1u);
  EXPECT_EQ(usage->wall_us, 1'002'500u);
  EXPECT_EQ(usage->cpu_us, 1'250u);
  EXPECT_EQ(usage->in_bytes, 120u);
  EXPECT_EQ(usage->out_bytes, 14u);
  EXPECT_EQ(usage->data_bytes, 7u);
}

TEST(UsageBook, RefusalsAreApartFromOutcomes) {
  UsageBook book;
  book.Refused(kAcme, Rejection::kRate);
  const TenantUsage* usage = book.Find(kAcme);
  ASSERT_NE(usage, nullptr);
  EXPECT_EQ(usage->refused[static_cast<std::size_t>(Rejection::kRate)], 1u);
  EXPECT_EQ(usage->accepted, 0u);
  EXPECT_EQ(usage->errors, TenantUsage().errors);
}

TEST(UsageBook, AWorkersAbsurdFiguresDistortNoSumForGood) {
  UsageBook book;
  wire::Final final;
  final.ok = true;
  final.usage.cpu_ms = std::numeric_limits<double>::max();
  final.usage.wall_ms = -5;
  final.usage.data_bytes = UINT64_MAX;
  book.Ended(kAcme, final, 0);
  book.Ended(kAcme, final, 0);
  EXPECT_EQ(book.Find(kAcme)->cpu_us, 2'000'000'000'000u);
  EXPECT_EQ(book.Find(kAcme)->wall_us, 0u);
  EXPECT_EQ(book.Find(kAcme)->data_bytes, std::uint64_t{2} << 40);
}

TEST(UsageBook, OneTenantTooManyLetsTheOneGoThatWasNotHeardOfForLongest) {
  UsageBook book;
  const auto name = [](std::size_t i) { return TenantId("t" + std::to_string(i)); };
  for (std::size_t i = 0; i < UsageBook::kMaxTenants; ++i) book.Accepted(name(i), 1);
  EXPECT_EQ(book.size(), UsageBook::kMaxTenants);
  EXPECT_EQ(book.others(), TenantUsage()) << "exactly at the bound nobody goes";

  book.Accepted(name(0), 1);  // now t1 is the oldest
  book.Accepted(TenantId("one more"), 1);
  EXPECT_EQ(book.size(), UsageBook::kMaxTenants);
  EXPECT_NE(book.Find(name(0)), nullptr);
  EXPECT_EQ(book.Find(name(1)), nullptr);
  EXPECT_EQ(book.others().accepted, 1u);
  const auto names = book.After("", UsageBook::kMaxTenants + 1);
  EXPECT_EQ(names.size(), UsageBook::kMaxTenants);
  EXPECT_EQ(std::count(names.begin(), names.end(), name(1)), 0);
}

TEST(UsageBook, ANameThatIsNoneMakesNoRow) {
  UsageBook book;
  book.Refused(TenantId("evil\x1b[2J"), Rejection::kValidation);
  book.Refused(TenantId(), Rejection::kValidation);
  EXPECT_EQ(book.size(), 0u);
  EXPECT_EQ(book.others().refused[static_cast<std::size_t>(Rejection::kValidation)], 2u);
}

TEST(UsageBook, NamesComeInOrderBehindTheLastOne) {
  UsageBook book;
  for (const char* name : {"b", "a", "d", "c"}) book.Accepted(TenantId(name), 1);
  EXPECT_EQ(book.After("", 2), (std::vector{TenantId("a"), TenantId("b")}));
  EXPECT_EQ(book.After("b", 9), (std::vector{TenantId("c"), TenantId("d")}));
  EXPECT_EQ(book.After("bb", 1), (std::vector{TenantId("c")})) << "a name that has gone meanwhile";
  EXPECT_TRUE(book.After("d", 9).empty());
}

}  // namespace
}  // namespace skerry::broker
