// A terminal that shows one table after the other in the same place, and the keys that are pressed meanwhile.
// Where standard output is no terminal, tables follow each other as plain text: no escape sequence is
// written.
//
// Threads: one. Ownership: the destructor leaves the terminal as it was. Errors: Show says when the output
// took no more.
#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <vector>

#include "clients/cli/admin/top_view.h"
#include "common/units.h"

namespace skerry::cli {

class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// kAnySize where there is no terminal.
  ScreenSize Size() const;
  bool Show(const std::vector<std::string>& lines);
  /// Waits; true: `q` was pressed, or a signal came.
  bool QuitWithin(Millis time);

 private:
  const bool terminal_;
  std::optional<termios> before_;  // of the keyboard
};

/// Writes and flushes; false: the output took no more.
bool PrintLines(const std::vector<std::string>& lines);

}  // namespace skerry::cli
