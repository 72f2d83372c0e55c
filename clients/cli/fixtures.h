// Answers to host calls from a file (DESIGN section 9): method -> value, {"$value", "$delayMs"}, {"$error"},
// {"$never"};
// "*" answers any method that has no entry of its own.
//
// Values are kept as the file's own text. Threads: immutable once loaded. Errors: Parse names the method at
// fault.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "clients/cpp/client_types.h"
#include "common/result.h"

namespace skerry::cli {

class Fixtures {
 public:
  /// No file: every call is rejected with a hint.
  Fixtures() = default;
  static Result<Fixtures> Parse(std::string_view json);
  static Result<Fixtures> Load(const std::string& path);

  HostReply Answer(std::string_view method) const;

 private:
  bool given_ = false;
  std::map<std::string, HostReply, std::less<>> replies_;
};

}  // namespace skerry::cli
