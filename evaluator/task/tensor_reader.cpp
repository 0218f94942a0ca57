#include "tensor_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/evaluator/dtypes.hpp>

#include "foreign_names.hpp"
#include "identifiers.hpp"
#include "limits.hpp"
#include "reader_support.hpp"

namespace kernelsmith::task {
namespace {

constexpr std::array kOurDtypes = {Dtype::f64,    Dtype::f32,    Dtype::f16,    Dtype::bf16,
                                   Dtype::f8e4m3, Dtype::f8e5m2, Dtype::i64,    Dtype::i32,
                                   Dtype::i8,     Dtype::u8,     Dtype::boolean};

// Dtypes.

/// The dtype with our name, or with another program's.
std::optional<Dtype> dtype_named(const std::string& word) {
  if (const auto ours = dtype_from(word)) return ours;
  const auto meant = dtype_meant_by(word);
  return meant ? dtype_from(*meant) : std::nullopt;
}

void read_dtype(YamlMap& in, const BackendDescription* backend, Dtype& dtype) {
  Choices<Dtype> taken;
  std::string names;
  const auto takes = [&](Dtype one) { return !backend || std::ranges::count(backend->dtypes, one) > 0; };
  for (const Dtype one : kOurDtypes) {
    if (!takes(one)) continue;
    taken.emplace_back(name_of(one), one);
    names += (names.empty() ? "" : ", ") + std::string(name_of(one));
  }
  std::string word;
  in.required("dtype", word);
  const auto meant = dtype_named(word);
  if (meant && !takes(*meant))
    return in.refuse("dtype",
                     "the backend '" + backend->name + "' does not take " + std::string(name_of(*meant)),
                     "it takes " + names);
  in.required("dtype", dtype, taken, dtype_meant_by);
}

// Inits.

/// `{low, high}` or `{offsets}`.
void read_bounds(YamlMap& in, TensorSpec& tensor) {
  refuse_foreign_keys(in, bound_meant_by);
  in.only({"low", "high", "offsets"});
  if (in.kind("offsets") == YamlKind::absent) {
    tensor.init = TensorInit::range;
    tensor.low = "0";
    in.optional("low", tensor.low);
    in.required("high", tensor.high);
    return;
  }
  tensor.init = TensorInit::offsets;
  in.required("offsets", tensor.high);
  for (const char* other : {"low", "high"})
    if (in.kind(other) != YamlKind::absent)
      in.refuse(other, "offsets begin at 0 and end at one number", "init: {offsets: nnz}");
}

void read_init(YamlMap& in, TensorSpec& tensor) {
  if (in.kind("init") == YamlKind::map)
    return in.required_map("init", [&](YamlMap& init) { read_bounds(init, tensor); });
  std::string word;
  in.optional("init", word);
  const std::string_view meant = init_meant_by(word).value_or(word);
  if (meant == "range")
    return in.refuse("init", "a range needs its bounds",
                     "whole numbers from 0 to cols - 1: init: {low: 0, high: cols}");
  if (meant == "offsets")
    return in.refuse("init", "offsets need the number that they end at", "init: {offsets: nnz}");
  in.optional("init", tensor.init,
              choices({TensorInit::normal, TensorInit::uniform, TensorInit::positive, TensorInit::ties,
                       TensorInit::integer, TensorInit::zeros, TensorInit::permutation, TensorInit::one_hot,
                       TensorInit::generated}),
              init_meant_by);
}

/// Whether the values depend on each other, so that special values may not be added.
bool is_structured(TensorInit init) {
  return init == TensorInit::range || init == TensorInit::offsets || init == TensorInit::permutation ||
         init == TensorInit::one_hot || init == TensorInit::generated;
}

/// The range of whole numbers that a dtype represents exactly.
struct WholeNumbers {
  std::int64_t low, high;
};

WholeNumbers whole_numbers(Dtype dtype) {
  const DtypeTraits& traits = traits_of(dtype);
  if (traits.real) {
    const std::int64_t most = std::int64_t{1} << traits.digits;
    return {-most, most};
  }
  if (dtype == Dtype::boolean) return {0, 1};
  if (dtype == Dtype::u8) return {0, 255};
  const std::int64_t highest = std::numeric_limits<std::int64_t>::max() >> (64 - 8 * traits.bytes);
  return {-highest - 1, highest};
}

Status check_fits(const TensorSpec& tensor, std::int64_t low, std::int64_t high, const Sizes& sizes) {
  const WholeNumbers held = whole_numbers(tensor.dtype);
  if (low >= held.low && high <= held.high) return {};
  return fail(ErrorCode::bad_input,
              "tensor '" + tensor.name + "' has values from " + std::to_string(low) + " to " +
                  std::to_string(high) + " at " + describe(sizes) + ", and " +
                  std::string(name_of(tensor.dtype)) + " holds whole numbers from " +
                  std::to_string(held.low) + " to " + std::to_string(held.high),
              {}, "take a wider dtype, such as i32");
}

Status check_range(const TensorSpec& tensor, const Sizes& sizes) {
  const auto low = evaluate_expression(tensor.low, sizes);
  if (!low) return low.error();
  const auto high = evaluate_expression(tensor.high, sizes);
  if (!high) return high.error();
  if (*high <= *low)
    return fail(ErrorCode::bad_input,
                "the range of tensor '" + tensor.name + "' is empty at " + describe(sizes) + ": from " +
                    std::to_string(*low) + " to below " + std::to_string(*high),
                {}, "'high' itself is not drawn, and must be above 'low'");
  return check_fits(tensor, *low, *high - 1, sizes);
}

Status check_offsets(const TensorSpec& tensor, const TensorExtent& extent, const Sizes& sizes) {
  const auto high = evaluate_expression(tensor.high, sizes);
  if (!high) return high.error();
  if (*high < 0)
    return fail(ErrorCode::bad_input, "the offsets of tensor '" + tensor.name + "' end at " +
                                          std::to_string(*high) + " at " + describe(sizes) +
                                          ", and begin at 0");
  if (extent.shape.back() < 2)
    return fail(ErrorCode::bad_input,
                "tensor '" + tensor.name + "' has room for one offset at " + describe(sizes) +
                    ", and needs the first, 0, and the last",
                {}, "n rows have n + 1 offsets: shape: [\"rows + 1\"]");
  return check_fits(tensor, 0, *high, sizes);
}

// A tensor's other keys, and its checks.

void read_specials(YamlMap& in, TensorSpec& tensor) {
  constexpr std::array<std::string_view, 4> kKnown = {"nan", "inf", "denormals", "large"};
  std::vector<std::string> names;
  in.optional("specials", names);
  for (const std::string& name : names) {
    if (std::ranges::find(kKnown, name) == kKnown.end())
      return in.refuse("specials", "unknown special value '" + name + "'", name_hint(name, kKnown));
    tensor.specials.nan |= name == "nan";
    tensor.specials.infinities |= name == "inf";
    tensor.specials.denormals |= name == "denormals";
    tensor.specials.large |= name == "large";
  }
  if (!tensor.specials.any()) return;
  if (tensor.role == TensorRole::out)
    return in.refuse("specials", "only what the entry reads can hold special values, and '" + tensor.name +
                                     "' has the role 'out'");
  if (!traits_of(tensor.dtype).real)
    return in.refuse("specials", "a tensor of integers has no special values");
  if (is_structured(tensor.init))
    return in.refuse("specials", "the init of '" + tensor.name + "' allows no special values");
  if (tensor.constant) in.refuse("specials", "a constant tensor would show the same ones in every call");
}

/// Conditions beyond the types of the keys.
void check_tensor(YamlMap& in, const TensorSpec& tensor, const Sizes& sizes,
                  const std::vector<TensorSpec>& tensors) {
  const auto taken = [&](const TensorSpec& other) { return other.name == tensor.name; };
  if (std::ranges::any_of(tensors, taken) || sizes.contains(tensor.name))
    return in.refuse("name", "'" + tensor.name + "' is taken by another tensor or size");
  if (tensor.constant && tensor.role != TensorRole::in)
    return in.refuse("constant", "only a tensor of role 'in' can be constant");
  if (is_structured(tensor.init) && tensor.role == TensorRole::out)
    return in.refuse("init", "'" + tensor.name + "' has the role 'out': it is written, not drawn");
  if (tensors.size() == kMaxTensors) return in.refuse("name", "more than 64 tensors");
  const auto extent = extent_of(tensor, sizes);
  if (!extent) return in.refuse("shape", extent.error().message, extent.error().hint);
  if (Status has_values = check_init(tensor, *extent, sizes); !has_values)
    in.refuse("init", has_values.error().message, has_values.error().hint);
}

}  // namespace

Status check_init(const TensorSpec& tensor, const TensorExtent& extent, const Sizes& sizes) {
  const bool along_a_dimension = tensor.init == TensorInit::offsets ||
                                 tensor.init == TensorInit::permutation || tensor.init == TensorInit::one_hot;
  if (along_a_dimension && extent.shape.empty())
    return fail(ErrorCode::bad_input, "tensor '" + tensor.name + "' is a single value, and '" +
                                          std::string(name_of(tensor.init)) +
                                          "' needs values along a dimension");
  switch (tensor.init) {
    case TensorInit::range:
      return check_range(tensor, sizes);
    case TensorInit::offsets:
      return check_offsets(tensor, extent, sizes);
    case TensorInit::permutation:
      return check_fits(tensor, 0, extent.shape.back() - 1, sizes);
    default:
      return {};
  }
}

Status check_tensors(const Task& task, const Sizes& sizes) {
  for (const TensorSpec& tensor : task.tensors) {
    const auto extent = extent_of(tensor, sizes);
    if (!extent) return extent.error();
    if (Status has_values = check_init(tensor, *extent, sizes); !has_values) return has_values;
  }
  return {};
}

void read_tensor(YamlMap& in, const Sizes& sizes, const BackendDescription* backend,
                 std::vector<TensorSpec>& tensors) {
  TensorSpec tensor;
  in.only({"name", "role", "dtype", "shape", "init", "constant", "specials"});
  in.required("name", tensor.name);
  in.required("role", tensor.role, choices({TensorRole::in, TensorRole::out, TensorRole::inout}),
              role_meant_by);
  read_dtype(in, backend, tensor.dtype);
  in.required("shape", tensor.shape);
  read_init(in, tensor);
  in.optional("constant", tensor.constant);
  if (in.ok()) read_specials(in, tensor);
  require_identifier(in, "name", tensor.name);
  if (in.ok()) check_tensor(in, tensor, sizes, tensors);
  if (in.ok()) tensors.push_back(std::move(tensor));
}

}  // namespace kernelsmith::task
