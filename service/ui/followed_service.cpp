#include "followed_service.hpp"

#include <algorithm>
#include <utility>

#include "fetch.hpp"
#include "ui_json.hpp"

namespace kernelsmith::ui {
namespace {

bool has_odd_characters(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

/// "host:port" of "http://host:port"; empty where there is none.
std::string place_of(const std::string& url) {
  constexpr std::string_view kBehindScheme = "://";
  const std::size_t at = url.find(kBehindScheme);
  return at == url.npos ? "" : url.substr(at + kBehindScheme.size());
}

Result<Json> json_at(const ServiceAddress& service, const std::string& path) {
  const std::string url = service.url + path;
  const auto fetched = fetch(url, service.token);
  if (!fetched) return fetched.error();
  if (fetched->status == 401 || fetched->status == 403)
    return fail(ErrorCode::permission,
                service.token.empty() ? "the service wants a token" : "the service does not take this token",
                url, "set KERNELSMITH_SERVICE_TOKEN to the token of the service");
  Json body = Json::parse(fetched->body, nullptr, /*allow_exceptions=*/false);
  if (fetched->status != 200 || !body.is_object())
    return fail(ErrorCode::bad_reply,
                "no evaluation service answers here (HTTP status " + std::to_string(fetched->status) + ")",
                url, "look whether the address is that of `kernelsmith serve`");
  return Result<Json>(boost::system::in_place_value, std::move(body));  // a Json converts to too much
}

}  // namespace

Result<std::unique_ptr<FollowedService>> FollowedService::at(ServiceAddress service) {
  while (service.url.ends_with('/')) service.url.pop_back();  // "http://" is left as "http:"
  const std::string place = place_of(service.url);
  // A name and a password in an address would be shown on the page.
  if (place.empty() || place.find('@') != place.npos || has_odd_characters(service.url))
    return fail(ErrorCode::invalid_argument, "this is no address of a service", "",
                "write http://HOST:PORT or https://HOST:PORT");
  if (has_odd_characters(service.token))
    return fail(ErrorCode::invalid_argument, "the token holds a blank or a control character",
                "KERNELSMITH_SERVICE_TOKEN");
  return std::unique_ptr<FollowedService>(new FollowedService(std::move(service)));
}

Result<std::optional<std::string>> FollowedService::look() {
  Json summary = {{"kind", "service"}, {"name", place_of(service_.url)}};
  for (const auto& [name, path] : {std::pair{"health", "/health"}, std::pair{"queue", "/queue/status"},
                                   std::pair{"workers", "/workers/status"}}) {
    auto body = json_at(service_, path);
    if (!body) return body.error();
    summary[name] = std::move(*body);
  }
  std::string text = one_line(summary);
  if (text == last_) return std::optional<std::string>();
  last_ = text;
  return std::optional(std::move(text));
}

}  // namespace kernelsmith::ui
