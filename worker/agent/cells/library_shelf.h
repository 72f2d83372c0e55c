// The operator's libraries: read once at start, named by jobs.
//
//   auto shelf = LibraryShelf::Read({{"lodash", "/srv/js/lodash.js"}});
//   auto picked = shelf->Pick(job.libraries);       // in the operator's order, each once
//
// Threads: immutable once made. Ownership: what is picked is shared.
// Errors: Read lists every fault, one a line; Pick names the library that is not there.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "worker/cell/recipe.h"

namespace skerry::agent {

/// At most as many as a HELLO can name.
inline constexpr std::size_t kMaxShelvedLibraries = 64;
/// A bundle that is larger takes seconds to evaluate, and belongs into the programs that need it.
inline constexpr std::size_t kMaxLibraryBytes = std::size_t{8} << 20;

/// One that jobs can name.
struct ShelvedLibrary {
  std::shared_ptr<const cell::Library> library;
  std::string sha256;  ///< of its text, lower-case hexadecimal
};
using Libraries = std::vector<ShelvedLibrary>;

struct LibraryFile {
  std::string name;
  std::string path;
};

class LibraryShelf {
 public:
  LibraryShelf() = default;
  /// Of texts that are there already; the names differ.
  explicit LibraryShelf(std::vector<cell::Library> libraries);
  static Result<LibraryShelf> Read(const std::vector<LibraryFile>& files);

  /// In the operator's order whatever the job's, so that one combination is one cell.
  Result<Libraries> Pick(const std::vector<std::string>& names) const;
  std::vector<std::string> names() const;
  bool empty() const { return libraries_.empty(); }

 private:
  Libraries libraries_;
};

}  // namespace skerry::agent
