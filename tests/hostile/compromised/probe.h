// What native code inside an isolate would try first: one attempt at something that only the host, another
// process or another job owns.
//
//   probe is named by the job's `code`; its `input` gives it numbers ({"worker": 4711}); the job's value is
//   how it went: "allowed", or the errno's name. A process that is killed for it has no value.
//
// Threads: one. Errors: an unknown name is "unknown probe".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "worker/cell/isolate_port.h"

namespace skerry::compromised {

/// What a job tells a probe besides its name.
struct Target {
  int worker = 0;      ///< pid of the worker, as the host numbers it
  std::string secret;  ///< each byte one more than the secret's: a search must not find its own copy
};

struct Attempt {
  std::string_view name;
  std::string (*make)(const Target& target);
};

/// Every attempt at the kernel: files, network, processes, memory, privileges.
const std::vector<Attempt>& Attempts();

/// One lie on the isolate's socket; never returns where it is to end the process.
struct Lie {
  std::string_view name;
  void (*tell)(cell::IsolatePort& port, int socket);
};
const std::vector<Lie>& Lies();

/// What a program cell whose program has taken it over does with its control socket and its clone, instead of
/// serving.
struct Trick {
  std::string_view name;
  void (*play)();
};
const std::vector<Trick>& Tricks();

/// In a program cell: an attempt, and how it went; or a trick, which never returns.
std::string PlayInCell(const std::string& name);

}  // namespace skerry::compromised
