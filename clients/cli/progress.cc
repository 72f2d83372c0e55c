#include "clients/cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace skerry::cli {
namespace {

constexpr Millis kInterval{100};
constexpr std::size_t kBarWidth = 24;

std::size_t Columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string BarText(const Tally& tally, double fraction, double seconds, std::size_t columns) {
  std::string text;
  if (fraction >= 0) {
    const double shown = std::min(fraction, 1.0);
    const auto filled = static_cast<std::size_t>(shown * kBarWidth);
    text = "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] ";
    const std::string percent = std::to_string(static_cast<int>(shown * 100));
    text += std::string(3 - std::min<std::size_t>(percent.size(), 3), ' ') + percent + "%  ";
  }
  text += Grouped(tally.total()) + " jobs";
  if (seconds > 0.5)
    text +=
        "  " + Grouped(static_cast<std::uint64_t>(static_cast<double>(tally.dealt_with()) / seconds)) + "/s";
  text += "  " + Grouped(tally.ok()) + " ok";
  if (tally.failed() > 0) text += "  " + Grouped(tally.failed()) + " failed";
  if (tally.cancelled() > 0) text += "  " + Grouped(tally.cancelled()) + " cancelled";
  return text.substr(0, columns > 1 ? columns - 1 : 0);
}

Progress::Progress(Show show, TimePoint start)
    : enabled_(show == Show::kOnTerminal && isatty(STDERR_FILENO) == 1), start_(start), next_(start) {}

Progress::~Progress() {
  Clear();
}

void Progress::Update(const Tally& tally, double fraction, TimePoint now) {
  if (!enabled_ || now < next_) return;
  next_ = now + kInterval;
  const std::string bar = BarText(tally, fraction, MillisBetween(start_, now) / 1000, Columns());
  std::fprintf(stderr, "\r\033[K%s", bar.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::Clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace skerry::cli
