#include "clients/cli/session_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string_view>

#include "common/hash.h"

namespace skerry::cli {
namespace {

constexpr std::size_t kNameBytes = 16;

bool IsName(const std::string& text) {
  return text.size() == 2 * kNameBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

SessionFile SessionFile::Of(const std::string& output) {
  SessionFile file;
  if (output != "-") file.path_ = output + ".session";
  return file;
}

SessionId SessionFile::Fresh() {
  return id_ = SessionId(RandomHex(kNameBytes));
}

SessionId SessionFile::Kept() {
  std::string name;
  std::ifstream in(path_);
  std::getline(in, name);
  if (path_.empty() || !IsName(name)) return Fresh();
  resumed_ = true;
  ReadPlaces(in);
  return id_ = SessionId(name);
}

// "ENDPOINT<tab>ID" a line; neither holds control characters. The last one may be cut off.
void SessionFile::ReadPlaces(std::istream& in) {
  std::unordered_map<std::string, std::size_t> known;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    const auto [at, is_new] = known.try_emplace(line.substr(0, tab), endpoints_.size());
    if (is_new) endpoints_.push_back(at->first);
    places_[std::hash<std::string_view>()(std::string_view(line).substr(tab + 1))] = at->second;
  }
}

std::string SessionFile::PlaceOf(const JobId& id) const {
  const auto place = places_.find(std::hash<std::string_view>()(id.str()));
  return place == places_.end() ? "" : endpoints_[place->second];
}

Status SessionFile::Keep() {
  if (path_.empty()) return {};
  // Whoever knows the name can take the session over.
  file_ = Fd(open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (resumed_ ? 0 : O_TRUNC), 0600));
  // Behind a line that was cut off a new one begins.
  const std::string line = resumed_ ? "\n" : id_.str() + "\n";
  if (file_.valid() && write(file_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()))
    return {};
  const auto fault = FailErrno("cannot write to " + path_);
  if (!resumed_) Remove();
  return fault;
}

void SessionFile::Note(const std::vector<JobPlacement>& placements) {
  if (!file_.valid()) return;
  std::string lines;
  for (const JobPlacement& placement : placements)
    lines += placement.endpoint + "\t" + placement.id.str() + "\n";
  (void)!write(file_.get(), lines.data(), lines.size());
}

void SessionFile::Remove() const {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace skerry::cli
