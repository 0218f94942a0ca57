// Every JSON codec: whatever is accepted is written back, read again and equal in its canonical form.
#include <cstdint>
#include <cstdlib>

#include <kernelsmith/config/json.hpp>

namespace {

using namespace kernelsmith;

template <class T>
void check(std::string_view text) {
  const auto value = from_json<T>(text);
  if (!value) return;
  const std::string canonical = to_json(*value);
  const auto again = from_json<T>(canonical);
  if (!again || to_json(*again) != canonical) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check<Event>(text);
  check<Evaluation>(text);
  check<EvaluationJob>(text);
  check<Proposal>(text);
  check<Source>(text);
  (void)from_json<std::map<std::string, double>>(text);
  return 0;
}
