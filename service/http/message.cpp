// Responses: JSON bodies, errors with their codes, and events of a stream.
#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <utility>

#include <boost/beast/http/status.hpp>
#include <nlohmann/json.hpp>

#include <kernelsmith/service/http_message.hpp>

#include "exchange.hpp"

namespace kernelsmith::http {
namespace {

std::string_view code_of(unsigned status) {
  if (status == 429 || status == 503 || status == 507) return "RESOURCE_ERROR";
  return status < 500 ? "VALIDATION_ERROR" : "SYSTEM_ERROR";
}

/// A field of an event. Line breaks would begin another one.
void put_field(std::string& event, std::string_view name, std::string_view value) {
  event += name;
  event += ": ";
  for (const char c : value)
    if (c != '\n' && c != '\r' && c != '\0') event += c;
  event += '\n';
}

}  // namespace

std::optional<std::string_view> Request::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &Fields::value_type::first);
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

Response error_response(unsigned status, std::string_view detail, std::string_view hint) {
  nlohmann::ordered_json body = {
      {"detail", detail},
      {"error_code", code_of(status)},
      {"error", std::string(boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status)))},
      {"message", detail},
      {"timestamp", iso_time(std::chrono::system_clock::now())}};
  if (!hint.empty()) body["hint"] = hint;
  return {.status = status, .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

std::string json_quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

struct EventStream::Ending {
  explicit Ending(std::shared_ptr<Exchange> of) : exchange(std::move(of)) {}
  ~Ending() { exchange->end_stream(); }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  std::shared_ptr<Exchange> exchange;
};

EventStream::EventStream(std::shared_ptr<Exchange> exchange)
    : exchange_(std::move(exchange)), ending_(exchange_ ? std::make_shared<Ending>(exchange_) : nullptr) {}

bool EventStream::send(std::string_view event, std::string_view data, std::string_view id) const {
  if (!exchange_) return false;
  std::string text;
  if (!event.empty()) put_field(text, "event", event);
  if (!id.empty()) put_field(text, "id", id);
  for (bool more = true; more;) {
    const std::size_t end = data.find('\n');
    more = end != data.npos;
    put_field(text, "data", data.substr(0, end));
    if (more) data.remove_prefix(end + 1);
  }
  return exchange_->push(text + '\n');
}

bool EventStream::closed() const { return !exchange_ || exchange_->is_closed(); }

struct Responder::Promise {
  explicit Promise(std::shared_ptr<Exchange> of) : exchange(std::move(of)) {}
  ~Promise() { exchange->answer(error_response(500, "the request was dropped without an answer")); }
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;

  std::shared_ptr<Exchange> exchange;
};

Responder::Responder(std::shared_ptr<Exchange> exchange)
    : exchange_(std::move(exchange)), promise_(std::make_shared<Promise>(exchange_)) {}

bool Responder::send(Response response) const { return exchange_->answer(std::move(response)); }

EventStream Responder::stream() const { return EventStream(exchange_->begin_stream() ? exchange_ : nullptr); }

std::string iso_time(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = ms / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  return std::string(date.data()) + "." + std::to_string(1000 + ms % 1000).substr(1) + "Z";
}

}  // namespace kernelsmith::http
