#include "clients/cli/admin/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "clients/cli/interrupt.h"

namespace skerry::cli {
namespace {

// The other screen, which scrolls nothing away; no cursor.
constexpr const char* kEnter = "\033[?1049h\033[?25l";
constexpr const char* kLeave = "\033[?25h\033[?1049l";
constexpr const char* kHome = "\033[H";
constexpr const char* kClearToEndOfLine = "\033[K";
constexpr const char* kClearBelow = "\033[J";

bool Print(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

}  // namespace

bool PrintLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return Print(text);
}

Screen::Screen() : terminal_(isatty(STDOUT_FILENO) == 1) {
  if (!terminal_) return;
  termios now{};
  if (isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &now) == 0) {
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // ISIG stays: Ctrl-C is a signal
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  Print(kEnter);
}

Screen::~Screen() {
  if (!terminal_) return;
  Print(kLeave);
  if (before_) tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

ScreenSize Screen::Size() const {
  winsize size{};
  if (!terminal_) return kAnySize;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

bool Screen::Show(const std::vector<std::string>& lines) {
  if (!terminal_) {
    auto plain = lines;
    plain.emplace_back();
    return PrintLines(plain);
  }
  std::string text = kHome;
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i > 0 ? "\r\n" : "") + lines[i] + kClearToEndOfLine;
  return Print(text + kClearBelow);
}

bool Screen::QuitWithin(Millis time) {
  const TimePoint until = SteadyClock::now() + time;
  for (;;) {
    if (Interrupts() > 0) return true;
    const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now());
    if (left <= Millis(0)) return false;
    pollfd key{before_ ? STDIN_FILENO : -1, POLLIN, 0};
    if (poll(&key, 1, static_cast<int>(left.count())) <= 0) continue;
    char pressed = 0;
    if (read(STDIN_FILENO, &pressed, 1) <= 0) return true;  // the terminal is gone
    if (pressed == 'q' || pressed == 'Q') return true;
  }
}

}  // namespace skerry::cli
