#include "asked_pause.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace kernelsmith::llm {
namespace {

using std::chrono::milliseconds;
using Pause = std::optional<milliseconds>;

constexpr int kMostQuoted = 4;              // JSON in a string of JSON, and so on
constexpr std::size_t kMostValues = 1'000;  // of a document; an error is small
constexpr std::size_t kMostText = 8'000;    // of a string

/// Larger numbers are instants, in seconds or milliseconds, because no server asks for a pause of 30 years.
constexpr double kSecondsOfEpoch = 1e9, kMillisecondsOfEpoch = 1e12;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// Normalises names such as "X-RateLimit-Reset", "retryDelay" and "retry_delay".
std::string plain_name(std::string_view name) {
  std::string result = lower(name);
  std::erase_if(result, [](char c) { return c == '-' || c == '_' || c == ' '; });
  return result;
}

bool names_pause(std::string_view name) {
  return name.starts_with("retryafter") || name.starts_with("retrydelay") || name.starts_with("retryin");
}

bool in_milliseconds(std::string_view name) { return name.ends_with("ms") || name.ends_with("milliseconds"); }

double epoch(WallClock now) { return std::chrono::duration<double>(now.time_since_epoch()).count(); }

Pause from_number(double number, std::string_view name, WallClock now) {
  if (number >= kMillisecondsOfEpoch) return from_seconds(number / 1000 - epoch(now));
  if (number >= kSecondsOfEpoch) return from_seconds(number - epoch(now));
  if (number < 0) return std::nullopt;
  return from_seconds(in_milliseconds(name) ? number / 1000 : number);
}

/// The pause in a member with the name of a pause or a reset: a number, a text, or protobuf's Duration.
Pause from_value(const Json& value, std::string_view name, WallClock now) {
  if (value.is_number()) return from_number(value.get<double>(), name, now);
  if (value.is_object() && member(value, "seconds").is_number()) {
    const Json& nanos = member(value, "nanos");
    return from_seconds(member(value, "seconds").get<double>() +
                        (nanos.is_number() ? nanos.get<double>() / 1e9 : 0));
  }
  if (value.is_array() && !value.empty())
    return from_value(value.front(), name, now);  // limit of a header's values
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  if (const auto number = whole_number(text)) return from_number(*number, name, now);
  if (const auto pause = duration(text)) return pause;
  if (const auto instant = rfc3339(text)) return from_seconds(*instant - epoch(now));
  if (const auto date = http_date(text)) return from_seconds(*date - epoch(now));
  return std::nullopt;
}

/// "s" for "s", "sec", "secs" and "seconds", and so on; empty for other words.
std::string_view unit_of(std::string_view word) {
  if (word == "ms") return word;
  if (word.size() > 1 && word.ends_with('s')) word.remove_suffix(1);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kUnits{
      {{"second", "s"}, {"minute", "m"}, {"hour", "h"}, {"millisecond", "ms"}}};
  const auto unit =
      std::ranges::find_if(kUnits, [&](const auto& one) { return one.first.starts_with(word); });
  return word.empty() || unit == kUnits.end() ? std::string_view{} : unit->second;
}

/// A duration at the beginning of a text: "6s", "6.5 seconds", "1 minute and 3 seconds", "1m2.5s".
Pause spoken_duration(std::string_view text) {
  const auto skip = [](std::string_view& rest, std::string_view what) {
    while (rest.starts_with(what)) rest.remove_prefix(what.size());
  };
  std::string short_form;
  for (;;) {
    skip(text, " ");
    skip(text, "and ");
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    std::string_view rest = text.substr(digits);
    skip(rest, " ");
    const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto letters = static_cast<std::size_t>(std::ranges::find_if_not(rest, letter) - rest.begin());
    const std::string_view unit = unit_of(rest.substr(0, letters));
    if (digits == 0 || unit.empty()) return duration(short_form);
    short_form.append(text.substr(0, digits)).append(unit);
    text = rest.substr(letters);
  }
}

/// A pause in a sentence: "Please try again in 6s", "retry after 10 seconds", "wait for 20 seconds".
Pause from_sentence(const std::string& said) {
  const std::string text = lower(std::string_view(said).substr(0, kMostText));
  Pause longest;
  for (const std::string_view phrase : {"again in ", "again after ", "retry in ", "retry after ", "wait ",
                                        "wait for ", "reset in ", "resets in "})
    for (auto at = text.find(phrase); at != text.npos; at = text.find(phrase, at + 1))
      longest = std::max(longest, spoken_duration(std::string_view(text).substr(at + phrase.size())));
  return longest;
}

struct Found {
  Pause asked, reset, said;
};

/// Headers that may be quoted in an object.
Headers headers_in(const Json& object) {
  Headers headers;
  for (const auto& [name, value] : object.items())
    if (value.is_primitive() && headers.size() < kMostValues)
      headers[lower(name)] = value.is_string() ? value.get<std::string>() : value.dump();
  return headers;
}

/// A reset that comes with every answer is ignored while something is left.
Pause until_reset(const Headers& headers, WallClock now) {
  Pause reset;
  for (const auto& [name, value] : headers) {
    if (plain_name(name).ends_with("ratelimitremaining") && whole_number(value) > 0.0) return std::nullopt;
    if (plain_name(name).ends_with("ratelimitreset")) reset = from_value(Json(value), "", now);
  }
  return reset;
}

class Search {
 public:
  explicit Search(WallClock now) : now_(now) {}

  void look(const Json& value, int quoted = 0) {
    if (++values_ > kMostValues) return;
    if (value.is_string()) return look_in_text(value.get_ref<const std::string&>(), quoted);
    if (value.is_object()) look_at_headers(headers_in(value));
    if (!value.is_structured()) return;
    for (const auto& [key, one] : value.items()) {
      const std::string name = value.is_object() ? plain_name(key) : "";
      if (names_pause(name)) found_.asked = std::max(found_.asked, from_value(one, name, now_));
      look(one, quoted);
      if (values_ > kMostValues) return;
    }
  }

  Pause best() const { return found_.asked ? found_.asked : found_.reset ? found_.reset : found_.said; }

 private:
  void look_at_headers(const Headers& headers) {
    found_.reset = std::max({found_.reset, until_reset(headers, now_), rate_limit_pause(headers, now_)});
  }

  void look_in_text(const std::string& text, int quoted) {
    const auto begin = text.find_first_of("{["), end = text.find_last_of("}]");
    if (begin != text.npos && end != text.npos && begin < end && quoted < kMostQuoted)
      if (const auto inner = parse_json(std::string_view(text).substr(begin, end + 1 - begin)))
        return look(*inner, quoted + 1);
    found_.said = std::max(found_.said, from_sentence(text));
  }

  WallClock now_;
  std::size_t values_ = 0;
  Found found_;
};

}  // namespace

std::optional<milliseconds> asked_pause(const Json& answer, WallClock now) {
  Search search(now);
  search.look(answer);
  return search.best();
}

std::optional<milliseconds> reset_pause(const Headers& headers, WallClock now) {
  const std::chrono::duration<double> clock(clock_of(headers, now));
  return until_reset(headers, WallClock(std::chrono::duration_cast<WallClock::duration>(clock)));
}

}  // namespace kernelsmith::llm
