#include "yaml_document.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <kernelsmith/config/text.hpp>

namespace kernelsmith::detail {
namespace {

constexpr std::size_t kLargest = 1 << 20;
constexpr std::size_t kDeepestYaml = 32;

/// Ends the parsing from within yaml-cpp's callbacks; caught in parse_yaml().
struct Refused {
  int line;
  std::string message;
  bool may_be_syntax = false;  ///< a bracket or quote above may be to blame
};

class TreeBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    YamlNode node = node_at(mark, YamlKind::scalar);
    node.null = true;
    add(mark, std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused{mark.line, "aliases are not supported"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    // yaml-cpp decodes the escapes \N and \_ to single bytes.
    if (!is_utf8(value)) throw Refused{mark.line, "the escapes \\N and \\_ are not supported"};
    YamlNode node = node_at(mark, YamlKind::scalar);
    node.text = value;
    node.quoted = tag == "!";
    add(mark, std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, tag, anchor, YamlKind::list);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, tag, anchor, YamlKind::map);
  }
  void OnMapEnd() override { end(); }

  std::optional<YamlNode> take_root() { return std::move(root_); }

 private:
  struct Open {
    YamlNode node;
    std::set<std::string> keys;      ///< the keys of a mapping so far
    std::optional<YamlEntry> entry;  ///< the entry whose key was read and whose value follows
  };

  static YamlNode node_at(const YAML::Mark& mark, YamlKind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = static_cast<std::size_t>(mark.line) + 1;
    return node;
  }
  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) throw Refused{mark.line, "anchors are not supported"};
  }
  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") throw Refused{mark.line, "tags are not supported"};
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == YamlKind::map && !open_.back().entry;
  }

  void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlKind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (expects_key()) throw Refused{mark.line, "a key must be a text", true};
    if (open_.size() == kDeepestYaml) throw Refused{mark.line, "nested deeper than 32 levels"};
    open_.push_back({node_at(mark, kind), {}, {}});
  }

  void end() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    attach(std::move(node));
  }

  void add(const YAML::Mark& mark, YamlNode scalar) {
    if (expects_key()) {
      take_key(mark, scalar);
    } else {
      attach(std::move(scalar));
    }
  }

  void take_key(const YAML::Mark& mark, const YamlNode& scalar) {
    if (scalar.null) throw Refused{mark.line, "a key must be a text", true};
    Open& map = open_.back();
    if (!map.keys.insert(scalar.text).second) {
      throw Refused{mark.line, "key '" + scalar.text + "' is repeated"};
    }
    map.entry = YamlEntry{scalar.text, scalar.line, {}};
  }

  void attach(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlKind::list) {
      parent.node.items.push_back(std::move(node));
    } else {
      parent.entry->value = std::move(node);
      parent.node.entries.push_back(std::move(*parent.entry));
      parent.entry.reset();
    }
  }

  std::vector<Open> open_;
  std::optional<YamlNode> root_;
};

std::string place(const std::string& file, int line_from_0) {
  return line_from_0 < 0 ? file : file + ":" + std::to_string(line_from_0 + 1);
}

std::size_t line_from_1(int line_from_0) {
  return line_from_0 < 0 ? 0 : static_cast<std::size_t>(line_from_0) + 1;
}

/// yaml-cpp treats byte 4 as the end of the file and accepts other control bytes.
bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
}

/// Checks the text before it is parsed.
std::optional<Refused> unreadable(std::string_view text) {
  if (text.size() > kLargest) return Refused{-1, "larger than 1 MiB"};
  if (!is_utf8(text)) return Refused{-1, "not UTF-8"};
  const auto control = std::ranges::find_if(text, is_control);
  if (control == text.end()) return std::nullopt;
  const auto line = std::count(text.begin(), control, '\n');
  return Refused{static_cast<int>(line), "a control byte"};
}

/// If a bracket or quote above caused the error, that is reported instead.
Error refusal(std::string_view text, const std::string& file, YamlFault otherwise) {
  YamlFault fault = find_yaml_fault(text).value_or(std::move(otherwise));
  const std::string where = fault.line == 0 ? file : file + ":" + std::to_string(fault.line);
  return fail(ErrorCode::bad_input, std::move(fault.message), where, std::move(fault.hint));
}

YamlNode parse(std::string_view text) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  TreeBuilder builder;
  parser.HandleNextDocument(builder);
  auto root = builder.take_root();
  if (!root) throw Refused{-1, "the file is empty"};
  TreeBuilder second;
  if (parser.HandleNextDocument(second)) throw Refused{-1, "more than one document"};
  return std::move(*root);
}

}  // namespace

Result<YamlNode> parse_yaml(std::string_view text, const std::string& file) {
  if (const auto refused = unreadable(text)) {
    return fail(ErrorCode::bad_input, refused->message, place(file, refused->line));
  }
  try {
    return parse(text);
  } catch (const Refused& refused) {
    if (refused.may_be_syntax) return refusal(text, file, {line_from_1(refused.line), refused.message, ""});
    return fail(ErrorCode::bad_input, refused.message, place(file, refused.line));
  } catch (const YAML::Exception& e) {
    return refusal(text, file, yaml_fault(e.msg, line_from_1(e.mark.line)));
  }
}

}  // namespace kernelsmith::detail
