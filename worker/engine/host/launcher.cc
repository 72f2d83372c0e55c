// bin/<name>: starts the V8 host binary with lib/<name>.so preloaded, so that the code in it runs instead of
// Node.
//
// Compile definitions: SKERRY_LAUNCH_SHARED_OBJECT (file name), SKERRY_LAUNCH_HOST (configure-time path of
// the host), SKERRY_LAUNCH_PRELOAD_FIRST (a sanitizer's runtime, or empty). Errors: one line on stderr and
// exit 78.
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "worker/engine/host/protocol.h"

namespace {

using skerry::engine::kExitBadHost;
using skerry::engine::kHostCommandOption;
using skerry::engine::kPreloadedOption;

[[noreturn]] void Die(const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, message.c_str());
  std::exit(kExitBadHost);
}

/// The folder that this executable is in, with a slash at its end.
std::string OwnFolder() {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) Die(std::string("cannot read /proc/self/exe: ") + std::strerror(errno));
  path.resize(static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/') + 1);
}

/// Why `path` cannot be the host; empty if it can.
std::string WhyNotHost(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "cannot open it: " + std::string(std::strerror(errno));
  Elf64_Ehdr header{};
  const ssize_t got = ::read(fd, &header, sizeof header);
  ::close(fd);
  if (got != static_cast<ssize_t>(sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return "it is not an ELF file";
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
    return "it is of another architecture than x86-64";
  }
  if (::access(path.c_str(), X_OK) != 0) return "it is not executable";
  return {};
}

/// An installed tree carries the host beside the shared objects; a build tree uses the one that CMake found.
std::string FindHost(const std::string& folder) {
  const std::string installed = folder + "../lib/skerry-v8-host";
  const std::string configured = SKERRY_LAUNCH_HOST;
  const bool is_installed = ::access(installed.c_str(), F_OK) == 0;
  if (!is_installed && ::access(configured.c_str(), F_OK) != 0) {
    Die("the V8 host binary is neither at " + installed + " nor at " + configured +
        ": install again (./dev install), or run ./dev setup in the checkout");
  }
  const std::string& host = is_installed ? installed : configured;
  const std::string why_not = WhyNotHost(host);
  if (!why_not.empty()) Die("the V8 host binary " + host + " cannot be used: " + why_not);
  return host;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = OwnFolder();
  const std::string host = FindHost(folder);
  if (argc == 2 && std::strcmp(argv[1], kHostCommandOption) == 0) {
    // For `skerry doctor`, which tries that this fails closed.
    std::printf("%s\n%s\n", host.c_str(), kPreloadedOption);
    return 0;
  }
  const std::string shared_object = folder + "../lib/" SKERRY_LAUNCH_SHARED_OBJECT;
  if (::access(shared_object.c_str(), R_OK) != 0) {
    Die("the shared object " + shared_object + " cannot be read: " + std::strerror(errno));
  }

  std::string preload = SKERRY_LAUNCH_PRELOAD_FIRST;
  if (!preload.empty()) preload += ':';
  preload += shared_object;
  ::setenv("LD_PRELOAD", preload.c_str(), 1);  // the preloaded main takes both out again
  // Bound lazily, each fork of a cell would look up anew every symbol that the template has not called yet.
  ::setenv("LD_BIND_NOW", "1", 1);
  ::unsetenv("NODE_OPTIONS");  // read by Node before it looks at its arguments

  std::vector<char*> arguments;
  arguments.push_back(argv[0]);
  arguments.push_back(const_cast<char*>(kPreloadedOption));
  for (int i = 1; i < argc; ++i) arguments.push_back(argv[i]);
  arguments.push_back(nullptr);
  ::execv(host.c_str(), arguments.data());
  Die("cannot start the V8 host binary " + host + ": " + std::strerror(errno));
}
