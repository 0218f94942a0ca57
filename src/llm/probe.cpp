#include <future>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <kernelsmith/llm/probe.hpp>

#include "attempt.hpp"
#include "complaint.hpp"
#include "redaction.hpp"
#include "transport.hpp"
#include "wire.hpp"

namespace kernelsmith {
namespace {

using llm::Json;

constexpr std::size_t kMostBytes = std::size_t{8} << 20;
constexpr int kOk = 200;

struct Answer {
  int status = 0;
  std::string body;
};

/// One GET, and what came of it.
class Get final : public llm::HttpListener {
 public:
  bool on_header(std::string_view line) override {
    if (const int status = llm::status_in(line)) answer.status = status;
    return true;
  }
  bool on_body(std::string_view bytes) override {
    answer.body += bytes;
    return answer.body.size() <= kMostBytes;
  }
  void on_end(CURLcode code, std::string detail, bool) override {
    ended = true;
    // An answer that is too long to read is still an answer.
    if (code != CURLE_OK && answer.body.size() <= kMostBytes) failure = llm::failure_from(code, detail).error;
  }

  Answer answer;
  bool ended = false;
  std::optional<Error> failure;
};

Result<Answer> get(const Endpoint& endpoint, const CallLimits& limits, const std::stop_token& stop) {
  boost::asio::io_context context{1};
  llm::Transport transport(context, 1);
  Get get;
  auto request = llm::request_to(endpoint, limits, "/models", "");
  request.get = true;
  auto* exchange = transport.start(std::move(request), get);
  boost::asio::steady_timer timer(context, limits.connect + limits.first_token);
  bool late = false;
  timer.async_wait([&](const boost::system::error_code& error) { late = !error; });
  const std::stop_callback wake(stop, [&] { boost::asio::post(context, [] {}); });
  while (!get.ended && !late && !stop.stop_requested() && context.run_one() > 0) {
  }
  if (!get.ended) {
    transport.cancel(exchange);
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped before the server answered");
    return fail(ErrorCode::timeout, "the server did not answer in time");
  }
  if (get.failure) return *get.failure;
  return std::move(get.answer);
}

/// Runs on a thread that blocks signals, because closing a connection that the server has closed raises
/// SIGPIPE.
Result<Answer> get_aside(const Endpoint& endpoint, const CallLimits& limits, const std::stop_token& stop) {
  const auto asked = [&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    return get(endpoint, limits, stop);
  };
  return std::async(std::launch::async, asked).get();
}

/// The names in {"data": [{"id": NAME}, ...]}, the format of all servers. Removes the key from them, because
/// a server can put the received key into a name.
std::optional<std::vector<std::string>> names_in(const Answer& answer, const Secret& key) {
  const auto document = answer.status == kOk ? llm::parse_json(answer.body) : std::nullopt;
  if (!document) return std::nullopt;
  const Json& data = llm::member(*document, "data");
  if (!data.is_array()) return std::nullopt;
  std::vector<std::string> names;
  for (const Json& row : data)
    if (std::string name = llm::text_at(row, "id"); !name.empty())
      names.push_back(key.redact(std::move(name)));
  return names;
}

/// The error in a 200 without a list, if it is about the key or the account; other errors may be about the
/// path.
std::optional<Error> refusal_in(const Answer& answer) {
  const auto document = llm::parse_json(answer.body);
  if (!document || !llm::is_error(*document)) return std::nullopt;
  const CallFailure failure = llm::failure_of(*document, 0);
  if (failure.transient || failure.error.code == ErrorCode::not_found) return std::nullopt;
  return failure.error;
}

/// Whether the status is about this path, and not about the server or the key.
bool has_no_list(int status) { return status == 400 || status == 404 || status == 405 || status == 501; }

}  // namespace

Result<ServerProbe> probe_server(Endpoint endpoint, const CallLimits& limits, const std::stop_token& stop) {
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  if (const Status ok = check_endpoint(endpoint); !ok) return ok.error();
  const auto failed = [&](Error error) {
    error = llm::without_key(std::move(error), endpoint);
    if (error.where.empty()) error.where = endpoint.base_url;
    return llm::redacted(std::move(error), endpoint.key);
  };
  auto answer = get_aside(endpoint, limits, stop);
  if (!answer) return failed(answer.error());
  if (answer->status != kOk) {
    Error error = decode_failure(answer->status, answer->body).error;
    // Some servers refuse a key with a 400.
    if (has_no_list(answer->status) && error.code != ErrorCode::permission) return ServerProbe{};
    return failed(std::move(error));
  }
  if (const auto refused = refusal_in(*answer)) return failed(*refused);
  ServerProbe probe{names_in(*answer, endpoint.key), false};
  if (endpoint.key.empty() || !probe.models) return probe;
  Endpoint nobody = endpoint;
  nobody.key = Secret();
  const auto without = get_aside(nobody, limits, stop);
  probe.key_checked = without && (without->status == 401 || without->status == 403);
  return probe;
}

}  // namespace kernelsmith
