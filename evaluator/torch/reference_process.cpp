#include "reference_process.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <kernelsmith/evaluator/cuda/launch_rules.hpp>
#include <kernelsmith/evaluator/cuda/ptx_kernels.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

#include "python_program.hpp"

namespace kernelsmith::torch {
namespace {

/// The dtype for printing numbers: types that we lack count as a real or an integer type.
Dtype dtype_of(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, Dtype>, 11> kKnown = {{{"float64", Dtype::f64},
                                                                          {"float32", Dtype::f32},
                                                                          {"float16", Dtype::f16},
                                                                          {"bfloat16", Dtype::bf16},
                                                                          {"float8_e4m3fn", Dtype::f8e4m3},
                                                                          {"float8_e5m2", Dtype::f8e5m2},
                                                                          {"int64", Dtype::i64},
                                                                          {"int32", Dtype::i32},
                                                                          {"int8", Dtype::i8},
                                                                          {"uint8", Dtype::u8},
                                                                          {"bool", Dtype::boolean}}};
  for (const auto& [known, dtype] : kKnown)
    if (known == name) return dtype;
  return name.starts_with("float") || name.starts_with("complex") ? Dtype::f64 : Dtype::i64;
}

TensorExtent extent_of_output(const Json& output, Dtype dtype) {
  TensorExtent extent;
  extent.elements = 1;
  for (const Json& size : member(output, "shape")) {
    extent.shape.push_back(size.is_number_unsigned() ? size.get<std::int64_t>() : 0);
    extent.elements *= static_cast<std::size_t>(extent.shape.back());
  }
  extent.bytes = extent.elements * bytes_of(dtype);
  return extent;
}

std::vector<std::string> texts_in(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& text : list)
    if (text.is_string()) texts.push_back(text.get<std::string>());
  return texts;
}

WorkloadFacts facts_of(const Json& found, TorchWorkload told) {
  WorkloadFacts facts;
  facts.told = std::move(told);
  for (const Json& output : member(found, "outputs")) {
    TensorSpec tensor;
    tensor.name = "output " + std::to_string(facts.outputs.size());
    tensor.role = TensorRole::out;
    tensor.dtype = dtype_of(text_at(output, "dtype"));
    facts.extents.push_back(extent_of_output(output, tensor.dtype));
    facts.outputs.push_back(std::move(tensor));
  }
  for (const Json& index : member(found, "degenerate"))
    if (index.is_number_unsigned() && index.get<std::size_t>() < facts.outputs.size())
      facts.degenerate.push_back(facts.outputs[index.get<std::size_t>()].name);
  facts.layouts = member(found, "outputs");
  facts.variants = texts_in(member(found, "variants"));
  facts.slots = std::max<std::size_t>(count_at(found, "slots"), 1);
  facts.compulsory_bytes = number_at(found, "compulsory_bytes");
  facts.flops = number_at(found, "flops");
  facts.memory = member(found, "memory");
  facts.need_bytes = count_at(facts.memory, "need");
  return facts;
}

Result<ReferenceFacts> facts_of(const Json& reply, const ReferenceSettings& settings) {
  std::vector<TorchWorkload> told = workloads_of(settings.torch);
  const Json& found = member(reply, "workloads");
  ReferenceFacts facts;
  bool complete = found.is_array() && found.size() == told.size();
  for (std::size_t i = 0; complete && i < told.size(); ++i) {
    const WorkloadFacts& one = facts.workloads.emplace_back(facts_of(found[i], std::move(told[i])));
    complete = !one.outputs.empty() && !one.variants.empty();
  }
  if (!complete)
    return fail(ErrorCode::tool_failed, "the judge of the torch backend names no outputs or no inputs");
  facts.bytes_per_us = number_at(reply, "bytes_per_us");
  facts.notes = texts_in(member(reply, "notes"));
  for (const auto& [step, seconds] : member(reply, "spent_s").items())
    if (seconds.is_number()) facts.spent_ms[step] = seconds.get<double>() * 1e3;
  return facts;
}

/// The request to prepare the task.
Json preparation_of(const ReferenceSettings& settings) {
  return {{"do", "prepare"},
          {"reference", settings.reference.string()},
          {"precision", settings.torch.precision},
          {"baseline", settings.torch.baseline},
          {"cast", settings.torch.cast},
          {"bank_bytes", settings.bank_bytes},
          {"batch_us", settings.batch_us},
          {"most_slots", settings.most_slots},
          {"alone", settings.alone},
          {"kernels", own_kernels()},
          {"workloads", judged_workloads(settings.torch, settings.tolerance)}};
}

}  // namespace

double WorkloadFacts::bytes_moved() const {
  double bytes = compulsory_bytes;
  for (const TensorExtent& output : extents) bytes += static_cast<double>(output.bytes);
  return bytes;
}

