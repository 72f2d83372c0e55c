// What is being measured just now, for whoever waits: one line on stderr, written over and over on a
// terminal. Elsewhere only what takes long is said, once per bench.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string>

namespace skerry::bench {

class Progress {
 public:
  enum class Show : std::uint8_t { kNever, kLines, kTerminal };
  /// What stderr is fit for.
  static Show ForStderr();

  explicit Progress(Show show) : show_(show) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a bench; what follows is said of it.
  void Begin(const std::string& bench);
  void Say(const std::string& what);
  /// Takes the line off the terminal, before a result is printed.
  void Clear();

 private:
  const Show show_;
  std::string bench_;
  bool drawn_ = false;
};

}  // namespace skerry::bench
