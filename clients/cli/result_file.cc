#include "clients/cli/result_file.h"

#include <fcntl.h>
#include <simdjson.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "clients/cli/line_reader.h"
#include "common/outcome.h"
#include "common/text_check.h"

namespace skerry::cli {

enum class Kept : std::uint8_t { kOk, kError, kRunAgain, kUnreadable };
enum class Of : std::uint8_t { kJob, kCase, kSummary };

/// A line of an earlier run.
struct KeptLine {
  Kept kept = Kept::kUnreadable;
  Of of = Of::kJob;
  std::string id;
  std::uint64_t number = 0;  // of the case
  Code code = Code::kRuntime;
  Fault fault = Fault::kProgram;
  bool started = false;

  void CountIn(CasesSummary& summary) const {
    kept == Kept::kOk ? summary.CountOk() : summary.CountFailed(code, fault, started);
  }
};

namespace {

namespace ondemand = simdjson::ondemand;

constexpr Millis kForever{-1};

/// How it ended, for a line whose outcome is not "ok".
void ReadError(ondemand::document& document, KeptLine& read) {
  ondemand::object error;
  std::string_view code;
  std::string_view fault;
  if (document["error"].get_object().get(error) != simdjson::SUCCESS ||
      error["code"].get_string().get(code) != simdjson::SUCCESS) {
    return;
  }
  // A code of a version to come is a verdict of which this one knows no more.
  const auto known = CodeByName(code);
  read.code = known.value_or(Code::kRuntime);
  if (error["fault"].get_string().get(fault) != simdjson::SUCCESS) return;
  read.fault = FaultByName(fault).value_or(Fault::kProgram);
  if (error["started"].get_bool().get(read.started) != simdjson::SUCCESS) read.started = false;
  read.kept = IsVerdict(read.code, read.fault) ? Kept::kError : Kept::kRunAgain;
}

/// False: it is no line of ours.
bool ReadWhatItIsOf(ondemand::document& document, KeptLine& read) {
  ondemand::object summary;
  auto found = document["case"].get_uint64().get(read.number);
  if (found == simdjson::SUCCESS) read.of = Of::kCase;
  if (found != simdjson::NO_SUCH_FIELD) return found == simdjson::SUCCESS;
  found = document["summary"].get_object().get(summary);
  if (found == simdjson::SUCCESS) read.of = Of::kSummary;
  return found == simdjson::SUCCESS || found == simdjson::NO_SUCH_FIELD;
}

KeptLine ReadLine(ondemand::parser& parser, std::string_view line) {
  const simdjson::padded_string padded(line);
  ondemand::document document;
  KeptLine read;
  std::string_view id;
  std::string_view outcome;
  // The on-demand reader checks only what it visits, and must not be asked again after it found a fault.
  if (!IsJson(line) || parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document["id"].get_string().get(id) != simdjson::SUCCESS) {
    return read;
  }
  read.id = id;
  if (!ReadWhatItIsOf(document, read) || document["outcome"].get_string().get(outcome) != simdjson::SUCCESS)
    return read;
  if (outcome == "ok") {
    read.kept = Kept::kOk;
  } else {
    ReadError(document, read);
  }
  return read;
}

Status WriteAll(int fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return FailErrno("cannot write to " + path);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

/// For as long as the descriptor is open: two runs on one file would write every result twice.
Status Claim(int fd, const std::string& path) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return Fail(ErrorKind::kInvalid,
              path + ": another run is writing to it; wait for its end, or name another file");
}

/// Cuts a last line that has no end: the run before this one died while writing it.
Status CutTruncatedLine(int fd, const std::string& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return FailErrno("cannot read " + path);
  off_t end = info.st_size;
  char block[4096];
  while (end > 0) {
    const off_t begin = end > static_cast<off_t>(sizeof block) ? end - static_cast<off_t>(sizeof block) : 0;
    const ssize_t got = pread(fd, block, static_cast<std::size_t>(end - begin), begin);
    if (got != end - begin) return FailErrno("cannot read " + path);
    const std::size_t newline = std::string_view(block, static_cast<std::size_t>(got)).rfind('\n');
    if (newline != std::string_view::npos) {
      end = begin + static_cast<off_t>(newline) + 1;
      break;
    }
    end = begin;
  }
  if (end != info.st_size && ftruncate(fd, end) != 0)
    return FailErrno("cannot cut the truncated line of " + path);
  return {};
}

}  // namespace

Result<ResultFile> ResultFile::Open(const std::string& path, Existing existing) {
  if (path == "-") {
    if (existing == Existing::kKeep) return Fail(ErrorKind::kInvalid, "--resume needs --output FILE");
    // A file that the shell made of it is the shell's to empty.
    return ResultFile("stdout", Fd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)), Existing::kKeep);
  }
  Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd.valid()) return FailErrno("cannot write to " + path);
  if (auto claimed = Claim(fd.get(), path); !claimed) return Fail(claimed.error());
  ResultFile file(path, std::move(fd), existing);
  if (existing == Existing::kReplace) return file;
  if (auto cut = CutTruncatedLine(file.fd_.get(), path); !cut) return Fail(cut.error());
  if (auto read = file.ReadKept(); !read) return Fail(read.error());
  if (file.lines_to_take_out_ > 0) {
    if (auto taken = file.TakeOutFaults(); !taken) return Fail(taken.error());
  }
  return file;
}

