#include "worker/agent/cells/library_shelf.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "common/bounded_read.h"
#include "common/fd.h"
#include "common/hash.h"
#include "common/library_name.h"
#include "common/printable.h"
#include "common/text_check.h"

namespace skerry::agent {
namespace {

Result<std::string> ReadText(const std::string& path) {
  const auto unreadable = [&](const std::string& why) {
    return Fail(ErrorKind::kInvalid, "'" + PrintableAscii(path) + "' " + why);
  };
  // Not blocking: a FIFO without a writer must not hold up the start.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return unreadable(std::string("cannot be read: ") + std::strerror(errno));
  struct stat about {};
  if (::fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) return unreadable("is not a regular file");
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size > kMaxLibraryBytes)
    return unreadable("is larger than " + std::to_string(kMaxLibraryBytes >> 20) + " MiB");
  auto text = ReadPast(fd.get(), size);
  if (!text) return unreadable("cannot be read: " + text.error().message);
  if (text->size() > size) return unreadable("changes while it is read");
  if (!IsUtf8(*text)) return unreadable("is not UTF-8");
  return text;
}

}  // namespace

LibraryShelf::LibraryShelf(std::vector<cell::Library> libraries) {
  for (cell::Library& library : libraries) {
    std::string sha256 = Hex(Sha256(library.code));
    libraries_.push_back({std::make_shared<const cell::Library>(std::move(library)), std::move(sha256)});
  }
}

Result<LibraryShelf> LibraryShelf::Read(const std::vector<LibraryFile>& files) {
  std::string faults;
  const auto complain = [&](const std::string& fault) { faults += (faults.empty() ? "" : "\n") + fault; };
  if (files.size() > kMaxShelvedLibraries) {
    return Fail(ErrorKind::kInvalid, "libraries: at most " + std::to_string(kMaxShelvedLibraries) + ", not " +
                                         std::to_string(files.size()));
  }
  std::set<std::string> names;
  std::vector<cell::Library> libraries;
  for (const LibraryFile& file : files) {
    const std::string about =
        "libraries: " + PrintableAscii(file.name.substr(0, kMaxLibraryNameBytes)) + ": ";
    if (!IsLibraryName(file.name)) {
      complain(about + "a library's name is " + std::string(kLibraryNameRule));
      continue;
    }
    if (!names.insert(file.name).second) complain(about + "is there twice");
    auto text = ReadText(file.path);
    if (text) {
      libraries.push_back({file.name, std::move(*text)});
    } else {
      complain(about + text.error().message);
    }
  }
  if (!faults.empty()) return Fail(ErrorKind::kInvalid, faults);
  return LibraryShelf(std::move(libraries));
}

Result<Libraries> LibraryShelf::Pick(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    const bool known = std::any_of(libraries_.begin(), libraries_.end(), [&](const ShelvedLibrary& shelved) {
      return shelved.library->name == name;
    });
    if (!known) {
      return Fail(ErrorKind::kInvalid, "library '" + PrintableAscii(name.substr(0, kMaxLibraryNameBytes)) +
                                           "' is not known to this worker");
    }
  }
  Libraries picked;
  for (const ShelvedLibrary& shelved : libraries_) {
    if (std::find(names.begin(), names.end(), shelved.library->name) != names.end())
      picked.push_back(shelved);
  }
  return picked;
}

std::vector<std::string> LibraryShelf::names() const {
  std::vector<std::string> names;
  for (const ShelvedLibrary& shelved : libraries_) names.push_back(shelved.library->name);
  return names;
}

}  // namespace skerry::agent
