// What this machine, or the container that the worker is in, has to give.
//
// Threads: pure reads of /proc and /sys. Errors: what cannot be read is taken as unlimited, but for the RAM
// itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/units.h"

namespace skerry::agent {

/// A program in the folder of this one; the bare name where /proc does not tell.
std::string BesideOwnBinary(const std::string& name);
/// Cores that this process may use. At least 1.
unsigned UsableCores();
/// The smallest of RAM and every memory limit of the process's cgroup and its parents (v1 and v2). `root`:
/// where /proc and /sys are, for tests.
Bytes UsableMemory(const std::filesystem::path& root = "/");

}  // namespace skerry::agent
