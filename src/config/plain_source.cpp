#include "plain_source.hpp"

#include "json_codec.hpp"

namespace kernelsmith::detail {
namespace {

class PlainReader {
 public:
  explicit PlainReader(std::string_view json) : rest_(json) {}

  bool at_end() const { return rest_.empty(); }

  bool skip(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }

  /// From behind the opening quotation mark to behind the closing one.
  bool read_text(std::string& text) {
    for (;;) {
      std::size_t length = 0;
      while (length < rest_.size() && is_plain(rest_[length])) ++length;
      text += rest_.substr(0, length);
      rest_.remove_prefix(length);
      if (skip("\"")) return !text.starts_with(kBase64Mark);
      if (!read_escape(text)) return false;
    }
  }

 private:
  static bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

  bool read_escape(std::string& text) {
    constexpr std::string_view kLetters = "nt\"\\/rbf", kMeanings = "\n\t\"\\/\r\b\f";
    if (rest_.size() < 2 || rest_.front() != '\\') return false;
    const std::size_t which = kLetters.find(rest_[1]);
    if (which == kLetters.npos) return false;
    text += kMeanings[which];
    rest_.remove_prefix(2);
    return true;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::vector<SourceFile>> read_plain_source(std::string_view json) {
  PlainReader in(json);
  std::vector<SourceFile> files;
  if (!in.skip("[")) return std::nullopt;
  do {
    SourceFile& file = files.emplace_back();
    const bool read = in.skip(R"({"path":")") && in.read_text(file.path) && in.skip(R"(,"text":")") &&
                      in.read_text(file.text) && in.skip("}");
    if (!read) return std::nullopt;
  } while (in.skip(","));
  if (!in.skip("]") || !in.at_end()) return std::nullopt;
  return files;
}

}  // namespace kernelsmith::detail
