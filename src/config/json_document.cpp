#include "json_document.hpp"

#include <set>

namespace kernelsmith::detail {
namespace {

constexpr int kDeepest = 64;

/// nlohmann/json lets the last of equal keys win; we refuse the second.
class Strictness {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kDeepest) throw JsonRefusal{"nested deeper than 64 levels", {}, {}};
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_.back().insert(key).second) throw JsonRefusal{"key '" + key + "' is repeated", {}, {}};
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;
};

}  // namespace

Json parse_document(std::string_view text) {
  try {
    Strictness strictness;
    return Json::parse(text, [&strictness](int depth, Json::parse_event_t event, Json& parsed) {
      return strictness(depth, event, parsed);
    });
  } catch (const Json::exception& e) {
    // "[json.exception.parse_error.101] parse error at …": the library's own number helps nobody.
    const std::string_view message = e.what();
    const std::size_t end = message.find("] ");
    const std::string detail(end == message.npos ? message : message.substr(end + 2));
    throw JsonRefusal{"not JSON: " + encode_text(detail), {}, {}};
  }
}

std::string write_document(const Json& document) { return document.dump(); }

}  // namespace kernelsmith::detail
