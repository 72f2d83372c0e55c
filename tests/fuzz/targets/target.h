// What a fuzz target is made of, whoever drives it: libFuzzer, or a runner of corpora (corpus_main.cc).
//
//   extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
//     Script script(data, size);
//     while (!script.AtEnd()) ... script.Byte(), script.Text() ...
//     Demand(holds, "what was promised");
//     return 0;
//   }
//   std::vector<std::string> skerry::fuzz::Seeds() { return {...}; }
//
// Threads: one. Errors: a broken promise is printed and aborts, which every driver reports with its input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace skerry::fuzz {

/// Inputs of the target that lead deep at once. They are computed (from schemas/, where there are vectors),
/// so that only what they do not reach has to be committed.
std::vector<std::string> Seeds();

inline void Demand(bool holds, std::string_view promise) {
  if (holds) return;
  std::fprintf(stderr, "BROKEN PROMISE: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

/// An input read as a list of choices. Past its end every choice is 0.
class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool AtEnd() const { return rest_.empty(); }
  std::uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  bool Flag() { return Byte() % 2 == 1; }
  std::size_t Below(std::size_t bound) { return Byte() % bound; }
  std::uint16_t Word() {
    const unsigned low = Byte();
    return static_cast<std::uint16_t>(low | unsigned{Byte()} << 8);
  }
  /// A length as a Word, and so many bytes; what there is of them.
  std::string Text() { return Take(Word()); }
  /// The same with a length of one byte.
  std::string ShortText() { return Take(Byte()); }
  std::string Rest() { return Take(rest_.size()); }

 private:
  std::string Take(std::size_t count) {
    const std::string text(rest_.substr(0, count));
    rest_.remove_prefix(text.size());
    return text;
  }

  std::string_view rest_;
};

/// How Script::Text reads it.
inline std::string AsText(std::string_view text) {
  return std::string{static_cast<char>(text.size()), static_cast<char>(text.size() >> 8)} + std::string(text);
}

}  // namespace skerry::fuzz
