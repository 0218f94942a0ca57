// JSON text to a document.
#include <utility>
#include <vector>

#include <kernelsmith/core/escape.hpp>

#include "json_codec.hpp"

namespace kernelsmith::detail {
namespace {

constexpr std::size_t kDeepestJson = 64;

/// Removes the library's error number, as in "[json.exception.parse_error.101] parse error at ...", and
/// shortens a long quotation, because neither helps users.
JsonRefusal no_json(std::string_view message) {
  constexpr std::size_t kLongestShown = 200;
  const std::size_t end = message.find("] ");
  std::string shown = escape_controls(end == message.npos ? message : message.substr(end + 2));
  if (shown.size() > kLongestShown) shown = shown.substr(0, kLongestShown) + "...";
  return {"not JSON: " + shown, {}, {}};
}

/// Builds the document. nlohmann/json lets the last of equal keys win; we refuse the second.
class Builder {
 public:
  explicit Builder(Json& root) : root_(root) {}

  // The callbacks of Json::sax_parse.
  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Json::number_integer_t value) { return put(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t& value) { return put(std::move(value)); }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    const auto [member, is_new] =
        open_.back()->get_ref<Json::object_t&>().try_emplace(std::move(name), nullptr);
    if (!is_new) throw JsonRefusal{"key '" + member->first + "' is repeated", {}, {}};
    member_ = &member->second;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) {
    throw no_json(error.what());
  }

 private:
  template <class Value>
  bool put(Value&& value) {
    (void)place(Json(std::forward<Value>(value)));
    return true;
  }
  bool open(Json container) {
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json* place(Json value) {
    if (open_.size() > kDeepestJson) throw JsonRefusal{"nested deeper than 64 levels", {}, {}};
    Json* at = &root_;
    if (!open_.empty() && open_.back()->is_array())
      at = &open_.back()->get_ref<Json::array_t&>().emplace_back();
    else if (!open_.empty())
      at = member_;
    *at = std::move(value);
    return at;
  }

  Json& root_;
  std::vector<Json*> open_;  ///< the open objects and arrays
  Json* member_ = nullptr;   ///< last key of the innermost object
};

}  // namespace

Json parse_document(std::string_view text) {
  Json document;
  Builder builder(document);
  Json::sax_parse(text, &builder);
  return document;
}

}  // namespace kernelsmith::detail
