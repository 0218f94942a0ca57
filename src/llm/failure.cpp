// What a server's error means: which Error, and whether trying again helps.
#include <algorithm>
#include <array>
#include <cctype>

#include "wire.hpp"

namespace kernelsmith {
namespace llm {
namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// How OpenAI, Anthropic, vLLM, SGLang, llama.cpp and LiteLLM say that a prompt is too long.
bool is_context_length(std::string_view kind, std::string_view message) {
  return contains_any(kind, {"context_length", "context_window", "exceed_context_size"}) ||
         contains_any(message, {"context length", "context window", "context size", "prompt is too long",
                                "input is too long", "too many input tokens"});
}

bool is_quota(std::string_view kind, std::string_view message) {
  return contains_any(kind, {"insufficient_quota", "billing"}) ||
         contains_any(message, {"exceeded your current quota", "credit balance is too low"});
}

/// The status that an error within a stream would have had.
int status_of(std::string_view kind) {
  if (contains_any(kind, {"rate_limit"})) return 429;
  if (contains_any(kind, {"overloaded"})) return 529;
  if (contains_any(kind, {"authentication"})) return 401;
  if (contains_any(kind, {"permission"})) return 403;
  if (contains_any(kind, {"not_found"})) return 404;
  if (contains_any(kind, {"invalid_request", "invalid_prompt", "bad_request"})) return 400;
  return 500;
}

/// Never retried: the same request gets the same answer.
CallFailure lasting(ErrorCode code, std::string message, std::string hint) {
  return {fail(code, std::move(message), "", std::move(hint)), false, false, {}};
}

CallFailure classify(int status, const std::string& kind, const std::string& message,
                     const std::string& said) {
  if (is_context_length(kind, message))
    return lasting(ErrorCode::too_long, "the prompt does not fit into the model's context: " + said,
                   "lower the prompt's token budget or the output limit");
  if (is_quota(kind, message))
    return lasting(ErrorCode::rate_limited, "the account's quota is used up: " + said,
                   "see the provider's billing page");
  if (status == 429)
    return {fail(ErrorCode::rate_limited, "the server limits the rate of calls: " + said, "",
                 "lower proposer.requests_per_minute or proposer.concurrency"),
            true,
            true,
            {}};
  if (status == 503 || status == 529)
    return {fail(ErrorCode::server_failed, "the server is overloaded: " + said), true, true, {}};
  if (status == 408 || status == 409 || status == 425 || status >= 500)
    return {fail(ErrorCode::server_failed, "the server failed: " + said), true, false, {}};
  if (status == 401 || status == 403)
    return lasting(ErrorCode::permission, "the server refused the key: " + said,
                   "check the environment variable that holds the key, and what the key may do");
  if (status == 404)
    return lasting(ErrorCode::not_found, "the server knows no such model or path: " + said,
                   "check the model's name and the base URL, which usually ends in /v1");
  if (status >= 300 && status < 400)
    return lasting(ErrorCode::bad_reply, "the server redirects, which is not followed: " + said,
                   "give the final address as the base URL");
  return lasting(ErrorCode::invalid_argument, "the server refused the request: " + said,
                 "what a model does not take can be left out in its settings");
}

}  // namespace

CallFailure failure_of(const Json& error, int status) {
  const std::string message = error.is_string() ? error.get<std::string>() : text_at(error, "message");
  const std::string named = text_at(error, "type") + " " + text_at(error, "code");
  const std::string kind = lower(named);
  std::string said = message;
  if (said.empty() && named != " ") said = named;
  if (said.empty()) said = "no reason given";
  if (status != 0) said = "status " + std::to_string(status) + ": " + said;
  // Some gateways put the upstream's status where others put a name.
  if (const auto code = tokens_at(error, "code"); status == 0 && code && *code >= 400 && *code < 600)
    status = static_cast<int>(*code);
  return classify(status != 0 ? status : status_of(kind), kind, lower(message), said);
}

}  // namespace llm

CallFailure decode_failure(int status, std::string_view body) {
  const auto document = llm::parse_json(body);
  if (!document) return llm::failure_of(llm::Json(llm::printable(body)), status);
  const llm::Json& error = llm::member(*document, "error");
  return llm::failure_of(error.is_null() ? *document : error, status);
}

void throw_exception_from_error(const CallFailure& failure, const boost::source_location&) {
  throw ErrorException(failure.error);
}

}  // namespace kernelsmith
