#include "tests/arrows/cmake_targets.h"

#include <regex>
#include <sstream>

namespace skerry::arrows {
namespace {

struct Command {
  std::string name;
  std::vector<std::string> words;
};

std::string WithoutComments(const std::string& text) {
  return std::regex_replace(text, std::regex("#[^\n]*"), "");
}

std::vector<Command> ReadCommands(const std::string& text) {
  static const std::regex kCommand(R"re(([A-Za-z_0-9]+)[ \t]*\(([^()]*)\))re");
  const std::string code = WithoutComments(text);
  std::vector<Command> commands;
  for (std::sregex_iterator it(code.begin(), code.end(), kCommand), end; it != end; ++it) {
    Command command{(*it)[1], {}};
    std::istringstream words((*it)[2]);
    for (std::string word; words >> word;) command.words.push_back(word);
    commands.push_back(command);
  }
  return commands;
}

// A source's path from the root: relative ones stand beside the CMakeLists.txt.
std::string FromRoot(const std::string& folder, const std::string& word) {
  static const std::regex kHere(R"re(\$\{CMAKE_CURRENT_SOURCE_DIR\}/)re");
  static const std::regex kRoot(R"re(\$\{(PROJECT|CMAKE)_SOURCE_DIR\}/)re");
  std::string path = std::regex_replace(word, kHere, folder + "/");
  const std::string rooted = std::regex_replace(path, kRoot, "");
  if (rooted != path || path != word) return rooted;
  return std::filesystem::path(folder + "/" + word).lexically_normal().string();
}

bool IsSource(const std::string& word) {
  return word.ends_with(".cc") || word.ends_with(".h");
}

class Reader {
 public:
  explicit Reader(const SourceTree& tree) {
    for (const auto& [path, text] : tree) {
      if (!path.ends_with("CMakeLists.txt")) continue;
      folder_ = std::filesystem::path(path).parent_path().string();
      for (const auto& command : ReadCommands(text)) Read(command);
    }
  }

  std::map<std::string, Target> Resolved() && {
    for (auto& [name, target] : targets_) {
      std::set<std::string> links;
      for (const auto& link : target.links) links.insert(aliases_.contains(link) ? aliases_[link] : link);
      target.links = std::move(links);
    }
    return std::move(targets_);
  }

 private:
  void Read(const Command& command) {
    static const std::set<std::string> kDefining = {
        "add_library",     "add_executable",           "target_sources",
        "skerry_add_test", "skerry_add_v8_executable", "skerry_add_stack_test"};
    if (command.words.empty()) return;
    if (command.name == "add_library" && command.words.size() == 3 && command.words[1] == "ALIAS") {
      aliases_[command.words[0]] = command.words[2];
    } else if (command.name == "target_link_libraries") {
      AddLinks(targets_[command.words[0]], {command.words.begin() + 1, command.words.end()});
    } else if (kDefining.contains(command.name)) {
      Define(command);
    }
  }

  void Define(const Command& command) {
    Target& target = targets_[command.words[0]];
    target.folder = folder_;
    bool in_libraries = false;
    for (const auto& word : command.words) {
      if (word == "LIBRARIES") in_libraries = true;
      if (word == "SOURCES" || word == "LABELS" || word == "TEST") in_libraries = false;
      if (IsSource(word)) target.sources.push_back(FromRoot(folder_, word));
      if (in_libraries) AddLinks(target, {word});
    }
  }

  static void AddLinks(Target& target, const std::vector<std::string>& words) {
    for (const auto& word : words) target.links.insert(word);
  }

  std::string folder_;
  std::map<std::string, Target> targets_;
  std::map<std::string, std::string> aliases_;
};

}  // namespace

std::map<std::string, Target> ReadTargets(const SourceTree& tree) {
  return Reader(tree).Resolved();
}

std::set<std::string> LinkClosure(const std::map<std::string, Target>& targets, const std::string& root) {
  std::set<std::string> closure;
  std::vector<std::string> open = {root};
  while (!open.empty()) {
    const auto found = targets.find(open.back());
    open.pop_back();
    if (found == targets.end() || !closure.insert(found->first).second) continue;
    open.insert(open.end(), found->second.links.begin(), found->second.links.end());
  }
  return closure;
}

}  // namespace skerry::arrows
