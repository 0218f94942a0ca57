#include <algorithm>
#include <utility>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/code/lexer.hpp>

#include "characters.hpp"
#include "tune_comment.hpp"

namespace kernelsmith {
namespace {

using namespace detail;
using Tokens = std::vector<Token>;

bool is_value(const Token& token) {
  return token.kind == TokenKind::identifier || token.kind == TokenKind::number ||
         token.kind == TokenKind::string;
}

bool is_sign(std::string_view text) { return text == "-" || text == "+"; }

bool begins_number(std::string_view text) {
  if (is_sign(text.substr(0, 1)) || text.starts_with('.')) text.remove_prefix(1);
  return !text.empty() && is_digit(text.front());
}

// The code tokens before the comment on its line.
Tokens code_before(std::string_view text, Language language, const Tokens& tokens, std::size_t line,
                   std::size_t offset) {
  Tokens code;
  if (language == Language::other) {
    const std::size_t newline = text.substr(0, offset).rfind('\n');
    const std::size_t begin = newline == text.npos ? 0 : newline + 1;
    code = tokenize(text.substr(begin, offset - begin), language);
    for (Token& token : code) token.offset += begin;
    return code;
  }
  auto token = std::ranges::lower_bound(tokens, offset, {}, &Token::offset);
  while (token != tokens.begin() && (token - 1)->line == line) code.push_back(*--token);
  std::erase_if(code,
                [](const Token& t) { return t.kind == TokenKind::comment || t.kind == TokenKind::indent; });
  std::ranges::reverse(code);
  return code;
}

// A sign belongs to the next number if it cannot be a binary operator.
bool has_sign(std::string_view text, const Tokens& code, std::size_t at) {
  if (at == 0 || code[at].kind != TokenKind::number || !is_sign(code[at - 1].in(text))) return false;
  if (at == 1) return true;
  const Token& before = code[at - 2];
  const std::string_view word = before.in(text);
  if (before.kind == TokenKind::operation) return word != ")" && word != "]" && word != "}";
  return !is_value(before) || word == "return";
}

// The constant's name: `name: type = value`, `#define name value`, `name = value`, `name{value}`.
std::string name_in(std::string_view text, Language language, const Tokens& code, std::size_t value) {
  if (language == Language::python && code.size() > 1 && code[1].in(text) == ":") {
    return std::string(code[0].in(text));
  }
  std::size_t at = value;
  if (at > 0 && code[at - 1].kind == TokenKind::operation) --at;
  const bool named = at > 0 && code[at - 1].kind == TokenKind::identifier;
  return named ? std::string(code[at - 1].in(text)) : std::string();
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (!is_blank(c) && c != '\n') {
      word.push_back(c);
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

bool is_listable(const std::string& value, Language language) {
  Tokens tokens = tokenize(value, language);
  std::erase_if(tokens, [](const Token& token) { return token.kind == TokenKind::line_end; });
  if (tokens.size() == 1) return is_value(tokens[0]);
  return tokens.size() == 2 && is_sign(tokens[0].in(value)) && tokens[1].kind == TokenKind::number;
}

// What is wrong with the list; empty if nothing is.
std::string list_fault(const std::vector<std::string>& values, Language language) {
  if (values.empty()) return "@tune without values";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_listable(values[i], language))
      return "the value '" + values[i] + "' is neither a literal nor an identifier";
    if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) !=
        values.begin() + static_cast<std::ptrdiff_t>(i)) {
      return "the value '" + values[i] + "' is listed twice";
    }
  }
  return {};
}

// The knobs of one file.
class KnobReader {
 public:
  KnobReader(const SourceFile& file, std::size_t index, const std::vector<EvolveBlock>& regions)
      : file_(file), index_(index), regions_(regions), language_(language_of(file.path)) {}

  Status read(std::vector<Knob>& knobs) const {
    const Tokens tokens = tokenize(file_.text, language_);
    for (const TuneComment& comment : tune_comments(file_.text, language_, tokens)) {
      const Tokens code = code_before(file_.text, language_, tokens, comment.line, comment.offset);
      if (!comment.leads && code.empty()) continue;  // this is prose about knobs
      Result<Knob> knob = knob_of(comment, code);
      if (!knob) return knob.error();
      knobs.push_back(std::move(*knob));
    }
    return {};
  }

