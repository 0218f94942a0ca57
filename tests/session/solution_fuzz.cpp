// Any bytes as a solution.json: a candidate, or an error with the place.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arena_solution.hpp"
#include "fuzz.hpp"

using namespace kernelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto solution = arena::parse_solution(text, "solution.json");
  if (!solution) require(solution.error().where.starts_with("solution.json"));
  if (!solution) return 0;
  const auto made = arena::candidate_of(*solution, {}, "solution.json");
  require(made ? made->find("class ModelNew") != made->npos : made.error().code == ErrorCode::unsupported);
  return 0;
}
