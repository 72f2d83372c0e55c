#include "common/library_name.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry {
namespace {

TEST(LibraryName, IsWhatRegistriesAllow) {
  for (const char* name : {"lodash", "@scope/pkg.js", "A-z_0.9", "x"})
    EXPECT_TRUE(IsLibraryName(name)) << name;
  for (const char* name : {"", "a b", "a\n", "a'", "ä", "a\\b", "a:b"})
    EXPECT_FALSE(IsLibraryName(name)) << name;
  EXPECT_FALSE(IsLibraryName(std::string_view("a\0b", 3)));
}

TEST(LibraryName, IsAtMostSoLong) {
  EXPECT_TRUE(IsLibraryName(std::string(kMaxLibraryNameBytes, 'x')));
  EXPECT_FALSE(IsLibraryName(std::string(kMaxLibraryNameBytes + 1, 'x')));
  EXPECT_NE(kLibraryNameRule.find(" " + std::to_string(kMaxLibraryNameBytes) + " "), std::string_view::npos);
}

}  // namespace
}  // namespace skerry
