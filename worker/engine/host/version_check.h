// Whether the V8 that runs is the one that was compiled against. V8's C++ ABI is no contract: any other
// version is refused at start-up instead of crashing later.
#pragma once

#include <string>
#include <string_view>

namespace skerry::engine {

/// One line that says what is wrong; empty if nothing is. `running` may carry an embedder's suffix
/// ("14.6.202.34-node.40").
inline std::string VersionMismatch(std::string_view running, std::string_view compiled_against) {
  if (running.substr(0, running.find('-')) == compiled_against) return {};
  return "the host is V8 " + std::string(running) + ", but this program was compiled against V8 " +
         std::string(compiled_against) + ": build it again, or restore the host it was built for";
}

}  // namespace skerry::engine
