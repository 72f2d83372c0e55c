// Runs a target over its seeds and over every file of the folders it is given: the corpus alone, with any
// compiler. The input being run is kept in the file named by SKERRY_FUZZ_LAST, when that is set, for a look
// at it after a crash.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/targets/target.h"

namespace {

void Run(const std::string& name, const std::string& input) {
  if (const char* last = std::getenv("SKERRY_FUZZ_LAST")) std::ofstream(last, std::ios::binary) << input;
  // On the screen only where it matters: a target that aborts says nothing of its input.
  std::fprintf(stderr, "\r\033[K%s", name.c_str());
  // Of exactly its size, so that a sanitizer sees a read past the end.
  const std::vector<std::uint8_t> exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t inputs = 0;
  for (const std::string& seed : skerry::fuzz::Seeds()) Run("seed " + std::to_string(inputs++), seed);
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::exists(argv[i])) {
      std::fprintf(stderr, "%s: no such file or folder\n", argv[i]);
      return 2;
    }
    std::vector<std::string> files;
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
    } else {
      for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      std::ifstream stream(file, std::ios::binary);
      Run(file, std::string(std::istreambuf_iterator<char>(stream), {}));
      ++inputs;
    }
  }
  std::fprintf(stderr, "\r\033[K");
  std::printf("%zu inputs\n", inputs);
  return inputs == 0 ? 2 : 0;
}
