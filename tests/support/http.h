// Just enough HTTP to read a metrics page from this machine.
//
// Threads: any. Errors: no connection or no answer reads as empty.
#pragma once

#include <cstdint>
#include <string>

namespace skerry::testing {

/// What comes back for a request as it stands, to the end of the connection.
std::string HttpExchange(std::uint16_t port, const std::string& request);
/// The body of GET http://127.0.0.1:PORT/PATH.
std::string HttpGet(std::uint16_t port, const std::string& path);
/// The status of GET http://127.0.0.1:PORT/PATH; 0: no answer.
int HttpStatus(std::uint16_t port, const std::string& path);
/// The sum of a Prometheus metric's samples whose labels contain `label` (as `name="value"`; empty: all). -1:
/// none.
double MetricSum(const std::string& page, const std::string& name, const std::string& label = {});

}  // namespace skerry::testing