  /// Reads a comment only if the constant before it is one of its values, or if the values begin like
  /// numbers, because prose may contain "@tuned".
  void read(std::vector<NearKnob>& knobs) const {
    const Tokens tokens = tokenize(file_.text, language_);
    for (const NearTuneComment& comment : near_tune_comments(file_.text, language_, tokens)) {
      const Tokens code = code_before(file_.text, language_, tokens, comment.line, comment.offset);
      const auto last = std::ranges::find_if(code.rbegin(), code.rend(), is_value);
      const auto& values = comment.values;
      const bool lists =
          values.empty()
              ? last != code.rend()
              : begins_number(values.front()) ||
                    (last != code.rend() && std::ranges::find(values, last->in(file_.text)) != values.end());
      if (!lists || !is_open(comment.offset)) continue;
      constexpr std::size_t kLongest = 60;
      std::string meant = "@tune";
      for (const std::string& value : values) meant += " " + value;
      knobs.push_back({index_, comment.line, std::string(comment.written.substr(0, kLongest)),
                       values.empty() ? "@tune and the values to try" : meant.substr(0, kLongest)});
    }
  }

 private:
  Error error(std::size_t line, std::string message, std::string hint) const {
    return fail(ErrorCode::bad_input, std::move(message), file_.path + ":" + std::to_string(line),
                std::move(hint));
  }

  bool is_open(std::size_t offset) const {
    return std::ranges::any_of(regions_, [&](const EvolveBlock& region) {
      return region.file == index_ && region.begin <= offset && offset < region.end;
    });
  }

  Result<Knob> knob_of(const TuneComment& comment, const Tokens& code) const {
    if (!comment.leads) {
      return error(comment.line, "@tune is not the first word of its comment",
                   "write it as `constexpr int kTile = 64;  // @tune 8 16 32 64`");
    }
    const auto last = std::ranges::find_if(code.rbegin(), code.rend(), is_value);
    if (last == code.rend()) {
      return error(comment.line, "no constant before the @tune comment",
                   "put the comment after the constant");
    }
    Knob knob;
    knob.file = index_;
    knob.line = comment.line;
    knob.values = split(comment.values);
    if (std::string fault = list_fault(knob.values, language_); !fault.empty()) {
      return error(comment.line, std::move(fault), "list each value once, separated by spaces");
    }
    auto at = static_cast<std::size_t>(code.rend() - last) - 1;
    const std::size_t end = code[at].offset + code[at].length;
    if (has_sign(file_.text, code, at)) --at;
    knob.offset = code[at].offset;
    knob.length = end - knob.offset;
    knob.name = name_in(file_.text, language_, code, at);
    const std::string value = file_.text.substr(knob.offset, knob.length);
    const auto current = std::ranges::find(knob.values, value);
    if (current == knob.values.end()) {
      return error(comment.line, "the value '" + value + "' is not in its @tune list",
                   "add it to the list, or start from a listed value");
    }
    knob.current = static_cast<std::size_t>(current - knob.values.begin());
    if (!is_open(knob.offset)) {
      return error(comment.line, "a knob outside the EVOLVE-BLOCKs",
                   "move it into a block, or drop its @tune");
    }
    return knob;
  }

  const SourceFile& file_;
  std::size_t index_;
  const std::vector<EvolveBlock>& regions_;
  Language language_;
};

void set(std::string& text, const Knob& knob, const std::string& value) {
  // In `x -8`, the value -4 must not give `x --4`.
  const bool fuses =
      is_sign(value.substr(0, 1)) && knob.offset > 0 && is_sign(text.substr(knob.offset - 1, 1));
  text.replace(knob.offset, knob.length, fuses ? " " + value : value);
}

