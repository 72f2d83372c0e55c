#include "clients/cli/line_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace skerry::cli {
namespace {

constexpr std::size_t kReadBytes = 256u << 10;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

Result<LineReader> LineReader::Open(const std::string& path) {
  Fd fd(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return FailErrno("cannot read " + path);
  struct stat info {};
  if (fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return Fail(ErrorKind::kInvalid, "cannot read " + path + ": it is a directory");
  }
  LineReader reader(std::move(fd));
  if (S_ISREG(info.st_mode)) reader.bytes_total_ = static_cast<std::uint64_t>(info.st_size);
  return reader;
}

LineReader::Filled LineReader::Fill(Millis wait) {
  if (ended_) return Filled::kEnd;
  // Regular files are always readable; pipes and terminals say so.
  pollfd item{fd_.get(), POLLIN, 0};
  if (poll(&item, 1, static_cast<int>(wait.count())) <= 0) return Filled::kNotYet;
  if (start_ > 0) {
    buffer_.erase(0, start_);
    scanned_ -= start_;
    start_ = 0;
  }
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kReadBytes);
  const ssize_t got = read(fd_.get(), buffer_.data() + size, kReadBytes);
  const int error_number = errno;
  buffer_.resize(size + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got > 0) {
    bytes_read_ += static_cast<std::uint64_t>(got);
    return Filled::kMore;
  }
  if (got < 0 && (error_number == EINTR || error_number == EAGAIN)) return Filled::kNotYet;
  if (got < 0) broken_ = std::string("reading failed: ") + std::strerror(error_number);
  ended_ = true;
  return Filled::kEnd;
}

bool LineReader::Cut(std::string_view& line) {
  const std::size_t end = buffer_.find('\n', scanned_);
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    if (!ended_ || start_ == buffer_.size()) return false;
    // The last line has no end of its own.
    line = std::string_view(buffer_).substr(start_);
    start_ = scanned_ = buffer_.size();
  } else {
    line = std::string_view(buffer_).substr(start_, end - start_);
    start_ = scanned_ = end + 1;
  }
  ++number_;
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  return true;
}

LineReader::Got LineReader::Next(Millis wait, std::string_view& line) {
  for (;;) {
    while (Cut(line)) {
      if (std::exchange(skipping_, false)) return Got::kTooLong;
      if (line.size() > kMaxLineBytes) return Got::kTooLong;
      if (!IsBlank(line)) return Got::kLine;
    }
    if (buffer_.size() - start_ > kMaxLineBytes) {
      // Its beginning is of no use; only its end matters.
      skipping_ = true;
      buffer_.clear();
      start_ = scanned_ = 0;
    }
    switch (Fill(wait)) {
      case Filled::kMore:
        break;
      case Filled::kNotYet:
        return Got::kNotYet;
      case Filled::kEnd:
        if (start_ < buffer_.size()) break;  // the last line, without an end
        if (!std::exchange(skipping_, false)) return Got::kEnd;
        ++number_;
        return Got::kTooLong;
    }
  }
}

}  // namespace skerry::cli
