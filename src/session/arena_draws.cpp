#include "arena_draws.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <kernelsmith/code/text.hpp>

#include "arena_words.hpp"

namespace kernelsmith::arena {
namespace {

template <std::size_t N>
using Words = std::array<std::string_view, N>;

constexpr Words<5> kWeights = {"_weight", "_weights", "_proj", "_projs", "_weight_matrix"};
constexpr Words<5> kMasks = {"x_mask", "text_mask", "aspect_ratio_mask", "drop_mask", "attention_mask"};
constexpr Words<5> kBinary = {"binary", "{0, 1}", "0 or 1", "1.0 for valid", "0.0 for masked"};
constexpr Words<3> kCosines = {"cos", "cos_cached", "rope_cos"};
constexpr Words<3> kSines = {"sin", "sin_cached", "rope_sin"};
constexpr Words<4> kPositive = {"rstd", "std", "variance", "var"};
constexpr Words<7> kStructures = {".softmax(", ".cos(", ".sin(",     "masked_fill_",
                                  "randint",   ".abs(", ".uniform_("};
constexpr Words<3> kSoftmax = {"attn_weights", "attention_weights", "routing_weights"};

template <std::size_t N>
bool is_one_of(std::string_view name, const Words<N>& words) {
  return std::ranges::find(words, name) != words.end();
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The name without digits at its end: `weight2` is named like `weight`.
std::string_view without_digits(std::string_view name) {
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

/// Whether it is the weight or bias (`what`, such as "_weight") of a norm.
bool is_of_norm(std::string_view name, std::string_view what) {
  return name.ends_with(what) && without_digits(name.substr(0, name.size() - what.size())).ends_with("norm");
}

bool is_positive(std::string_view name) {
  const auto fits = [](std::string_view word) {
    return std::ranges::any_of(kPositive, [word](std::string_view known) {
      return word == known || (word.size() > known.size() && word.ends_with(known) &&
                               word[word.size() - known.size() - 1] == '_');
    });
  };
  // The arena looks for "_variance" only at the very end.
  return fits(name) || (fits(without_digits(name)) && !without_digits(name).ends_with("_variance"));
}

bool is_weight(std::string_view name) {
  const std::string_view base = without_digits(name);
  return base == "weight" ||
         std::ranges::any_of(kWeights, [&](std::string_view end) { return base.ends_with(end); });
}

/// Whether it is one if its last two extents are equal.
bool is_causal_mask(const Argument& tensor, const std::string& told) {
  if (tensor.shape.size() < 2) return false;
  return tensor.name == "attention_mask" || tensor.name == "causal_mask" ||
         (contains(told, "attention mask") && contains(told, "causal"));
}

bool is_binary_mask(const Argument& tensor, const std::string& told) {
  return is_one_of(tensor.name, kMasks) ||
         (tensor.name.ends_with("_mask") &&
          std::ranges::any_of(kBinary, [&](std::string_view words) { return contains(told, words); }));
}

/// What SOL-ExecBench makes of the tensor's name and description. The order is the arena's, because a name
/// can fit several rules. Causal masks come before it.
std::string drawn_by_name(const Argument& tensor, const std::string& told, const std::string& shape,
                          const std::string& dtype) {
  const std::string& name = tensor.name;
  std::string normal = "torch.randn(" + shape + ", dtype=" + dtype + ")";
  const auto uniform = [&](const char* bounds) {
    return "torch.empty(" + shape + ", dtype=" + dtype + ").uniform_(" + bounds + ")";
  };
  if (is_binary_mask(tensor, told)) return "torch.randint(0, 2, " + shape + ").to(" + dtype + ")";
  if (is_one_of(name, kCosines) || is_one_of(name, kSines))
    return "torch.randn(" + shape + ").clamp_(-torch.pi, torch.pi)." +
           (is_one_of(name, kCosines) ? "cos" : "sin") + "().to(" + dtype + ")";
  if (is_positive(name)) return normal + ".abs() + 0.1";
  if (name == "A_cumsum") return uniform("-0.1, 0.0") + ".cumsum(dim=-1)";
  if (name == "A_log") return uniform("-5.0, -1.0");
  if (name == "A") return uniform("-1.0, -0.001");
  if (name == "g") return uniform("-5.0, 0.0");
  if (is_one_of(name, kSoftmax) || (contains(told, "softmax") && contains(told, "output")))
    return "torch.randn(" + shape + ").softmax(dim=-1).to(" + dtype + ")";
  if (tensor.shape.size() >= 2 && is_weight(name)) return normal + " / " + tensor.shape.back() + " ** 0.5";
  return normal;
}

std::string drawn_for_sol(const Argument& tensor, const std::string& shape, const std::string& dtype) {
  const std::string told = lower_case(tensor.description);
  if (is_of_norm(tensor.name, "_weight")) return "torch.ones(" + shape + ", dtype=" + dtype + ")";
  if (is_of_norm(tensor.name, "_bias")) return "torch.zeros(" + shape + ", dtype=" + dtype + ")";
  std::string by_name = drawn_by_name(tensor, told, shape, dtype);
  if (!is_causal_mask(tensor, told)) return by_name;
  const std::string &rows = tensor.shape[tensor.shape.size() - 2], &columns = tensor.shape.back();
  std::string mask = "torch.zeros(" + shape + ", dtype=" + dtype + ").masked_fill_(torch.ones" +
                     python_tuple({columns, columns}) + ".triu(1).bool(), torch.finfo(" + dtype + ").min)";
  return rows == columns ? mask : "(" + mask + " if " + rows + " == " + columns + " else " + by_name + ")";
}

}  // namespace

std::string drawn(Arena arena, const Definition& definition, const Argument& tensor) {
  const std::string dtype = "torch." + tensor.dtype;
  const std::string shape = python_tuple(tensor.shape);
  if (tensor.dtype == "bool") return "torch.randint(0, 2, " + shape + ", dtype=torch.bool)";
  if (tensor.dtype.starts_with("int"))
    return "torch.randint(" + std::string(tensor.dtype == "int8" ? "-128, 128, " : "-1024, 1024, ") + shape +
           ", dtype=" + dtype + ")";
  if (tensor.dtype.starts_with("float8"))
    return "torch.randn(" + shape + ").clamp_(-2.0, 2.0).to(" + dtype + ")";
  if (arena == Arena::sol_execbench) return drawn_for_sol(tensor, shape, dtype);
  const bool is_probability = definition.op_type == "sampling" && tensor.name == "probs";
  return "torch.randn(" + shape + ", dtype=" + dtype + ")" + (is_probability ? ".softmax(dim=-1)" : "");
}

bool has_structure(std::string_view drawn) {
  return std::ranges::any_of(kStructures, [&](std::string_view word) { return contains(drawn, word); });
}

}  // namespace kernelsmith::arena