// Whether `knobs` equal `before` with the values of `choice`.
bool took(const std::vector<Knob>& knobs, const std::vector<Knob>& before,
          std::span<const std::size_t> choice) {
  if (knobs.size() != before.size()) return false;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    if (knobs[i].values != before[i].values || knobs[i].current != choice[i]) return false;
  }
  return true;
}

// "kRows is 8, kTile is 16": the knobs that a rule names.
std::string values_in(std::string_view rule, const std::vector<Knob>& knobs) {
  std::string text;
  for (const Knob& knob : knobs)
    for (const Token& token : tokenize(rule, Language::cpp))
      if (token.kind == TokenKind::identifier && token.in(rule) == knob.name) {
        text += (text.empty() ? "" : ", ") + knob.name + " is " + knob.values[knob.current];
        break;
      }
  return text;
}

}  // namespace

Result<std::vector<Knob>> find_knobs(const Source& source) {
  const auto regions = open_regions(source);
  if (!regions) return regions.error();
  std::vector<Knob> knobs;
  for (std::size_t i = 0; i < source.files().size(); ++i) {
    if (Status status = KnobReader(source.files()[i], i, *regions).read(knobs); !status)
      return status.error();
  }
  const auto rules = KnobRules::find(source, knobs);
  if (!rules) return rules.error();
  KnobPoint point;
  for (const Knob& knob : knobs) point.push_back(knob.current);
  if (const std::string_view broken = rules->broken_by(point); !broken.empty())
    return fail(ErrorCode::bad_input,
                "the knobs' values break their rule `@require " + std::string(broken) +
                    "`: " + values_in(broken, knobs),
                {}, "begin with values that keep it");
  return knobs;
}

std::vector<NearKnob> find_near_knobs(const Source& source) {
  std::vector<NearKnob> knobs;
  const auto regions = open_regions(source);
  if (!regions) return knobs;
  for (std::size_t i = 0; i < source.files().size(); ++i)
    KnobReader(source.files()[i], i, *regions).read(knobs);
  return knobs;
}

std::string describe(const Knob& knob, std::string_view path) {
  std::string text = knob.name.empty() ? "knob" : "knob " + knob.name;
  text += " (" + std::string(path) + ":" + std::to_string(knob.line) + ") is " + knob.value() + " of";
  for (const std::string& value : knob.values) text += " " + value;
  return text;
}

std::string describe(const NearKnob& knob, std::string_view path) {
  return std::string(path) + ":" + std::to_string(knob.line) + ": `" + knob.written + "` makes no knob; `" +
         knob.meant + "` would";
}

Result<Source> with_knobs(const Source& source, std::span<const std::size_t> choice) {
  const auto knobs = find_knobs(source);
  if (!knobs) return knobs.error();
  if (choice.size() != knobs->size()) {
    return fail(ErrorCode::invalid_argument,
                std::to_string(choice.size()) + " choices for " + std::to_string(knobs->size()) + " knobs");
  }
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const Knob& knob = (*knobs)[i];
    if (choice[i] >= knob.values.size())
      return fail(ErrorCode::invalid_argument, "a choice past the end of a knob's list",
                  source.files()[knob.file].path + ":" + std::to_string(knob.line));
  }
  const auto rules = KnobRules::find(source, *knobs);
  if (!rules) return rules.error();
  if (const std::string_view broken = rules->broken_by(choice); !broken.empty())
    return fail(ErrorCode::bad_input, "the choice breaks the rule `@require " + std::string(broken) + "`");
  std::vector<SourceFile> files = source.files();
  for (std::size_t i = choice.size(); i-- > 0;) {  // backwards, so that earlier offsets stay valid
    const Knob& knob = (*knobs)[i];
    if (choice[i] != knob.current) set(files[knob.file].text, knob, knob.values[choice[i]]);
  }
  Result<Source> child = Source::create(std::move(files));
  if (!child) return child;
  const auto now = find_knobs(*child);
  if (!now || !took(*now, *knobs, choice)) {
    return fail(ErrorCode::bad_input, "a listed value changes its meaning after the text before it",
                now ? "" : now.error().where, "put spaces or brackets around the constant");
  }
  return child;
}

}  // namespace kernelsmith
