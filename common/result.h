// Our own failures. How a tenant's job ended is not one of them: that is an Outcome (outcome.h).
//
//   Result<Fd> opened = Open(path);
//   if (!opened) return Fail(opened.error());
//
// Errors: `Error::message` is one line for a person: what failed, on what, and what to do where that is
// known.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace skerry {

enum class ErrorKind {
  kInvalid,      ///< the input is wrong: malformed, out of range, unknown
  kUnavailable,  ///< a peer, a file or a kernel feature is not there now
  kUnknownType,  ///< a message of a type that this side does not know: a newer peer's
  kExhausted,    ///< a bound is reached: slots, memory, queue
  kInternal,     ///< a system call or an invariant failed
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

inline tl::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}
inline tl::unexpected<Error> Fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
/// An Error from errno: "<what>: <strerror>".
inline tl::unexpected<Error> FailErrno(std::string_view what, int error_number = errno) {
  return Fail(ErrorKind::kInternal, std::string(what) + ": " + std::strerror(error_number));
}

}  // namespace skerry
