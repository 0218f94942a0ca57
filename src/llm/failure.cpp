// Interprets a server's error: which Error it is, and whether a retry helps.
// Complaint.EachOfItsWordsHasAMeaning
#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <optional>

#include <kernelsmith/llm/retry.hpp>

#include "complaint.hpp"
#include "headers.hpp"
#include "wire.hpp"

namespace kernelsmith {
namespace llm {
namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// Turns names and sentences into plain words: "InvalidApiKey" and "invalid_api-key" become "invalid api
/// key".
std::string plain(std::string_view text) {
  std::string words;
  bool was_lower = false;
  for (const char c : text) {
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (upper && was_lower) words += ' ';
    was_lower = std::islower(static_cast<unsigned char>(c)) != 0;
    words += c == '_' || c == '-' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

/// Phrases of OpenAI, Anthropic, Google, xAI, vLLM, SGLang, llama.cpp and LiteLLM for a prompt that is too
/// long.
bool is_context_length(std::string_view words) {
  return contains_any(
      words, {"context length", "context window", "context size", "prompt is too long", "input is too long",
              "too many input tokens", "maximum prompt length", "input token count"});
}

/// Phrases of OpenAI, Anthropic, DeepSeek, OpenRouter, xAI and LiteLLM for an account without credit.
bool is_quota(std::string_view kind, std::string_view words) {
  return contains_any(kind, {"billing", "budget exceeded"}) ||
         contains_any(words, {"insufficient quota", "exceeded your current quota",
                              "credit balance is too low", "insufficient balance", "insufficient credit",
                              "payment required", "budget has been exceeded", "used all available credits"});
}

/// Phrases of Google, xAI, DashScope, DeepSeek and gateways for a refused key with an unusual status.
bool is_key(std::string_view words) {
  return contains_any(
      words, {"invalid api key", "incorrect api key", "api key not valid", "no api key", "missing api key",
              "authentication error", "authentication fail", "unauthenticated", "unauthorized"});
}

/// The HTTP status that corresponds to an error within a stream or a 200.
int status_of(std::string_view kind) {
  if (contains_any(kind, {"rate limit", "resource exhausted", "too many requests"})) return 429;
  if (contains_any(kind, {"overloaded"})) return 529;
  if (contains_any(kind, {"permission"})) return 403;
  if (contains_any(kind, {"not found"})) return 404;
  if (contains_any(kind, {"invalid request", "invalid prompt", "bad request"})) return 400;
  return 500;
}

using Pause = std::optional<std::chrono::milliseconds>;

/// The text of a string or a number.
std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : std::string();
}

/// The pause in the upstream's headers, which a gateway (OpenRouter) quotes in its error.
Pause quoted_pause(const Json& object, WallClock now) {
  Headers headers;
  for (const auto& [name, value] : object.items()) add_header(headers, name + ":" + text_of(value));
  return std::max({retry_after(headers, now), rate_limit_pause(headers, now), reset_pause(headers, now)});
}

/// The longest pause that the body of an error asks for, in `retryDelay` (Google, "25s"), `retry_after` or
/// quoted headers. AskedPause.IsFoundInABody
Pause asked_pause(const Json& answer, WallClock now) {
  Pause longest;
  if (!answer.is_structured()) return longest;
  for (const auto& [key, value] : answer.items()) {
    if (key == "retryDelay" || key == "retry_after") longest = std::max(longest, duration(text_of(value)));
    if (key == "headers" && value.is_object()) longest = std::max(longest, quoted_pause(value, now));
    longest = std::max(longest, asked_pause(value, now));
  }
  return longest;
}

CallFailure out_of_money(const std::string& said) {
  return lasting(ErrorCode::rate_limited, "the account's money or quota is used up: " + said,
                 "see the provider's billing page");
}

/// The failure if the text identifies the error, whatever its status; else empty.
/// Complaint.ItsWordsTellWhatItIs
std::optional<CallFailure> told_by_words(std::string_view kind, std::string_view words,
                                         const std::string& said) {
  if (is_context_length(words))
    return lasting(ErrorCode::too_long, "the prompt does not fit into the model's context: " + said,
                   "lower the prompt's token budget or the output limit");
  if (is_quota(kind, words)) return out_of_money(said);
  return std::nullopt;
}

CallFailure refused_key(const std::string& said) {
  return lasting(ErrorCode::permission, "the server refused the key: " + said,
                 "check the environment variable that holds the key, and the key's permissions");
}

CallFailure too_fast(const std::string& said) {
  return {fail(ErrorCode::rate_limited, "the server limits the rate of calls: " + said, "",
               "lower proposer.requests_per_minute or proposer.concurrency"),
          true,
          true,
          {}};
}

/// `soon` means that the server asks for a pause that we accept. It tells a limit per minute, which Google
/// also calls a quota, from a quota that is used up.
/// AskedPause.MakesWordsOfAQuotaALimitOfRates
CallFailure classify(int status, const std::string& kind, const std::string& words, const std::string& said,
                     bool soon) {
  if (status == 402) return out_of_money(said);
  if (status == 429 && soon && !is_context_length(words)) return too_fast(said);
  if (auto told = told_by_words(kind, words, said)) return std::move(*told);
  if (status == 429) return too_fast(said);
  if (status == 503 || status == 529)
    return {fail(ErrorCode::server_failed, "the server is overloaded: " + said), true, true, {}};
  if (status == 408 || status == 409 || status == 425 || status >= 500)
    return {fail(ErrorCode::server_failed, "the server failed: " + said), true, false, {}};
  if (status == 401 || status == 403 || ((status == 400 || status == 422) && is_key(words)))
    return refused_key(said);
  if (status == 404)
    return lasting(ErrorCode::not_found, "the server knows no such model or path: " + said,
                   "check the model's name and the base URL, which usually ends in /v1");
  if (status >= 300 && status < 400)
    return lasting(ErrorCode::bad_reply, "the server redirects, which is not followed: " + said,
                   "give the final address as the base URL");
  return lasting(ErrorCode::invalid_argument, "the server refused the request: " + said,
                 "leave out settings that the model does not accept");
}

}  // namespace

CallFailure lasting(ErrorCode code, std::string message, std::string hint) {
  return {fail(code, std::move(message), "", std::move(hint)), false, false, {}};
}

CallFailure failure_of(const Json& answer, int status, Pause asked) {
  const Complaint complaint = complaint_in(answer);
  const std::string kind = plain(complaint.kind);
  std::string said = complaint.message.empty() ? flat_text(answer) : complaint.message;
  const std::string words = kind + " " + plain(said);
  if (said.empty()) said = "no reason given";
  if (status != 0) said = "status " + std::to_string(status) + ": " + said;
  if (status == 0) status = complaint.status;  // some gateways put the upstream status into the body
  if (status == 0) status = is_key(words) ? 401 : status_of(kind);
  const auto pause = asked ? asked : asked_pause(answer, std::chrono::system_clock::now());
  const bool soon = pause && *pause <= RetryPolicy{}.longest_asked_pause;
  CallFailure failure = classify(status, kind, words, said, soon);
  if (failure.transient) failure.retry_after = pause;
  return failure;
}

CallFailure no_reply(const Json& answer, const std::string& what) {
  if (complains(answer)) return failure_of(answer, 0);
  const std::string text = flat_text(answer);
  return no_reply(text, bad_reply(text.empty() ? what : what + ": " + text));
}

CallFailure no_reply(std::string_view text, const CallFailure& otherwise) {
  const std::string words = plain(text);
  const std::string& said = otherwise.error.message;
  if (auto told = told_by_words("", words, said)) return std::move(*told);
  return is_key(words) ? refused_key(said) : otherwise;
}

CallFailure broken_off(const std::string& reason) {
  const bool overloaded = plain(reason) == "insufficient system resource";  // a reason of DeepSeek
  return {fail(ErrorCode::server_failed, "the server broke the reply off: \"" + reason + "\""),
          true,
          overloaded,
          {}};
}

std::optional<CallFailure> broken_off_by(const std::string& reason) {
  // The reasons that vLLM, SGLang, OpenRouter, Mistral, DeepSeek and watsonx give, and other spellings of
  // them.
  constexpr std::array kReasons{"abort",     "aborted",  "error",  "insufficient system resource",
                                "cancelled", "canceled", "failed", "timeout",
                                "time limit"};
  if (std::ranges::find(kReasons, plain(reason)) == kReasons.end()) return std::nullopt;
  return broken_off(reason);
}

}  // namespace llm

CallFailure decode_failure(int status, std::string_view body,
                           std::optional<std::chrono::milliseconds> asked) {
  const auto document = llm::parse_json(body);
  return llm::failure_of(document ? *document : llm::Json(llm::printable(body)), status, asked);
}

void throw_exception_from_error(const CallFailure& failure, const boost::source_location&) {
  throw ErrorException(failure.error);
}

}  // namespace kernelsmith
