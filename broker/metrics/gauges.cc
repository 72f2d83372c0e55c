#include "broker/metrics/gauges.h"

#include <array>

namespace skerry::broker {
namespace {

constexpr std::array kWorkerFields = {
    &WorkerSums::workers,
    &WorkerSums::accepting,
    &WorkerSums::slots_used,
    &WorkerSums::slots_free,
    &WorkerSums::memory_promised_mb,
    &WorkerSums::memory_free_mb,
    &WorkerSums::spares,
    &WorkerSums::cells,
};
static_assert(sizeof(WorkerSums) == kWorkerFields.size() * sizeof(std::uint64_t));

}  // namespace

WorkerSums& WorkerSums::operator+=(const WorkerSums& more) {
  for (const auto field : kWorkerFields) this->*field += more.*field;
  return *this;
}

WorkerSums& WorkerSums::operator-=(const WorkerSums& less) {
  for (const auto field : kWorkerFields) this->*field -= less.*field;
  return *this;
}

}  // namespace skerry::broker
