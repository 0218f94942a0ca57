// Lines of a memory's file: what is read is written back byte for byte.
#include <cstdint>

#include <kernelsmith/memory/retrieval.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsmith;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rules = rules_from(text, "fuzz");
  if (!rules) return 0;
  const auto again = rules_from(to_lines(*rules), "again");
  require(again && *again == *rules);
  (void)notes_of({*rules});
  return 0;
}
