// Any bytes, in any language: tokens lie in order inside the text, joined they give back all but white space,
// and fingerprints, features and blocks do not mind.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/complexity.hpp>
#include <kernelsmith/code/fingerprint.hpp>
#include <kernelsmith/code/lexer.hpp>

#include "fuzz.hpp"
#include "sources.hpp"

using namespace kernelsmith;

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\\'; }

void check_tokens(std::string_view text, Language language) {
  std::size_t end = 0;
  std::size_t line = 1;
  for (const Token& token : tokenize(text, language)) {
    require(token.offset >= end && token.length <= text.size() - token.offset);
    for (; end < token.offset; ++end) {
      require(is_space(text[end]));
      line += text[end] == '\n';
    }
    require(token.line == line);
    for (; end < token.offset + token.length; ++end) line += text[end] == '\n';
  }
  for (; end < text.size(); ++end) require(is_space(text[end]));
}

void check_blocks(const Source& source) {
  require(fingerprint(source) == fingerprint(source));
  require(static_features(source).at("bytes") == static_cast<double>(source.bytes()));
  const auto texts = block_texts(source);
  if (!texts) return;
  require(check_frozen(source, source).has_value());
  const auto same = with_block_texts(source, *texts);
  require(same && *same == source);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* path : {"k.cpp", "k.cu", "k.py", "k.txt"}) {
    check_tokens(text, language_of(path));
    check_blocks(one_file(path, text));
  }
  return 0;
}
