// The machine that this process runs on.
//
// Threads: one, in a process with no other: its trials fork. Ownership: what it starts it kills and reaps.
#pragma once

#include <memory>

#include "clients/cli/doctor/machine.h"

namespace skerry::cli::doctor {

std::unique_ptr<Machine> RealMachine();

}  // namespace skerry::cli::doctor
