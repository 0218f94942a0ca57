#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <arpa/inet.h>
#include <curl/curl.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <kernelsmith/llm/endpoint.hpp>

namespace kernelsmith {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

Url parse(const std::string& text) {
  Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
    return nullptr;
  return url;
}

/// Returns empty if the URL has no such part.
std::string part(const Url& url, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(url.get(), which, &text, 0) != CURLUE_OK) return {};
  std::string result(text);
  curl_free(text);
  return result;
}

bool is_loopback_host(const std::string& host) {
  // Accepts only an address, because a name such as 127.example.com or 127.0.0.256 would go to a resolver.
  in_addr address{};
  const bool is_address = ::inet_pton(AF_INET, host.c_str(), &address) == 1;
  return host == "localhost" || (is_address && host.starts_with("127.")) || host == "[::1]";
}

/// Domains of providers that require a key. All hosts below these domains count.
constexpr std::array<std::string_view, 24> kWantKeys{
    "anthropic.com",
    "api.cohere.ai",
    "api.cohere.com",
    "api.fireworks.ai",
    "api.minimax.io",
    "api.moonshot.ai",
    "api.moonshot.cn",
    "api.siliconflow.cn",
    "api.siliconflow.com",
    "api.together.ai",
    "api.together.xyz",
    "api.x.ai",
    "api.z.ai",
    "bigmodel.cn",
    "cerebras.ai",
    "dashscope-intl.aliyuncs.com",
    "dashscope.aliyuncs.com",
    "deepseek.com",
    "generativelanguage.googleapis.com",
    "groq.com",
    "integrate.api.nvidia.com",
    "mistral.ai",
    "openai.com",
    "openrouter.ai",
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Quotes only the safe part of a URL, because the rest may contain a user, a password or a key.
std::string in_quotes(std::string_view url) {
  if (url.find('@') != url.npos) return "it";
  return "\"" + std::string(url.substr(0, url.find_first_of("?#"))) + "\"";
}

Status check_key(const Secret& key) {
  const auto printable = [](unsigned char c) { return c > 0x20 && c < 0x7F; };
  if (std::ranges::all_of(key.reveal(), printable)) return {};
  return fail(ErrorCode::invalid_argument, "the API key holds blanks or bytes that no header can hold", "",
              "check the environment variable: a line break at its end is the usual reason");
}

/// Checks the CA file now, because libcurl would report an error only with the first call, after the seed was
/// evaluated.
Status check_ca_file(const std::string& path) {
  if (path.empty()) return {};
  struct Closed {
    void operator()(BIO* file) const { BIO_free(file); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  std::error_code ignored;
  std::unique_ptr<BIO, Closed> file;
  if (std::filesystem::is_regular_file(path, ignored)) file.reset(BIO_new_file(path.c_str(), "r"));
  if (!file)
    return fail(ErrorCode::not_found, "the CA file cannot be read", path,
                "proposer.ca_file is a file in PEM");
  const std::unique_ptr<X509, Closed> certificate(PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (certificate) return {};
  return fail(ErrorCode::invalid_argument, "the CA file holds no certificate that can be read", path,
              "proposer.ca_file is a file in PEM");
}

}  // namespace

std::string_view provider_url(Protocol protocol) {
  return protocol == Protocol::messages ? "https://api.anthropic.com/v1" : "https://api.openai.com/v1";
}

Endpoint with_environment(Endpoint endpoint) {
  const bool messages = endpoint.protocol == Protocol::messages;
  if (endpoint.base_url.empty())
    endpoint.base_url = environment(messages ? "ANTHROPIC_BASE_URL" : "OPENAI_BASE_URL");
  if (endpoint.base_url.empty()) endpoint.base_url = provider_url(endpoint.protocol);
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  if (messages && !endpoint.base_url.ends_with("/v1")) endpoint.base_url += "/v1";
  if (endpoint.key.empty())
    endpoint.key = Secret(environment(messages ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY"));
  return endpoint;
}

bool wants_key(std::string_view url) {
  const Url parsed = parse(std::string(url));
  if (!parsed) return false;
  std::string host = "." + part(parsed, CURLUPART_HOST);
  std::ranges::transform(host, host.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(kWantKeys,
                             [&](auto domain) { return host.ends_with("." + std::string(domain)); });
}

bool is_loopback(std::string_view url) {
  const Url parsed = parse(std::string(url));
  return parsed && is_loopback_host(part(parsed, CURLUPART_HOST));
}

Status check_endpoint(const Endpoint& endpoint) {
  const auto refuse = [](std::string why, std::string hint) -> Status {
    return fail(ErrorCode::invalid_argument, std::move(why), "base URL", std::move(hint));
  };
  const Url url = parse(endpoint.base_url);
  // The URL must not be quoted before the key has been removed from it.
  const std::string shown = in_quotes(endpoint.key.redact(endpoint.base_url));
  if (!url) return refuse(shown + " is not a URL", "write it as https://HOST/v1");
  if (!part(url, CURLUPART_USER).empty() || !part(url, CURLUPART_PASSWORD).empty())
    return refuse("the URL contains a user or a password", "give the key through the environment instead");
  if (!part(url, CURLUPART_QUERY).empty() || !part(url, CURLUPART_FRAGMENT).empty())
    return refuse("the URL for " + part(url, CURLUPART_HOST) + " has a query or a fragment",
                  "write it as https://HOST/v1");
  const std::string scheme = part(url, CURLUPART_SCHEME);
  if (scheme != "https" && scheme != "http")
    return refuse(shown + " has the scheme \"" + scheme + "\"", "write it as https://HOST/v1");
  if (scheme == "http" && !endpoint.key.empty() && !is_loopback_host(part(url, CURLUPART_HOST)))
    return refuse("plain http would send the key in the open to " + part(url, CURLUPART_HOST),
                  "use https, or unset the key if this server needs none");
  // The URL must not contain the key, because it is printed, and stored with the run.
  if (endpoint.key.stands_in(endpoint.base_url))
    return refuse("the URL contains the key", "the key is sent in a header: write the URL without it");
  if (Status key = check_key(endpoint.key); !key) return key;
  return check_ca_file(endpoint.ca_file);
}

}  // namespace kernelsmith
