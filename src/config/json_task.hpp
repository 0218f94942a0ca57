// The JSON form of a Task, its fields listed once for both directions. docs/fleet.md writes it down.
#pragma once

#include <climits>
#include <cstdint>

#include <kernelsmith/core/task.hpp>

#include "json_records.hpp"

namespace kernelsmith::detail {

template <>
struct Codec<Dtype> : NameCodec<Dtype, dtype_from> {};
template <>
struct Codec<TensorRole> : NameCodec<TensorRole, tensor_role_from> {};
template <>
struct Codec<TensorInit> : NameCodec<TensorInit, tensor_init_from> {};

template <>
struct Codec<std::int64_t> {
  static Json encode(std::int64_t value) { return value; }
  static std::int64_t decode(const Json& in, const JsonPath& path) {
    const bool fits = in.is_number_integer() &&
                      (!in.is_number_unsigned() || in.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
    if (!fits) refuse_type(path, "a whole number", in);
    return in.get<std::int64_t>();
  }
};

template <>
struct Codec<int> {
  static Json encode(int value) { return value; }
  static int decode(const Json& in, const JsonPath& path) {
    const std::int64_t value = Codec<std::int64_t>::decode(in, path);
    if (value < INT_MIN || value > INT_MAX) refuse_type(path, "a smaller number", in);
    return static_cast<int>(value);
  }
};

template <>
struct Codec<CacheState> {
  static Json encode(CacheState state) { return state == CacheState::warm ? "warm" : "cold"; }
  static CacheState decode(const Json& in, const JsonPath& path) {
    if (in == "warm") return CacheState::warm;
    if (in != "cold") refuse_type(path, "cold or warm", in);
    return CacheState::cold;
  }
};

template <>
struct Fields<Specials> {
  static void list(auto& io, auto& specials) {
    io("nan", specials.nan);
    io("infinities", specials.infinities);
    io("denormals", specials.denormals);
    io("large", specials.large);
  }
};
template <>
struct Fields<TensorSpec> {
  static void list(auto& io, auto& tensor) {
    io("name", tensor.name);
    io("role", tensor.role);
    io("dtype", tensor.dtype);
    io("shape", tensor.shape);
    io("init", tensor.init);
    io("low", tensor.low);
    io("high", tensor.high);
    io("constant", tensor.constant);
    io("specials", tensor.specials);
  }
};
template <>
struct Fields<Tolerance> {
  static void list(auto& io, auto& tolerance) {
    io("policy", tolerance.policy);
    io("allow", tolerance.allow);
    io("rtol", tolerance.rtol);
    io("atol", tolerance.atol);
    io("matched", tolerance.matched);
    io("cap", tolerance.cap);
    io("either", tolerance.either);
    io("truth", tolerance.truth);
  }
};
template <>
struct Fields<Declared> {
  static void list(auto& io, auto& declared) {
    io("bytes", declared.bytes);
    io("operations", declared.operations);
    io("operations_are_minimal", declared.operations_are_minimal);
    io("accumulate", declared.accumulate);
  }
};
template <>
struct Fields<TaskProgram> {
  static void list(auto& io, auto& program) {
    io("path", program.path);
    io("text", program.text);
  }
};
template <>
struct Fields<Task> {
  static void list(auto& io, auto& task) {
    io("name", task.name);
    io("backend", task.backend);
    io("entry", task.entry);
    io("reference", task.reference);
    io("baseline", task.baseline);
    io("seed", task.seed);
    io("yardstick", task.yardstick);
    io("oracle", task.oracle);
    io("inputs", task.inputs);
    io("sizes", task.sizes);
    io("size_order", task.size_order);
    io("tensors", task.tensors);
    io("timed", task.timed);
    io.defaulted("timed_weights", task.timed_weights);
    io("check", task.check);
    io("tolerance", task.tolerance);
    io("declared", task.declared);
    io("threads", task.threads);
    io("cache", task.cache);
    io("nondeterministic", task.nondeterministic);
    io("settings", task.settings);
    io("evaluator", task.evaluator);
    io("description", task.description);
    io("flags", task.flags);
    io("command", task.command);
    io("timeout_s", task.timeout_s);
    io("files", task.files);
    io("digest", task.digest);
  }
};

/// Does not repeat the checks that a loader makes of a task.yaml.
template <>
struct Codec<Task> : RecordCodec<Task> {
  static Task decode(const Json& in, const JsonPath& path) {
    Task task = RecordCodec<Task>::decode(in, path);
    // Files are written to these paths, so Source refuses paths that lead out of a folder.
    if (const auto files = Source::create(task.files); !files)
      refuse(path, files.error().message + ": " + files.error().where);
    return task;
  }
};

}  // namespace kernelsmith::detail
