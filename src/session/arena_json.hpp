// Reads JSON that an arena or its users wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/result.hpp>

#include "axis_expression.hpp"

namespace kernelsmith::arena {

using Ordered = nlohmann::ordered_json;  // the order of inputs is the order of run's arguments

/// A value in the document and its path. The first error of a document is kept in `wrong`, and everything
/// read after it is empty.
class At {
 public:
  At(const Ordered& value, std::string path, std::optional<Error>& wrong)
      : value_(&value), path_(std::move(path)), wrong_(&wrong) {}

  void refuse(const std::string& message, const std::string& hint = "") const {
    if (!*wrong_) *wrong_ = fail(ErrorCode::bad_input, message, path_, hint);
  }
  bool has(const char* key) const {
    return value_->is_object() && value_->contains(key) && !value_->at(key).is_null();
  }
  bool is_null(const char* key) const {
    return value_->is_object() && value_->contains(key) && value_->at(key).is_null();
  }
  At operator[](const char* key) const {
    static const Ordered nothing;
    At inner(has(key) ? value_->at(key) : nothing, path_ + ": " + key, *wrong_);
    if (!has(key)) inner.refuse("it is missing");
    return inner;
  }
  std::string dump() const { return value_->dump(); }
  std::string text() const {
    if (value_->is_string() && !value_->get_ref<const std::string&>().empty())
      return value_->get<std::string>();
    refuse("a text is expected");
    return {};
  }
  std::string text_or_none(const char* key) const {
    return has(key) && value_->at(key).is_string() ? value_->at(key).get<std::string>() : std::string();
  }
  std::int64_t extent() const {
    if (value_->is_number_unsigned() && value_->get<std::uint64_t>() <= kMostExtent)
      return value_->get<std::int64_t>();
    refuse("a whole number from 0 is expected");
    return 0;
  }
  std::optional<double> figure_or_none(const char* key) const {
    if (!has(key)) return {};
    const Ordered& value = value_->at(key);
    if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
    (*this)[key].refuse("a number from 0 is expected");
    return {};
  }
  bool flag(const char* key) const {
    return has(key) && value_->at(key).is_boolean() && value_->at(key).get<bool>();
  }
  /// The literal that Python reads as the same number or truth value.
  std::string python_number() const {
    if (value_->is_boolean()) return value_->get<bool>() ? "True" : "False";
    if (value_->is_number()) return value_->dump();
    refuse("a number, true or false is expected");
    return {};
  }
  template <class Each>
  void each_member(const Each& each) const {
    if (!value_->is_object()) return refuse("an object is expected");
    for (const auto& [key, value] : value_->items()) each(key, At(value, path_ + ": " + key, *wrong_));
  }
  template <class Each>
  void each_element(const Each& each) const {
    if (!value_->is_array()) return refuse("a list is expected");
    for (std::size_t i = 0; i < value_->size(); ++i)
      each(At(value_->at(i), path_ + "[" + std::to_string(i) + "]", *wrong_));
  }

 private:
  const Ordered* value_;
  std::string path_;
  std::optional<Error>* wrong_;
};

/// What `read` makes of the JSON text, or the first error.
template <class Read>
auto read_json(std::string_view text, const std::string& where, const Read& read)
    -> Result<decltype(read(std::declval<At>()))> {
  const Ordered json = Ordered::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(ErrorCode::bad_input, "it is not JSON", where);
  std::optional<Error> wrong;
  auto made = read(At(json, where, wrong));
  if (wrong) return *wrong;
  return made;
}

}  // namespace kernelsmith::arena
