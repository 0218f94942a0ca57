#include "answer.hpp"

#include <map>
#include <string>
#include <utility>

#include <kernelsmith/config/json.hpp>

namespace kernelsmith {

Result<Metrics> parse_answer(std::string_view text) {
  auto numbers = from_json<std::map<std::string, double>>(text);
  if (!numbers) return numbers.error();
  const auto fitness = numbers->extract("fitness");
  if (fitness.empty())
    return fail(ErrorCode::bad_input, "the answer has no number named 'fitness'", "fitness");
  return Metrics::create(Measurement::exact(fitness.mapped()), std::move(*numbers));
}

}  // namespace kernelsmith
