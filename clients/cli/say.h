// What `skerry` says on stderr: a line, under its name. Threads: any.
#pragma once

#include <cstdio>
#include <string>

namespace skerry::cli {

inline void Say(const std::string& line) {
  std::fprintf(stderr, "skerry: %s\n", line.c_str());
}

/// The code to exit with.
inline int Complain(const std::string& line, int code) {
  Say(line);
  return code;
}

}  // namespace skerry::cli
