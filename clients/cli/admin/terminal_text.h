// Text of others' making (a tenant's name, a host's) fit for a table on a terminal.
//
// Threads: pure functions. Errors: none; the texts are UTF-8, as the wire's are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skerry::cli {

/// `text` with `?` in the place of each control character of ASCII and of Latin-1 (terminals take U+009B for
/// ESC [), and of each character that turns the direction of writing or has no width.
std::string TerminalText(std::string_view text);

/// JSON that says the same, with an escape (\uXXXX) in the place of each such character but ASCII's, which
/// JSON has escaped already: it may be written to a terminal.
std::string EscapedJson(std::string_view json);

/// Characters, which are columns for most scripts.
std::size_t WidthOf(std::string_view text);

/// The first characters of it; a `…` ends it where it was longer.
std::string CutTo(std::string_view text, std::size_t width);

}  // namespace skerry::cli
