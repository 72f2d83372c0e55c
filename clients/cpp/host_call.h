// A host call of a job, on its way from the broker to whoever answers it.
//
// Threads: plain data.
#pragma once

#include <cstdint>
#include <string>

#include "common/ids.h"

namespace skerry::client {

struct HostCall {
  JobId job;
  std::uint32_t attempt = 1;
  std::uint32_t call = 0;    ///< from 1 within an attempt
  std::string method;        ///< UTF-8
  std::string params;        ///< JSON text from the program: hostile input
  std::uint64_t broker = 0;  ///< whose call it is: the answer goes there

  std::uint64_t bytes() const { return sizeof(HostCall) + method.size() + params.size(); }
};

}  // namespace skerry::client
