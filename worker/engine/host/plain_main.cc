// main() of an executable that links V8 itself (providers monolith and libnode).
#include <v8-initialization.h>

#include <cstdio>
#include <string>

#include "worker/engine/host/header_version.h"
#include "worker/engine/host/protocol.h"
#include "worker/engine/host/version_check.h"

int SkerryMain(int argc, char** argv);

int main(int argc, char** argv) {
  const std::string mismatch =
      skerry::engine::VersionMismatch(v8::V8::GetVersion(), skerry::engine::kHeaderVersion);
  if (!mismatch.empty()) {
    std::fprintf(stderr, "%s\n", mismatch.c_str());
    return skerry::engine::kExitBadHost;
  }
  return SkerryMain(argc, argv);
}
