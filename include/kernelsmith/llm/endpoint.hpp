// Endpoint: which server is spoken to, how, and with which key.
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
  std::string base_url;  ///< such as https://api.openai.com/v1; the protocol's path is put behind it
  Secret key;            ///< may be empty: local servers ask for none
  std::string ca_file;   ///< PEM of a private CA in place of the system's; may be empty
};

/// The endpoint with what is empty filled in from the environment: OPENAI_BASE_URL and OPENAI_API_KEY, or
/// ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY; without a base URL there, the provider's own. A Messages URL
/// that lacks its /v1, as Anthropic's variable does, gets it.
Endpoint with_environment(Endpoint endpoint);

/// The provider's own server.
std::string_view provider_url(Protocol protocol);

/// Refuses what would send the key in the open or to the wrong place: another scheme than https (plain http
/// only to this machine, or without a key), user, query or fragment in the URL, a key that no header can
/// hold. `invalid_argument`, and `not_found` for a CA file that cannot be read. No message holds the key.
Status check_endpoint(const Endpoint& endpoint);

/// True for a URL of a well-known provider, none of which answers a call without a key. For any other server
/// only a call tells.
bool wants_key(std::string_view url);

/// True for a URL of this machine: localhost, 127.*, ::1.
bool is_loopback(std::string_view url);

}  // namespace kernelsmith
