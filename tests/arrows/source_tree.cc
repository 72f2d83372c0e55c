#include "tests/arrows/source_tree.h"

#include <fstream>
#include <regex>
#include <sstream>

namespace skerry::arrows {
namespace {

constexpr const char* kFolders[] = {"common", "broker", "worker", "clients", "bench", "tests"};

bool IsRead(const std::filesystem::path& path) {
  return path.extension() == ".h" || path.extension() == ".cc" || path.filename() == "CMakeLists.txt";
}

}  // namespace

SourceTree LoadTree(const std::filesystem::path& root) {
  SourceTree tree;
  for (const char* folder : kFolders) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !IsRead(entry.path())) continue;
      std::ifstream file(entry.path());
      std::ostringstream text;
      text << file.rdbuf();
      tree[std::filesystem::relative(entry.path(), root).string()] = text.str();
    }
  }
  return tree;
}

std::vector<std::string> IncludesOf(const std::string& text) {
  static const std::regex kInclude(R"re((?:^|\n)[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"])re");
  std::vector<std::string> includes;
  for (std::sregex_iterator it(text.begin(), text.end(), kInclude), end; it != end; ++it) {
    includes.push_back((*it)[1]);
  }
  return includes;
}

std::map<std::string, std::string> ReachedIncludes(const SourceTree& tree,
                                                   const std::vector<std::string>& files) {
  std::map<std::string, std::string> reached;
  std::set<std::string> seen;
  std::vector<std::string> open = files;
  while (!open.empty()) {
    const std::string file = open.back();
    open.pop_back();
    const auto found = tree.find(file);
    if (found == tree.end() || !seen.insert(file).second) continue;
    for (const auto& include : IncludesOf(found->second)) {
      reached.emplace(include, file);
      open.push_back(include);
    }
  }
  return reached;
}

}  // namespace skerry::arrows
