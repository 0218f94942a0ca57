#include <kernelsmith/core/brief.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

std::string describe(const Error& error) {
  std::string text;
  if (!error.where.empty()) text += error.where + ": ";
  text += error.message;
  text += " (";
  text += name_of(error.code);
  text += ")";
  if (!error.hint.empty()) text += "\nhint: " + error.hint;
  return text;
}

ErrorException::ErrorException(Error error) : std::runtime_error(describe(error)), error_(std::move(error)) {}

void throw_exception_from_error(const Error& error, const boost::source_location&) {
  throw ErrorException(error);
}

int report(std::FILE* stream, const Error& error) {
  std::fflush(stdout);  // so that earlier output comes first, also in a pipe
  std::fprintf(stream, "error: %s\n", escape_controls(describe_briefly(error)).c_str());
  switch (error.code) {
    case ErrorCode::cancelled:
      return 130;
    case ErrorCode::invalid_argument:
    case ErrorCode::bad_input:
    case ErrorCode::not_found:
    case ErrorCode::busy:
    case ErrorCode::already_told:
    case ErrorCode::unknown_ticket:
    case ErrorCode::version:
    case ErrorCode::refused:
      return 2;
    default:
      return 3;
  }
}

}  // namespace kernelsmith
