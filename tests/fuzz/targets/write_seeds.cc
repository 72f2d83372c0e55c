// Under libFuzzer: writes the target's seeds into the folder that SKERRY_FUZZ_SEEDS names, before libFuzzer
// reads its corpora.
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/fuzz/targets/target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("SKERRY_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  std::size_t number = 0;
  for (const std::string& seed : skerry::fuzz::Seeds()) {
    std::ofstream(std::string(folder) + "/seed" + std::to_string(number++), std::ios::binary) << seed;
  }
  return 0;
}
