// Finds a server's error message anywhere in its answer.
#pragma once

#include <string>
#include <string_view>

#include "wire.hpp"

namespace kernelsmith::llm {

struct Complaint {
  std::string kind;     ///< the error's types and codes, such as "invalid_request_error"
  std::string message;  ///< the error's sentences
  int status = 0;       ///< the HTTP status that the error names, 400 to 599; 0 if it names none
};

/// Finds the error in `{"error": {"type", "code", "message"}}` and in other forms: a string, a list of
/// errors, `detail`, `msg`, `errors`, an upstream answer in `metadata.raw` or in a string of JSON. Does not
/// cut strings, so that an API key can still be found in them.
/// Complaint.IsFoundInEveryFormOfAnError
Complaint complaint_in(const Json& answer);

/// Names and values of a whole document as text, such as "id: 7, success: false". Leaves strings unchanged,
/// so that an API key can still be found in them.
std::string flat_text(const Json& document);

/// Whether a document declares itself an error.
/// Complaint.WithAGoodStatusIsAFailureAllTheSame
bool is_error(const Json& document);

/// Whether a document that is not a reply describes an error.
bool complains(const Json& document);

}  // namespace kernelsmith::llm
