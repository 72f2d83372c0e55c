#include "common/printable.h"

#include <gtest/gtest.h>

namespace skerry {
namespace {

// Each bound of a range and its neighbour.
const std::string kText("\x00\x1f\x20~\x7f\x80\xff|\n\xc3\xa9", 11);

TEST(Printable, WithoutControlsLeavesAllElseAsItIs) {
  EXPECT_EQ(WithoutControls(kText), "?? ~?\x80\xff|?\xc3\xa9");
  EXPECT_EQ(WithoutControls(""), "");
}

TEST(Printable, AsciiLeavesNoByteOfALongerCharacter) {
  EXPECT_EQ(PrintableAscii(kText), "?? ~???|???");
}

}  // namespace
}  // namespace skerry
