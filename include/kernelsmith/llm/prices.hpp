// Prices of calls: a table that the user maintains, because prices change.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/llm/model_call.hpp>

namespace kernelsmith {

/// US dollars per million tokens.
struct Price {
  double input = 0;
  double output = 0;       ///< reasoning included
  double cached = 0;       ///< input that is read from a cache
  double cache_write = 0;  ///< input that is written to a cache
};

/// Prices by model. Does not change after read(); a value.
class PriceTable {
 public:
  /// Reads a price file (docs/formats.md). Errors: read_yaml's.
  static Result<PriceTable> read(std::string_view yaml, const std::string& file);

  /// The price of the first matching entry. An entry is a model's name, or a prefix of it followed by `*`.
  std::optional<Price> price_of(std::string_view model) const;

 private:
  struct Entry {
    std::string model;
    Price price;
  };
  std::vector<Entry> entries_;
};

/// The cost of one call in US dollars.
double cost_of(const Usage& usage, const Price& price);

}  // namespace kernelsmith