const WorkloadFacts& ReferenceFacts::largest() const {
  return *std::ranges::max_element(workloads, {}, &WorkloadFacts::need_bytes);
}

bool ReferenceFacts::has_degenerate() const {
  return std::ranges::any_of(workloads, [](const WorkloadFacts& one) { return !one.degenerate.empty(); });
}

Json batch_request(const char* what, std::size_t workload, std::size_t variant,
                   const std::vector<const InputSet*>& sets) {
  Json seeds = Json::array();
  for (const InputSet* const set : sets) seeds.push_back(set->seed);
  return {{"do", what}, {"workload", workload}, {"variant", variant}, {"sets", std::move(seeds)}};
}

Json own_kernels() {
  return {{"plain_kernels", cuda::kPlainKernels}, {"local_wipe", cuda::kLocalWipe},
          {"wipe_waves", cuda::kWipeWaves},       {"wipe_threads", cuda::kWipeThreads},
          {"sweep_blocks", cuda::kSweepBlocks},   {"sweep_threads", cuda::kSweepThreads},
          {"sweep_over_l2", cuda::kSweepOverL2},  {"gate_ns", cuda::kGateNs}};
}

Result<DeviceFacts> ReferenceProcess::open(const std::stop_token& stop) {
  auto worker = TrustedProcess::start(start_, Role::judge, stop);
  if (!worker) return worker.error();
  worker_ = std::move(*worker);
  const auto hello = worker_->ask({{"do", "hello"}}, limits_.start_s, stop);
  if (!hello) {
    Error error = machine_error(hello.error());
    if (error.code == ErrorCode::busy || error.code == ErrorCode::cancelled) return error;
    if (!worker_->alive())
      return fail(ErrorCode::tool_missing, error.message, "kernelsmith_torch.worker", kNeedsTorch);
    return fail(
        ErrorCode::unsupported, std::move(error.message), std::move(error.where),
        "run this on a machine with an NVIDIA GPU, its driver and a PyTorch built for CUDA (kernelsmith "
        "doctor says what it sees)");
  }
  DeviceFacts facts{text_at(hello->json, "device"), 0, text_at(hello->json, "bus_id"),
                    count_at(hello->json, "memory_bytes")};
  for (const Json& part : member(hello->json, "capability"))
    if (part.is_number_unsigned()) facts.arch = 10 * facts.arch + part.get<int>();
  if (facts.hardware.empty() || facts.bus_id.empty() || facts.arch == 0)
    return fail(ErrorCode::tool_failed, "the judge of the torch backend names no device");
  return facts;
}

void ReferenceProcess::read(const ReferenceSettings& settings, const std::stop_token& stop) {
  static_cast<void>(worker_->ask({{"do", "read"},
                                  {"reference", settings.reference.string()},
                                  {"cast", settings.torch.cast},
                                  {"workloads", judged_workloads(settings.torch, settings.tolerance)}},
                                 limits_.prepare_s, stop));
}

Status ReferenceProcess::try_reference(const ReferenceSettings& settings, const std::stop_token& stop) {
  Json request = preparation_of(settings);
  request["do"] = "try";
  if (Status opened = reopened(stop); !opened) return opened;
  if (const auto tried = worker_->ask(request, limits_.prepare_s, stop); !tried)
    return machine_error(tried.error());
  return {};
}

Result<ReferenceFacts> ReferenceProcess::prepare(const ReferenceSettings& settings,
                                                 const std::stop_token& stop) {
  preparation_ = preparation_of(settings);
  if (const Status opened = reopened(stop); !opened) return opened.error();
  const auto reply = worker_->ask(preparation_, limits_.prepare_s, stop);
  if (!reply) return machine_error(reply.error());
  auto facts = facts_of(reply->json, settings);
  if (!facts) return facts;
  // A process that replaces this one must take the same batches.
  for (std::size_t i = 0; i < facts->workloads.size(); ++i)
    preparation_["workloads"][i]["slots"] = facts->workloads[i].slots;
  return facts;
}

Status ReferenceProcess::reopened(const std::stop_token& stop) {
  if (worker_ && worker_->alive()) return {};
  if (const auto opened = open(stop); !opened) return opened.error();
  return {};
}

void ReferenceProcess::release() {
  if (!worker_ || !worker_->alive()) return;
  if (!worker_->ask({{"do", "release"}}, limits_.load_s, {})) worker_.reset();
}

Judged<Reply> ReferenceProcess::ask(const Json& request, double timeout_s, const std::stop_token& stop) {
  if (!worker_ || !worker_->alive()) {
    if (const Status opened = reopened(stop); !opened) return Failure(opened.error());
    if (const auto prepared = worker_->ask(preparation_, limits_.prepare_s, stop); !prepared)
      return Failure(machine_error(prepared.error()));
  }
  return worker_->ask(request, timeout_s, stop);
}

}  // namespace kernelsmith::torch
