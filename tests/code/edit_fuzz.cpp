// A source and a reply, parted by the first NUL byte: edits apply or say which does not; diffs do not mind.
#include <algorithm>
#include <cstdint>
#include <string>

#include <kernelsmith/code/diff.hpp>
#include <kernelsmith/code/edit.hpp>

#include "fuzz.hpp"
#include "sources.hpp"

using namespace kernelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t border = std::min(bytes.find('\0'), bytes.size());
  const Source source = cpp(bytes.substr(0, border));
  const auto edits = parse_edits(std::string_view(bytes).substr(border));
  if (!edits) return 0;
  require(edits->empty() == !holds_edits(std::string_view(bytes).substr(border)));
  for (const Edit& edit : *edits) {
    require(edit.search.empty() || edit.search.ends_with('\n'));
    require(edit.replace.empty() || edit.replace.ends_with('\n'));
  }
  const auto outcome = apply_edits(source, *edits);
  if (const auto* fault = std::get_if<EditFault>(&outcome)) {
    require(fault->edit < edits->size() && !fault->detail.empty());
  } else {
    const Source& child = std::get<Source>(outcome);
    require(unified_diff(source, child).empty() == (child == source));
  }
  return 0;
}
