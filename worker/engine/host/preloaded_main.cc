// Takes main() over from the host binary that this shared object is preloaded into (DESIGN section 6.1).
#include <dlfcn.h>
#include <v8-initialization.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "worker/engine/host/header_version.h"
#include "worker/engine/host/protocol.h"
#include "worker/engine/host/version_check.h"

int SkerryMain(int argc, char** argv);

namespace skerry::engine {
namespace {

/// Takes LD_PRELOAD out of the environment, for what this process starts, and out of the memory that the
/// kernel laid it in: forks run hostile code, and a path of the host is none of its business.
void ForgetPreload(char** environment) {
  constexpr std::string_view kName = "LD_PRELOAD=";
  for (char** variable = environment; *variable != nullptr; ++variable) {
    char* const text = *variable;
    if (std::string_view(text).substr(0, kName.size()) != kName) continue;
    ::unsetenv("LD_PRELOAD");
    std::memset(text, 0, std::strlen(text));
    return;
  }
}

int PreloadedMain(int argc, char** argv, char** environment) {
  ForgetPreload(environment);
  ::unsetenv("LD_BIND_NOW");
  if (argc < 2 || std::strcmp(argv[1], kPreloadedOption) != 0) {
    std::fprintf(stderr, "this V8 host was not started by its launcher\n");
    return kExitBadHost;
  }
  const std::string mismatch = VersionMismatch(v8::V8::GetVersion(), kHeaderVersion);
  if (!mismatch.empty()) {
    std::fprintf(stderr, "%s\n", mismatch.c_str());
    return kExitBadHost;
  }
  for (int i = 1; i < argc; ++i) argv[i] = argv[i + 1];  // the terminating null moves along
  return SkerryMain(argc - 1, argv);
}

}  // namespace
}  // namespace skerry::engine

using Main = int (*)(int, char**, char**);

// glibc's entry into a program: the host's _start calls it with the host's own main, which we put ours in
// place of.
extern "C" int __libc_start_main(Main /*host_main*/, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*rtld_fini)(), void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto real = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(&skerry::engine::PreloadedMain, argc, argv, init, fini, rtld_fini, stack_end);
}
