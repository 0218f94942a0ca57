// Result<T>: a value or an Error. Used for everything that can fail at run time; exceptions are only for
// programming mistakes such as calling value() on a failed Result.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/system/result.hpp>

#include <kernelsmith/core/error.hpp>

namespace kernelsmith {

template <class T>
using Result = boost::system::result<T, Error>;

/// The Result of an operation that returns no value. `Status{}` is success.
using Status = Result<void>;

/// Thrown by Result::value() on a failed Result.
class ErrorException : public std::runtime_error {
 public:
  explicit ErrorException(Error error);
  const Error& error() const { return error_; }

 private:
  Error error_;
};

/// Result::value() finds this function through argument-dependent look-up.
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& location);

/// Makes an Error where it is returned: `return fail(ErrorCode::not_found, "no such task", path);`
inline Error fail(ErrorCode code, std::string message, std::string where = {}, std::string hint = {}) {
  return Error{code, std::move(message), std::move(where), std::move(hint)};
}

/// Prints describe(error) to `stream` with control bytes escaped. Returns the command's exit status for the
/// error: 2 for wrong use or bad input, 3 for a broken machine or environment, 130 for `cancelled`.
int report(std::FILE* stream, const Error& error);

}  // namespace kernelsmith
