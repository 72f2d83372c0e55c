// A receipt: what a run was made of, as the JSON text of one object. The same receipt gives the same value
// and events (docs/reproducible.md says where that ends), so one always has its keys in the same order.
//
//   ContentHashes content;
//   while (!content.HashSome(plan.code, plan.input)) ...       // a turn of the loop in between
//   outcome.receipt = Receipt(plan, content, seed, v8);
//
// Threads: plain data. Errors: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/hash.h"
#include "worker/agent/cells/cell.h"
#include "worker/agent/jobs/job_plan.h"

namespace skerry::agent {

/// SHA-256 of a job's code and input, a piece at a time: 64 MiB at once would keep the loop, and with it
/// every neighbour's deadline, waiting for a third of a second.
class ContentHashes {
 public:
  /// Of code and input together; takes some 1.5 ms.
  static constexpr std::size_t kPieceBytes = std::size_t{256} * 1024;

  /// True: all is hashed. Until then call it again, with the same texts.
  bool HashSome(std::string_view code, std::string_view input);
  /// Lower-case hexadecimal; an input that is absent is that of no bytes.
  const std::string& code() const { return code_; }
  const std::string& input() const { return input_; }

 private:
  Sha256Stream stream_;
  std::size_t done_ = 0;
  std::string code_;
  std::string input_;
};

std::string Receipt(const JobPlan& plan, const ContentHashes& content, std::uint64_t seed, const V8Build& v8);

}  // namespace skerry::agent
