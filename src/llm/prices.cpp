#include <algorithm>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/llm/prices.hpp>

namespace kernelsmith {

Result<PriceTable> PriceTable::read(std::string_view yaml, const std::string& file) {
  PriceTable table;
  const Range<double> dollars{0, 1e6};
  const Status status = read_yaml(yaml, file, [&](YamlMap& in) {
    std::int64_t version = 0;
    in.required("version", version, {1, 1});
    in.required_maps("prices", [&](YamlMap& row) {
      Entry entry;
      row.required("model", entry.model);
      if (const auto star = entry.model.find('*'); star != entry.model.npos && star + 1 < entry.model.size())
        row.refuse("model", "\"" + entry.model + "\" has a * that is not at its end",
                   "a * at the end matches any rest; write one entry for each other beginning of a name");
      row.required("input", entry.price.input, dollars);
      row.required("output", entry.price.output, dollars);
      // If cached input has no price of its own, it costs the same as input.
      entry.price.cached = entry.price.cache_write = entry.price.input;
      row.optional("cached", entry.price.cached, dollars);
      row.optional("cache_write", entry.price.cache_write, dollars);
      table.entries_.push_back(std::move(entry));
    });
  });
  if (!status) return status.error();
  return table;
}

std::optional<Price> PriceTable::price_of(std::string_view model) const {
  for (const Entry& entry : entries_) {
    const std::string_view name = entry.model;
    const bool fits =
        name.ends_with('*') ? model.starts_with(name.substr(0, name.size() - 1)) : model == name;
    if (fits) return entry.price;
  }
  return std::nullopt;
}

double cost_of(const Usage& usage, const Price& price) {
  constexpr double kPer = 1e-6;
  const auto cached = std::min(usage.cached_tokens, usage.input_tokens);
  const auto written = std::min(usage.cache_write_tokens, usage.input_tokens - cached);
  const auto plain = usage.input_tokens - cached - written;
  return kPer * (static_cast<double>(plain) * price.input + static_cast<double>(cached) * price.cached +
                 static_cast<double>(written) * price.cache_write +
                 static_cast<double>(usage.output_tokens) * price.output);
}

}  // namespace kernelsmith
