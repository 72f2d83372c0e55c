// Workers that were told to drain, and how far they are: which jobs they have left, and at which brokers that
// cannot be said.
//
//   DrainProgress progress(rows that brokers gave when they were told);
//   while (!progress.over()) progress.Look(*pool.Workers());
//
// Threads: plain data. Errors: brokers of which it is not known that they still hold the drain are in lost().
#pragma once

#include <vector>

#include "clients/cli/admin/pool_sample.h"

namespace skerry::cli {

class DrainProgress {
 public:
  using Rows = std::vector<Of<wire::WorkerRow>>;

  explicit DrainProgress(Rows told);

  void Look(const Heard<Rows>& now);
  /// None of them runs a job, as far as brokers say.
  bool over() const;
  /// As they were said to be last; of a worker that has left: "gone".
  const Rows& rows() const { return rows_; }
  /// Away now, or started anew since: these have forgotten the drain.
  std::vector<Away> lost() const;

 private:
  bool IsLost(const std::string& broker) const;

  Rows rows_;
  std::vector<Away> away_;
  std::vector<Away> anew_;
};

}  // namespace skerry::cli
