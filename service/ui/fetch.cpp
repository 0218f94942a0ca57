#include "fetch.hpp"

#include <memory>
#include <string_view>

#include <curl/curl.h>

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
    return fail(ErrorCode::bad_reply, "the answer is larger than any of a service", url);
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
    return fail(ErrorCode::invalid_argument, "this is no address of a service", url,
                "write http://HOST:PORT or https://HOST:PORT");
  if (code == CURLE_PEER_FAILED_VERIFICATION)
    return fail(ErrorCode::untrusted, "its certificate was not accepted", url);
  return fail(ErrorCode::network, std::string("the service does not answer: ") + curl_easy_strerror(code),
              url, "look whether it runs there");
}

}  // namespace

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

}  // namespace kernelsmith::ui
