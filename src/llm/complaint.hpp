// A server's own words about what went wrong, wherever in its answer it put them.
#pragma once

#include <string>
#include <string_view>

#include "wire.hpp"

namespace kernelsmith::llm {

struct Complaint {
  std::string kind;     ///< its types and codes, such as "invalid_request_error"
  std::string message;  ///< its sentences
  int status = 0;       ///< the HTTP status that it names, 400 to 599; 0 if it names none
};

/// Reads `{"error": {"type", "code", "message"}}` and what else servers write: a string, a list of errors,
/// `detail`, `msg`, `errors`, an answer from further behind in `metadata.raw` or in a string of JSON. Nothing
/// is cut within a string, so that a key can still be found in it. Complaint.IsFoundInEveryFormOfAnError
Complaint complaint_in(const Json& answer);

/// Names and values of a whole document as text, such as "id: 7, success: false". Strings as they are,
/// because a key has to be found in them.
std::string flat_text(const Json& document);

/// Whether a document says of itself that it is an error. Complaint.WithAGoodStatusIsAFailureAllTheSame
bool is_error(const Json& document);

/// Whether a document that is no reply describes an error.
bool complains(const Json& document);

}  // namespace kernelsmith::llm
