#include "admission.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include <openssl/crypto.h>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/config/text.hpp>
#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/service/http_server.hpp>

namespace kernelsmith::http {
namespace {

bool is_same(std::string_view one, std::string_view other) { return lower_case(one) == lower_case(other); }

}  // namespace

bool equal_in_constant_time(std::string_view secret, std::string_view given) {
  // Digests have one length, so the secret's length is not revealed.
  const Digest wanted = digest_of(secret), got = digest_of(given);
  return CRYPTO_memcmp(wanted.bytes.data(), got.bytes.data(), wanted.bytes.size()) == 0;
}

std::string_view host_without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, std::min(host.find(']'), host.size()) - 1);
  return host.substr(0, host.find(':'));
}

bool is_loopback_name(std::string_view host) {
  const auto is_address = [](char c) { return c == '.' || std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return is_same(host, "localhost") || host == "::1" ||
         (host.starts_with("127.") && std::ranges::all_of(host, is_address));
}

bool is_cross_site(const Request& request, bool loopback, const std::vector<std::string>& allowed) {
  const auto host = request.header("host");
  if (!host) return false;
  const std::string_view name = host_without_port(*host);
  const auto is_allowed = [name](const std::string& other) { return is_same(name, other); };
  if (loopback && !is_loopback_name(name) && !std::ranges::any_of(allowed, is_allowed)) return true;
  const auto origin = request.header("origin");
  if (!origin) return false;
  const std::size_t scheme = origin->find("://");
  return scheme == origin->npos || !is_same(origin->substr(scheme + 3), *host);
}

Guard bearer_guard(Secret token) {
  return [token = std::move(token)](const Request& request) {
    const std::string_view given = request.header("authorization").value_or("");
    const std::size_t blank = std::min(given.find(' '), given.size());
    const std::string_view scheme = given.substr(0, blank);
    const std::string_view credentials = given.substr(std::min(blank + 1, given.size()));
    if (is_same(scheme, "bearer")) return equal_in_constant_time(token.reveal(), credentials);
    if (!is_same(scheme, "basic")) return false;
    const std::string pair = detail::base64_decode(credentials).value_or("");
    const std::size_t colon = pair.find(':');
    return colon != pair.npos &&
           equal_in_constant_time(token.reveal(), std::string_view(pair).substr(colon + 1));
  };
}

}  // namespace kernelsmith::http
