// Lines of a file or of stdin, one at a time: the input is never held in memory, whatever its size.
//
// Threads: one. Ownership: owns the descriptor it opened. Errors: Open says why; a read error ends the input
// with Broken() set. A line over kMaxLineBytes is skipped and reported as kTooLong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/fd.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::cli {

/// The largest code and input allowed anywhere, as JSON text with every character escaped, would be longer;
/// such jobs belong into a program that uses the client library.
inline constexpr std::size_t kMaxLineBytes = 256u << 20;

class LineReader {
 public:
  enum class Got : std::uint8_t { kLine, kTooLong, kNotYet, kEnd };

  /// "-" is stdin.
  static Result<LineReader> Open(const std::string& path);
  explicit LineReader(Fd fd) : fd_(std::move(fd)) {}

  /// The next line that is not blank, without its end. Never blocks longer than `wait`: kNotYet then. `line`
  /// stays valid until the next call.
  Got Next(Millis wait, std::string_view& line);

  std::uint64_t number() const { return number_; }  ///< of the last line, from 1, blank lines counted
  /// Of the lines given out so far: for progress.
  std::uint64_t bytes_consumed() const { return bytes_read_ - (buffer_.size() - start_); }
  std::uint64_t bytes_total() const { return bytes_total_; }  ///< 0: not known (a pipe)
  const std::string& broken() const { return broken_; }       ///< why reading failed; empty: it did not

 private:
  enum class Filled : std::uint8_t { kMore, kNotYet, kEnd };
  Filled Fill(Millis wait);
  /// True: `line` is the next whole line.
  bool Cut(std::string_view& line);

  Fd fd_;
  std::string buffer_;
  std::size_t start_ = 0;    // of the next line in buffer_
  std::size_t scanned_ = 0;  // no line end before this
  bool skipping_ = false;    // inside a line that is too long
  bool ended_ = false;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_total_ = 0;
  std::string broken_;
};

}  // namespace skerry::cli
