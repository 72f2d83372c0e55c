#include "broker/jobs/intern.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

namespace skerry::broker {
namespace {

using Table = InternTable<std::string, std::hash<std::string>>;

TEST(InternTable, GivesEqualValuesOneCopy) {
  Table table;
  const auto a = table.Hold("tenant");
  const auto b = table.Hold("tenant");
  const auto c = table.Hold("another");
  EXPECT_EQ(&*a, &*b);
  EXPECT_NE(&*a, &*c);
  EXPECT_EQ(*c, "another");
  EXPECT_EQ(table.size(), 2u);
}

TEST(InternTable, ForgetsAValueWithItsLastHolder) {
  Table table;
  auto a = table.Hold("tenant");
  auto b = a;
  auto c = std::move(a);
  b = Interned<std::string>();
  EXPECT_EQ(*c, "tenant");
  EXPECT_EQ(table.size(), 1u);
  c = table.Hold("another");
  EXPECT_EQ(*c, "another");
  EXPECT_EQ(table.size(), 1u);
  c = Interned<std::string>();
  EXPECT_EQ(table.size(), 0u);
  EXPECT_FALSE(c);
}

}  // namespace
}  // namespace skerry::broker
