// Endpoint: a model server, its protocol and its key.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/secret.hpp>
#include <kernelsmith/llm/model_call.hpp>

namespace kernelsmith {

/// A value. The certificate of an https server is always verified.
struct Endpoint {
  Protocol protocol = Protocol::chat_completions;
  std::string base_url;  ///< such as https://api.openai.com/v1; the protocol's path is appended
  Secret key;            ///< may be empty: local servers need none
  std::string ca_file;   ///< PEM file of a private CA instead of the system's; may be empty
};

/// Fills in empty members from OPENAI_BASE_URL and OPENAI_API_KEY, or from ANTHROPIC_BASE_URL and
/// ANTHROPIC_API_KEY. If the variable for the base URL is not set, the base URL is the provider's own. The
/// URL in Anthropic's variable lacks the /v1 of the Messages protocol, which is added.
Endpoint with_environment(Endpoint endpoint);

/// The URL of the provider's own server.
std::string_view provider_url(Protocol protocol);

/// Refuses an endpoint that would send the key unencrypted or to the wrong place: a scheme other than https
/// (http is allowed for this machine or without a key); a user, query or fragment in the URL; a key that
/// cannot be sent in a header. Errors: `invalid_argument`, and `not_found` for an unreadable CA file. No
/// message contains the key.
Status check_endpoint(const Endpoint& endpoint);

/// Returns true for the URL of a well-known provider that answers no call without a key. For other servers,
/// only a call can show whether they need a key.
bool wants_key(std::string_view url);

/// Returns true for a URL of this machine: localhost, 127.*, ::1.
bool is_loopback(std::string_view url);

}  // namespace kernelsmith
