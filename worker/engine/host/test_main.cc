// SkerryMain of a GoogleTest executable.
#include <gtest/gtest.h>

int SkerryMain(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
