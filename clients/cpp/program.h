// Code that runs again and again: many jobs share one text, which is kept once, hashed once, and crosses the
// wire once where the broker keeps programs.
//
//   auto program = Program::Of("export default (x) => x + 1");
//   request.program = program;          // in each of its jobs, in place of `code`
//   request.spec.program = true;        // its evaluated state may be kept, too
//
// Threads: immutable. Ownership: shared by those who hold it.
#pragma once

#include <memory>
#include <string>

namespace skerry {

class Program {
 public:
  /// `text`: UTF-8.
  static std::shared_ptr<const Program> Of(std::string text);

  const std::string& text() const { return text_; }
  /// SHA-256 of the text, 32 raw bytes.
  const std::string& hash() const { return hash_; }

 private:
  explicit Program(std::string text);

  const std::string text_;
  const std::string hash_;
};

}  // namespace skerry
