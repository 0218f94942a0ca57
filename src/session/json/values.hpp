// Values shared by the documents of a run, and the limits of a document.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::view_json {

using Json = nlohmann::ordered_json;

/// The size limits of a document. By default there are none.
struct Extent {
  std::size_t text_bytes = std::string::npos;  ///< limit of a candidate's or a model's text
  std::size_t diff_bytes = std::string::npos;  ///< limit of all diffs of a lineage together
  std::size_t steps = std::string::npos;       ///< most steps of a lineage, counted from its end
  std::size_t cells = std::string::npos;       ///< most cells on the first two axes; the best are kept
  std::size_t labels = std::string::npos;      ///< most labels of an axis; an axis with more bins has none
  bool logs = true;                            ///< whether artifacts are included
};

std::string one_line(const Json& value);

/// At most `most` bytes of the text. If it is longer, a final line says by how much.
std::string cut(std::string_view text, std::size_t most);

/// `{median, low, high, samples, unit}`, or null.
Json interval(const std::optional<Measurement>& value);

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class Range, class Function>
Json list_of(const Range& values, Function json_of) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(json_of(value));
  return list;
}

/// The fitness as a measurement, or null for a rejection.
Json fitness_interval(const Evaluation& evaluation);

Json error_object(const Error& error);

/// Parts of the documents, each defined in its own file.
Json evaluation_object(const Evaluation& evaluation, const Extent& extent);
Json archive_object(const RunView& view, const Extent& extent);
Json failures_list(const RunView& view, const Extent& extent);
Json run_object(const RunView& view, const Extent& extent);

}  // namespace kernelsmith::view_json
