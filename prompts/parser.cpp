// Parses a template's text into nodes.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/prompts/template.hpp>

#include "template_node.hpp"

namespace kernelsmith {
namespace {

using detail::TemplateNode;
using Kind = TemplateNode::Kind;

constexpr std::size_t kDeepest = 64;
constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kSpaces = " \t\r\n";

/// A tag in the text.
struct Tag {
  char sigil = 0;            ///< one of "#^/>!&={"; 0 for a plain variable
  std::string_view content;  ///< trimmed
  std::size_t begin = 0;     ///< where the opening delimiter begins
  std::size_t end = 0;       ///< where the text after the closing delimiter begins
  std::size_t line = 1;
};

bool may_stand_alone(char sigil) { return std::string_view("#^/>!=").find(sigil) != std::string_view::npos; }

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) { open_.emplace_back(); }

  Result<TemplateNode> parse() {
    while (at_ < text_.size()) {
      const std::size_t begin = std::min(text_.find(opening_, at_), text_.size());
      take_text(begin);
      if (begin == text_.size()) break;
      auto tag = read_tag(begin);
      if (!tag) return tag.error();
      if (const Status taken = take_tag(*tag); !taken) return taken.error();
    }
    if (!blanks_.empty()) begin_content();
    if (open_.size() > 1) {
      const TemplateNode& section = open_.back();
      return error("the section \"" + section.text + "\" has no end", section.line,
                   "close it with " + opening_ + "/" + section.text + closing_);
    }
    return std::move(open_.front());
  }

 private:
  Error error(std::string message, std::size_t line, std::string hint = {}) const {
    return fail(ErrorCode::bad_input, std::move(message), name_ + ":" + std::to_string(line),
                std::move(hint));
  }

  void add(Kind kind, std::string_view text) {
    TemplateNode node;
    node.kind = kind;
    node.text = text;
    node.line = line_;
    open_.back().children.push_back(std::move(node));
  }

  /// Notes that the current line has other content, so that a tag on it is not standalone.
  void begin_content() {
    if (!line_began_) return;
    line_began_ = false;
    add(Kind::line_start, {});
    if (!blanks_.empty()) add(Kind::text, blanks_);
    blanks_ = {};
  }

  /// The text from at_ to `end`, line by line.
  void take_text(std::size_t end) {
    while (at_ < end) {
      const std::size_t newline = text_.find('\n', at_);
      const std::size_t stop = newline < end ? newline + 1 : end;
      std::string_view piece = text_.substr(at_, stop - at_);
      if (line_began_ && newline >= end && piece.find_first_not_of(kBlanks) == piece.npos) {
        blanks_ = piece;  // this may be the indentation of a standalone tag
        at_ = stop;
        return;
      }
      at_ = stop;
      begin_content();
      add(Kind::text, piece);
      if (newline < end) begin_line();
    }
  }

  void begin_line() {
    ++line_;
    line_began_ = true;
    blanks_ = {};
  }

  Result<Tag> read_tag(std::size_t begin) {
    Tag tag;
    tag.begin = begin;
    tag.line = line_;
    std::size_t content = begin + opening_.size();
    std::string closing = closing_;
    if (content < text_.size()) {
      const char first = text_[content];
      if (first == '{') closing = "}" + closing;
      if (first == '=') closing = "=" + closing;
      if (std::string_view("#^/>!&={").find(first) != std::string_view::npos) {
        tag.sigil = first;
        ++content;
      }
    }
    const std::size_t end = text_.find(closing, content);
    if (end == text_.npos) return error("a tag is not closed", line_, "close it with " + closing);
    tag.content = trimmed(text_.substr(content, end - content));
    tag.end = end + closing.size();
    if (tag.sigil == '!' || tag.sigil == '=') return tag;
    if (tag.content.empty()) return error("a tag has no name", line_);
    if (tag.content.find_first_of(kSpaces) != std::string_view::npos)
      return error("a name holds white space: \"" + std::string(tag.content.substr(0, 40)) + "\"", line_);
    return tag;
  }

  /// The beginning of the line after a standalone tag; empty if the tag shares its line.
  std::optional<std::size_t> end_of_standalone(const Tag& tag) const {
    if (!line_began_ || !may_stand_alone(tag.sigil)) return std::nullopt;
    const std::size_t rest = text_.find_first_not_of(kBlanks, tag.end);
    if (rest == text_.npos) return text_.size();
    if (text_[rest] == '\n') return rest + 1;
    if (text_.substr(rest, 2) == "\r\n") return rest + 2;
    return std::nullopt;
  }

  Status take_tag(const Tag& tag) {
    const auto standalone = end_of_standalone(tag);
    const std::string_view indent = standalone ? blanks_ : std::string_view{};
    if (!standalone) begin_content();
    if (Status taken = take_meaning(tag, indent); !taken) return taken;
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(tag.begin),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(tag.end), '\n'));
    at_ = tag.end;
    if (standalone) {
      at_ = *standalone;
      begin_line();
    }
    return {};
  }

  Status take_meaning(const Tag& tag, std::string_view indent) {
    switch (tag.sigil) {
      case '!':
        return {};
      case '=':
        return set_delimiters(tag);
      case '#':
      case '^':
        return begin_section(tag);
      case '/':
        return end_section(tag);
      case '>':
        add(Kind::partial, tag.content);
        open_.back().children.back().indent = indent;
        return {};
      default:
        add(Kind::variable, tag.content);
        return {};
    }
  }

  Status begin_section(const Tag& tag) {
    if (open_.size() > kDeepest)
      return error("sections nest deeper than " + std::to_string(kDeepest), tag.line);
    TemplateNode section;
    section.kind = tag.sigil == '#' ? Kind::section : Kind::inverted;
    section.text = tag.content;
    section.line = tag.line;
    open_.push_back(std::move(section));
    return {};
  }

  Status end_section(const Tag& tag) {
    const std::string name(tag.content);
    if (open_.size() == 1) return error("the end of a section \"" + name + "\" that was not begun", tag.line);
    TemplateNode section = std::move(open_.back());
    if (section.text != name)
      return error("the section \"" + section.text + "\" of line " + std::to_string(section.line) +
                       " is closed by \"" + name + "\"",
                   tag.line);
    open_.pop_back();
    open_.back().children.push_back(std::move(section));
    return {};
  }

  Status set_delimiters(const Tag& tag) {
    const std::size_t gap = tag.content.find_first_of(kSpaces);
    const std::string_view second = gap == tag.content.npos ? "" : trimmed(tag.content.substr(gap));
    const std::string_view first = tag.content.substr(0, gap);
    const auto unfit = [](std::string_view word) {
      return word.empty() || word.find_first_of("= \t\r\n") != std::string_view::npos;
    };
    if (unfit(first) || unfit(second))
      return error("new delimiters are two words without \"=\"", tag.line, "for example {{=<% %>=}}");
    opening_ = first;
    closing_ = second;
    return {};
  }

  const std::string_view text_;
  const std::string& name_;
  std::string opening_ = "{{", closing_ = "}}";
  std::size_t at_ = 0, line_ = 1;
  bool line_began_ = true;          ///< only blanks_ were seen in this line
  std::string_view blanks_;         ///< blanks that are kept until it is known whether a standalone tag
                                    ///< follows
  std::vector<TemplateNode> open_;  ///< the root and the open sections
};

}  // namespace

Result<Template> Template::parse(std::string_view text, std::string name) {
  auto root = Parser(text, name).parse();
  if (!root) return root.error();
  return Template(std::move(name), std::make_shared<const TemplateNode>(std::move(*root)));
}

}  // namespace kernelsmith
