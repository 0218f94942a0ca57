// What calls cost: a table that the user keeps, because prices change.
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

/// Prices by model. Immutable once read; a value.
class PriceTable {
 public:
  /// Reads a price file (docs/formats.md). Errors: read_yaml's.
  static Result<PriceTable> read(std::string_view yaml, const std::string& file);

  /// The first entry that fits: the model's name, or a name that ends in `*` and is its beginning.
  std::optional<Price> price_of(std::string_view model) const;

 private:
  struct Entry {
    std::string model;
    Price price;
  };
  std::vector<Entry> entries_;
};

/// US dollars of one call.
double cost_of(const Usage& usage, const Price& price);

}  // namespace kernelsmith
