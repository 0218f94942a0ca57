// The fields of each part of a plan, in the order of the file. The same code writes and reads them.
// docs/plan.md lists them in a table.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith::plan {

/// T, which is const for writing.
template <class Value, class T>
concept Of = std::same_as<std::remove_const_t<Value>, T>;

template <class Coder, class Array>
void numbers(Coder& coder, Array& array) {
  for (auto& number : array) coder.number(number);
}

template <class Coder>
void fields(Coder& coder, std::integral auto& number) {
  coder.number(number);
}

template <class Coder>
void fields(Coder& coder, Of<std::string> auto& text) {
  coder.text(text, kMaxEncodedBytes);
}

template <class Coder>
void fields(Coder& coder, Of<std::vector<std::uint64_t>> auto& values) {
  coder.list(values, kMaxEncodedBytes);
}

template <class Coder>
void fields(Coder& coder, Of<Dim3> auto& dim) {
  numbers(coder, dim);
}

template <class Coder>
void fields(Coder& coder, Of<std::vector<std::byte>> auto& cubin) {
  coder.bytes(cubin, kMaxEncodedBytes);
}

template <class Coder>
void fields(Coder& coder, Of<Parameter> auto& parameter) {
  coder.number(parameter.offset);
  coder.number(parameter.size);
}

template <class Coder>
void fields(Coder& coder, Of<Kernel> auto& kernel) {
  coder.number(kernel.module);
  coder.text(kernel.name, kMaxName);
  coder.list(kernel.parameters, kMaxParameters);
  coder.number(kernel.registers);
  coder.number(kernel.static_shared);
  coder.number(kernel.local);
}

template <class Coder>
void fields(Coder& coder, Of<TensorMap> auto& map) {
  coder.number(map.data_type);
  coder.number(map.rank);
  coder.number(map.address);
  numbers(coder, map.dimensions);
  numbers(coder, map.strides);
  numbers(coder, map.box);
  numbers(coder, map.element_strides);
  coder.number(map.interleave);
  coder.number(map.swizzle);
  coder.number(map.l2_promotion);
  coder.number(map.out_of_bounds_fill);
}

template <class Coder>
void fields(Coder& coder, Of<TensorMapUse> auto& use) {
  coder.number(use.offset);
  coder.number(use.map);
}

template <class Coder>
void fields(Coder& coder, Of<Launch> auto& launch) {
  coder.number(launch.kernel);
  fields(coder, launch.grid);
  fields(coder, launch.block);
  coder.optional(launch.cluster);
  coder.number(launch.dynamic_shared);
  coder.number(launch.max_dynamic_shared);
  coder.number(launch.shared_carveout);
  coder.flag(launch.nonportable_cluster);
  coder.flag(launch.cooperative);
  coder.flag(launch.programmatic);
  coder.bytes(launch.parameters, kMaxParameterBytes);
  coder.list(launch.tensor_maps, kMaxTensorMaps);
}

template <class Coder>
void fields(Coder& coder, Of<Memset> auto& memset) {
  coder.number(memset.address);
  coder.number(memset.value);
  coder.number(memset.element_bytes);
  coder.number(memset.count);
}

template <class Coder>
void fields(Coder& coder, Of<Copy> auto& copy) {
  coder.number(copy.to);
  coder.number(copy.from);
  coder.number(copy.bytes);
}

template <class Coder>
void fields(Coder& coder, Of<Upload> auto& upload) {
  coder.number(upload.to);
  coder.bytes(upload.bytes, kMaxUpload);
}

template <class Coder>
void fields(Coder& coder, Of<SymbolUpload> auto& upload) {
  coder.number(upload.module);
  coder.text(upload.symbol, kMaxName);
  coder.number(upload.offset);
  coder.bytes(upload.bytes, kMaxUpload);
}

template <class Coder>
void fields(Coder& coder, Of<EventRecord> auto& record) {
  coder.number(record.event);
}

template <class Coder>
void fields(Coder& coder, Of<EventWait> auto& wait) {
  coder.number(wait.event);
}

template <class Coder>
void fields(Coder& coder, Of<Operation> auto& operation) {
  coder.number(operation.stream);
  coder.choice(operation.what);
}

template <class Coder>
void fields(Coder& coder, Of<Call> auto& call) {
  coder.list(call.operations, kMaxOperations);
  coder.list(call.tensor_maps, kMaxTensorMaps);
  coder.number(call.kept_workspace);
  coder.number(call.call_workspace);
}

template <class Coder>
void fields(Coder& coder, Of<Workspace> auto& workspace) {
  coder.number(workspace.kept);
  coder.number(workspace.call);
  coder.number(workspace.bytes);
}

template <class Coder>
void fields(Coder& coder, Of<Buffer> auto& buffer) {
  coder.number(buffer.address);
  coder.number(buffer.bytes);
  coder.flag(buffer.writable);
}

template <class Coder>
void fields(Coder& coder, Of<Plan> auto& plan) {
  coder.list(plan.cubins, kMaxCubins);
  coder.list(plan.kernels, kMaxKernels);
  fields(coder, plan.workspace);
  coder.list(plan.calls, kMaxCalls);
}

}  // namespace kernelsmith::plan
