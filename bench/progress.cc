#include "bench/progress.h"

#include <unistd.h>

#include <cstdio>

namespace skerry::bench {

Progress::Show Progress::ForStderr() {
  return isatty(STDERR_FILENO) != 0 ? Show::kTerminal : Show::kLines;
}

void Progress::Begin(const std::string& bench) {
  Clear();
  bench_ = bench;
  if (show_ == Show::kLines) std::fprintf(stderr, "measuring %s\n", bench.c_str());
}

void Progress::Say(const std::string& what) {
  if (show_ != Show::kTerminal) return;
  std::fprintf(stderr, "\r\033[K%s: %s", bench_.c_str(), what.c_str());
  drawn_ = true;
}

void Progress::Clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace skerry::bench
