// JSON as servers send it: read leniently, because gateways add and drop keys, but never trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith::llm {

using Json = nlohmann::json;

/// Half a surrogate pair is read as U+FFFD. Empty for broken syntax, bytes that are not UTF-8 and for more
/// than a reply holds: nesting deeper than 64 levels, 2,000,000 values.
std::optional<Json> parse_json(std::string_view text);

/// The member, or null if `object` is no object or lacks it.
const Json& member(const Json& object, const char* key);

/// The member `error`; null if it says nothing, as with servers that always send the key.
/// Stream.AnErrorThatSaysNothingIsNone
const Json& error_in(const Json& document);

/// The object of a list that is an error, or its only one, because gateways put either into a list;
/// any other document as it is. Complaint.AReplyWithinAListIsTaken
const Json& out_of_list(const Json& document);

/// The string at `key`; empty if there is none.
std::string text_at(const Json& object, const char* key);

/// What a server reported of a call's tokens, key by key. Anything but a count is empty.
struct TokenCounts {
  std::optional<std::uint64_t> input, cached, cache_write, output, reasoning;
};

/// The number of tokens at `key`: a whole number, perhaps written as 10.0, that one call can have. Anything
/// else counts as missing: taken for 0 it would cost nothing. Decode.UsageThatIsNoCountIsNotTold
std::optional<std::uint64_t> tokens_at(const Json& object, const char* key);

/// Empty if input or output was not reported; a prompt has tokens, so an input of 0 is no count. Parts are
/// never more than the whole. Decode.PartsOfTheUsageAreNeverMoreThanTheWhole
std::optional<Usage> usage_from(const TokenCounts& counts);

/// Adds a list of {token, logprob, id?}, as OpenAI's protocols and llama.cpp write it. What has another form
/// is skipped.
void add_logprobs(const Json& list, TokenTrace& trace);

/// Adds a list of whole numbers.
void add_ids(const Json& list, std::vector<std::uint64_t>& ids);

/// `bytes` with everything that is no printable ASCII as a blank, for what is not UTF-8: no key holds one, so
/// that a key between them is still found.
std::string printable(std::string_view bytes);

/// A failure that no retry mends: the same request gets the same answer.
CallFailure lasting(ErrorCode code, std::string message, std::string hint = {});

/// A transient bad_reply: "the server's answer WHAT".
CallFailure bad_reply(std::string what);

/// What a server's error stands for, in whatever form it came; `status` 0 if it came within a stream or a
/// 200. The server is quoted whole and as it came: redacted() comes before anybody sees it. `asked`: the
/// pause that its headers ask for.
CallFailure failure_of(const Json& answer, int status, std::optional<std::chrono::milliseconds> asked = {});

/// What an answer that is no reply stands for: its error, else a bad_reply with WHAT and its beginning.
CallFailure no_reply(const Json& answer, const std::string& what);

/// Likewise of a text: `otherwise`, which quotes it, unless its words tell more.
CallFailure no_reply(std::string_view text, const CallFailure& otherwise);

/// The server broke the reply off, so that what has come cannot be used: another attempt may do better.
CallFailure broken_off(const std::string& reason);

/// Likewise, if the reason to end is one that only servers have, such as "abort"; else empty.
/// BrokenOff.AReasonOfTheServersIsAFailure
std::optional<CallFailure> broken_off_by(const std::string& reason);

}  // namespace kernelsmith::llm
