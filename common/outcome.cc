#include "common/outcome.h"

#include <array>
#include <utility>

namespace skerry {
namespace {

struct CodeRow {
  Code code;
  std::string_view name;
  Fault fault;
  Retryable retryable;
  std::string_view error_name;
};

constexpr std::array<CodeRow, kCodeCount> kCodes = {{
    {Code::kValidation, "VALIDATION", Fault::kClient, Retryable::kNo, "SandboxValidationError"},
    {Code::kCompile, "COMPILE", Fault::kProgram, Retryable::kNo, "SyntaxError"},
    {Code::kRuntime, "RUNTIME", Fault::kProgram, Retryable::kNo, "Error"},
    {Code::kTimeout, "TIMEOUT", Fault::kLimit, Retryable::kNo, "SandboxTimeoutError"},
    {Code::kOom, "OOM", Fault::kLimit, Retryable::kNo, "SandboxOOMError"},
    {Code::kLimit, "LIMIT", Fault::kLimit, Retryable::kNo, "SandboxLimitError"},
    {Code::kCrash, "CRASH", Fault::kProgram, Retryable::kNo, "SandboxCrashError"},
    {Code::kCancelled, "CANCELLED", Fault::kClient, Retryable::kNo, "SandboxCancelledError"},
    {Code::kExpired, "EXPIRED", Fault::kClient, Retryable::kYes, "SandboxExpiredError"},
    {Code::kRateLimited, "RATE_LIMITED", Fault::kClient, Retryable::kYes, "SandboxRateLimitError"},
    {Code::kUnauthorized, "UNAUTHORIZED", Fault::kClient, Retryable::kNo, "SandboxUnauthorizedError"},
    {Code::kOverloaded, "OVERLOADED", Fault::kInfrastructure, Retryable::kYes, "SandboxOverloadedError"},
    {Code::kLost, "LOST", Fault::kInfrastructure, Retryable::kYes, "SandboxLostError"},
}};

constexpr std::array<std::string_view, 4> kFaults = {"client", "program", "limit", "infrastructure"};

constexpr const CodeRow& RowOf(Code code) {
  return kCodes[static_cast<std::size_t>(code)];
}

}  // namespace

std::string_view NameOf(Code code) {
  return RowOf(code).name;
}
std::string_view NameOf(Fault fault) {
  return kFaults[static_cast<std::size_t>(fault)];
}
Fault DefaultFault(Code code) {
  return RowOf(code).fault;
}
Retryable IsRetryable(Code code) {
  return RowOf(code).retryable;
}
std::string_view SandboxErrorName(Code code) {
  return RowOf(code).error_name;
}

std::optional<Code> CodeByName(std::string_view name) {
  for (const auto& row : kCodes) {
    if (row.name == name) return row.code;
  }
  return std::nullopt;
}

std::optional<Fault> FaultByName(std::string_view name) {
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    if (kFaults[i] == name) return static_cast<Fault>(i);
  }
  return std::nullopt;
}

JobError MakeError(Code code, std::string message, std::string limit) {
  JobError error;
  error.code = code;
  error.limit = std::move(limit);
  error.fault = DefaultFault(code);
  error.retryable = IsRetryable(code) == Retryable::kYes;
  error.message = std::move(message);
  error.name = SandboxErrorName(code);
  return error;
}

}  // namespace skerry