Status ResultFile::Begin() {
  struct stat info {};
  // Devices and pipes have nothing to cut.
  if (existing_ == Existing::kReplace && fstat(fd_.get(), &info) == 0 && S_ISREG(info.st_mode) &&
      ftruncate(fd_.get(), 0) != 0) {
    return FailErrno("cannot empty " + path_);
  }
  return {};
}

Status ResultFile::ReadKept() {
  auto reader = LineReader::Open(path_);
  if (!reader) return Fail(reader.error());
  ondemand::parser parser;
  std::string_view line;
  while (reader->Next(kForever, line) == LineReader::Got::kLine) {
    const KeptLine kept = ReadLine(parser, line);
    if (kept.kept == Kept::kUnreadable) {
      return Fail(ErrorKind::kInvalid,
                  path_ + " line " + std::to_string(reader->number()) +
                      " is not a result; --resume would append to a file that is not its own");
    }
    Note(kept);
  }
  if (!reader->broken().empty()) return Fail(ErrorKind::kInternal, path_ + ": " + reader->broken());
  return {};
}

void ResultFile::Note(const KeptLine& kept) {
  if (kept.of == Of::kSummary) {
    if (kept_cases_.Summary(kept.id)) {
      done_.Insert(kept.id);
    } else {
      ++lines_to_take_out_;
    }
    return;
  }
  const bool is_case = kept.of == Of::kCase;
  if (kept.kept == Kept::kRunAgain) {
    ++run_again_;
    ++lines_to_take_out_;
    if (is_case) kept_cases_.RunAgain(kept.id);
    return;
  }
  // A second line of the same, from a file that was put together by hand, counts once.
  if (!done_.Insert(is_case ? KeptCases::Key(kept.id, kept.number) : kept.id)) return;
  ++(kept.kept == Kept::kOk ? kept_ok_ : kept_errors_);
  if (is_case) kept.CountIn(kept_cases_.Kept(kept.id));
}

bool ResultFile::HasGrown(const std::string& id, std::size_t cases) const {
  if (cases == 0 || !done_.Contains(id) || !done_.Contains(KeptCases::Key(id, 0))) return false;
  // Cases behind a summary: their own never came.
  return !done_.Contains(KeptCases::Key(id, cases - 1)) || kept_cases_.Of(id).cases > 0;
}

Result<CasesSummary> ResultFile::CasesOf(const std::string& id) {
  if (!all_cases_) {
    auto reader = LineReader::Open(path_);
    if (!reader) return Fail(reader.error());
    all_cases_.emplace();
    ondemand::parser parser;
    std::string_view line;
    while (reader->Next(kForever, line) == LineReader::Got::kLine) {
      const KeptLine kept = ReadLine(parser, line);
      if (kept.of != Of::kCase || kept.kept == Kept::kUnreadable) continue;
      kept.CountIn((*all_cases_)[kept.id]);
    }
    if (!reader->broken().empty()) return Fail(ErrorKind::kInternal, path_ + ": " + reader->broken());
  }
  return (*all_cases_)[id];
}

Status ResultFile::TakeOutFaults() {
  const std::string beside = path_ + ".resume.tmp";
  Fd out(open(beside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (!out.valid()) return FailErrno("cannot write to " + beside);
  if (auto claimed = Claim(out.get(), path_); !claimed) return claimed;
  auto reader = LineReader::Open(path_);
  if (!reader) return Fail(reader.error());
  ondemand::parser parser;
  std::string_view line;
  while (reader->Next(kForever, line) == LineReader::Got::kLine) {
    const KeptLine kept = ReadLine(parser, line);
    const bool goes =
        kept.of == Of::kSummary ? kept_cases_.HasRunAgain(kept.id) : kept.kept == Kept::kRunAgain;
    if (goes) continue;
    if (auto wrote = WriteAll(out.get(), beside, std::string(line) + "\n"); !wrote) return wrote;
  }
  if (fsync(out.get()) != 0) return FailErrno("cannot write to " + beside);
  if (rename(beside.c_str(), path_.c_str()) != 0) return FailErrno("cannot replace " + path_);
  fd_ = std::move(out);
  return {};
}

Status ResultFile::Write(std::string_view line) {
  return WriteAll(fd_.get(), path_, line);
}

}  // namespace skerry::cli
