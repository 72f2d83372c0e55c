// How a test tells skerry-fuzz-cell what to do.
//
// The worker, or a CellProcess, starts it as its cell program. As a cell it keeps the protocol, and its
// isolates do what a job's code says:
//
//   fuzz TYPE SEED COUNT    writes COUNT mutations of that message to the worker, and exits
//   anything else           the job's value is its input
//
// Started with `control:SEED` as its first argument, or beside a file named after itself with `.seed` behind
// it, it breaks the control protocol: with packets, and descriptors, that nobody asked for or that are not
// what they should be. The file's number is counted up by each start.
//
// Threads: constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace skerry::fuzz {

inline constexpr const char* kControlMode = "control:";
inline constexpr const char* kSeedFile = ".seed";

inline std::string FuzzingCode(const std::string& type, std::uint64_t seed, std::size_t count) {
  return "fuzz " + type + " " + std::to_string(seed) + " " + std::to_string(count);
}

}  // namespace skerry::fuzz
