#include "standstill.hpp"

#include <algorithm>

namespace kernelsmith {

bool Standstill::note(std::span<const std::byte> output, std::size_t lines, SecretStream& random) {
  const std::size_t all = (output.size() + kLine - 1) / kLine, parts = std::min(all, lines);
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = all * part / parts, end = all * (part + 1) / parts;
    const std::size_t at = (begin + random.below(end - begin)) * kLine;
    Line& line = noted_.emplace_back();
    line.place = output.subspan(at, std::min(kLine, output.size() - at));
    std::ranges::copy(line.place, line.stood.begin());
  }
  return parts == all;
}

bool Standstill::holds() const {
  return std::ranges::all_of(noted_, [](const Line& line) {
    return std::ranges::equal(line.place, std::span(line.stood).first(line.place.size()));
  });
}

}  // namespace kernelsmith
