#include "followed_service.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <curl/curl.h>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/secret.hpp>

namespace kernelsmith::ui {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr long kConnectMs = 3000;
constexpr long kPatienceMs = 8000;

struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

std::size_t take(const char* bytes, std::size_t, std::size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (text.size() + count > kMostBytes) return 0;  // which ends the transfer
  text.append(bytes, count);
  return count;
}

Error error_of(CURLcode code, const std::string& url) {
  if (code == CURLE_WRITE_ERROR)
    return fail(ErrorCode::bad_reply, "the answer is larger than a service's answers", url);
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
    return fail(ErrorCode::invalid_argument, "this is not the address of a service", url,
                "write http://HOST:PORT or https://HOST:PORT");
  if (code == CURLE_PEER_FAILED_VERIFICATION)
    return fail(ErrorCode::untrusted, "its certificate was not accepted", url);
  return fail(ErrorCode::network, std::string("the service does not answer: ") + curl_easy_strerror(code),
              url, "check that it runs there");
}

struct Fetched {
  long status = 0;
  std::string body;
};

/// Makes one GET request to an evaluation service, and waits for the answer. Follows no redirection, which
/// could lead the token elsewhere. Errors: `network` if nobody answers in seconds, `untrusted` for a
/// certificate, `bad_reply` for an answer beyond some megabytes. `where` is the URL. Thread-safe.
Result<Fetched> fetch(const std::string& url, const Secret& token) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, FreeHandle> handle(ready == CURLE_OK ? curl_easy_init() : nullptr);
  if (!handle) return fail(ErrorCode::internal, "libcurl cannot be set up");
  std::unique_ptr<curl_slist, FreeList> headers;
  if (!token.empty())
    headers.reset(
        curl_slist_append(nullptr, ("Authorization: Bearer " + std::string(token.reveal())).c_str()));
  Fetched fetched;
  curl_easy_setopt(handle.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle.get(), CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
  curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT_MS, kPatienceMs);
  curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, &take);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &fetched.body);
  if (const CURLcode code = curl_easy_perform(handle.get()); code != CURLE_OK) return error_of(code, url);
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &fetched.status);
  return fetched;
}

constexpr int kDeepest = 64;  ///< of nested values in an answer

bool has_odd_characters(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

/// "host:port" of "http://host:port"; empty if there is none.
std::string place_of(const std::string& url) {
  constexpr std::string_view kBehindScheme = "://";
  const std::size_t at = url.find(kBehindScheme);
  return at == url.npos ? "" : url.substr(at + kBehindScheme.size());
}

Error no_service(const std::string& url, long status) {
  return fail(ErrorCode::bad_reply,
              "no evaluation service answers here (HTTP status " + std::to_string(status) + ")", url,
              "check that the address is that of `kernelsmith serve`");
}

Result<std::string> text_at(const ServiceAddress& service, const std::string& path) {
  const std::string url = service.url + path;
  auto fetched = fetch(url, service.token);
  if (!fetched) return fetched.error();
  if (fetched->status == 401 || fetched->status == 403)
    return fail(ErrorCode::permission,
                service.token.empty() ? "the service wants a token" : "the service does not take this token",
                url, "set KERNELSMITH_SERVICE_TOKEN to the token of the service");
  if (fetched->status != 200) return no_service(url, fetched->status);
  return std::move(fetched->body);
}

Result<Json> object_at(const ServiceAddress& service, const std::string& path) {
  const auto text = text_at(service, path);
  if (!text) return text.error();
  bool too_deep = false;  // such values are dropped, because reading them is recursive
  const auto is_kept = [&too_deep](int depth, Json::parse_event_t, const Json&) {
    too_deep = too_deep || depth > kDeepest;
    return depth <= kDeepest;
  };
  Json body = Json::parse(*text, is_kept, /*allow_exceptions=*/false);
  if (too_deep)
    return fail(ErrorCode::bad_reply, "the answer is nested deeper than 64 levels", service.url + path);
  if (!body.is_object()) return no_service(service.url + path, 200);
  // It is constructed in place, because a Json converts implicitly to many types.
  return Result<Json>(boost::system::in_place_value, std::move(body));
}

double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Result<std::unique_ptr<FollowedService>> FollowedService::at(ServiceAddress service) {
  while (service.url.ends_with('/')) service.url.pop_back();  // "http://" is left as "http:"
  const std::string place = place_of(service.url);
  // Refuses a name and password in an address, because the page would show them.
  if (place.empty() || place.find('@') != place.npos || has_odd_characters(service.url))
    return fail(ErrorCode::invalid_argument, "this is not the address of a service", "",
                "write http://HOST:PORT or https://HOST:PORT");
  if (has_odd_characters(service.token.reveal()))
    return fail(ErrorCode::invalid_argument, "the token holds a blank or a control character",
                "KERNELSMITH_SERVICE_TOKEN");
  return std::unique_ptr<FollowedService>(new FollowedService(std::move(service)));
}

Result<std::optional<std::string>> FollowedService::look() {
  auto health = object_at(service_, "/health");
  if (!health) return health.error();
  auto workers = object_at(service_, "/workers/status");
  if (!workers) return workers.error();
  const auto metrics = text_at(service_, "/metrics");
  if (!metrics) return metrics.error();
  history_.add({std::move(*health), std::move(*workers), read_metrics(*metrics), steady_s()});
  constexpr int kOneLine = -1;
  constexpr bool kAscii = true;
  return std::optional(
      history_.summary(place_of(service_.url)).dump(kOneLine, ' ', kAscii, Json::error_handler_t::replace));
}

}  // namespace kernelsmith::ui
