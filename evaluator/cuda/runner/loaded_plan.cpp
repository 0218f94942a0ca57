#include "runner/loaded_plan.hpp"

#include <algorithm>
#include <cstring>
#include <variant>

#include "alignment.hpp"
#include "runner/faults.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr std::size_t kNamed = 8;  // launches in one message, which people or models read

std::size_t upload_bytes(const plan::Operation& operation) {
  if (const auto* upload = std::get_if<plan::Upload>(&operation.what)) return aligned(upload->bytes.size());
  if (const auto* upload = std::get_if<plan::SymbolUpload>(&operation.what))
    return aligned(upload->bytes.size());
  return 0;
}

}  // namespace

Failure malformed(const std::string& what) {
  return fail(ErrorCode::invalid_argument, "a plan that was not checked: " + what);
}

std::string text_of(const plan::Dim3& size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

std::string describe_launch(const plan::Launch& launch, const std::string& kernel) {
  std::string text =
      plan::readable_name(kernel) + " with grid " + text_of(launch.grid) + ", block " + text_of(launch.block);
  if (launch.cluster) text += ", cluster " + text_of(*launch.cluster);
  if (launch.dynamic_shared != 0)
    text += ", " + std::to_string(launch.dynamic_shared) + " bytes of dynamic shared memory";
  if (launch.max_dynamic_shared != 0)
    text += " (of at most " + std::to_string(launch.max_dynamic_shared) + " set)";
  if (launch.cooperative) text += ", cooperative";
  return text;
}

Judged<std::unique_ptr<LoadedPlan>> LoadedPlan::load(const Driver& driver, const plan::Plan& plan,
                                                     std::size_t calls) {
  std::unique_ptr<LoadedPlan> loaded(new LoadedPlan(driver, plan, calls));
  if (auto got = loaded->load_modules(); !got) return got.error();
  if (auto got = loaded->find_functions(); !got) return got.error();
  if (auto got = loaded->reserve_uploads(); !got) return got.error();
  return loaded;
}

LoadedPlan::~LoadedPlan() {
  exec_.reset();
  if (uploads_ != nullptr) driver_.host_free(uploads_);
}

Judged<void> LoadedPlan::load_modules() {
  for (const auto& image : plan_.cubins) {
    abi::Module module = nullptr;
    const auto code = driver_.module_load(&module, image.data());
    if (auto got = done(code, driver_.module_load.name, [] { return "to load the image"; }); !got) return got;
    modules_.emplace_back(driver_.module_unload, module);
  }
  return {};
}

/// Finds the launched functions, and allows each the largest dynamic shared memory that any of its launches
/// opts in to. This attribute belongs to the function, and all launches of a graph share it.
Judged<void> LoadedPlan::find_functions() {
  struct Limits {
    std::uint32_t shared = 0;
    bool nonportable = false;
  };
  std::map<std::uint32_t, Limits> limits;
  for (std::size_t i = 0; i < calls_; ++i)
    for (const auto& operation : plan_.calls[i].operations)
      if (const auto* launch = std::get_if<plan::Launch>(&operation.what)) {
        Limits& limit = limits[launch->kernel];
        limit.shared = std::max(limit.shared, launch->max_dynamic_shared);
        limit.nonportable |= launch->nonportable_cluster;
      }
  for (const auto& [index, limit] : limits) {
    if (index >= plan_.kernels.size() || plan_.kernels[index].module >= modules_.size())
      return malformed("kernel " + std::to_string(index));
    const auto& kernel = plan_.kernels[index];
    KernelState& state = kernels_[index];
    const auto set = [&](int attribute, int value, const char* what) {
      return done(driver_.function_set(state.function, attribute, value), driver_.function_set.name,
                  [&] { return plan::readable_name(kernel.name) + " " + what; });
    };
    if (const auto code =
            driver_.module_function(&state.function, modules_[kernel.module].get(), kernel.name.c_str());
        code != abi::kSuccess)
      return refused(driver_, "the image has no kernel " + plan::readable_name(kernel.name),
                     driver_.module_function.name, code);
    if (auto got = check_parameters(kernel, state.function); !got) return got;
    const std::string shared = std::to_string(limit.shared) + " bytes of dynamic shared memory";
    if (limit.shared > 0)
      if (auto got = set(abi::kMaxDynamicShared, static_cast<int>(limit.shared), shared.c_str()); !got)
        return got;
    if (limit.nonportable)
      if (auto got = set(abi::kNonPortableCluster, 1, "a cluster size that is not portable"); !got)
        return got;
  }
  return {};
}

/// A launch reads as many parameter bytes as the driver finds in the image. If that were more than we found,
/// a kernel would get bytes of this process after its parameters.
Judged<void> LoadedPlan::check_parameters(const plan::Kernel& kernel, abi::Function function) const {
  if (driver_.parameter_info.pointer == nullptr) return {};
  std::vector<plan::Parameter> found;
  std::size_t offset = 0, size = 0;
  while (found.size() <= kernel.parameters.size() &&
         driver_.parameter_info(function, found.size(), &offset, &size) == abi::kSuccess)
    found.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
  if (found == kernel.parameters) return {};
  return reject(
      Stage::run, RejectionCode::load_failed,
      driver_.api() + " finds other parameters of " + plan::readable_name(kernel.name) + " in its image");
}

Judged<void> LoadedPlan::reserve_uploads() {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < calls_; ++i)
    for (const auto& operation : plan_.calls[i].operations) bytes += upload_bytes(operation);
  if (bytes == 0) return {};
  void* memory = nullptr;
  if (const auto got = driver_.call(driver_.host_allocate, &memory, bytes, abi::kHostPortable); !got)
    return Failure(got.error());
  uploads_ = static_cast<std::byte*>(memory);
  return {};
}

const void* LoadedPlan::keep_for_upload(const std::vector<std::byte>& bytes) {
  std::byte* const place = uploads_ + uploads_used_;
  if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
  uploads_used_ += aligned(bytes.size());
  return place;
}

Judged<void> LoadedPlan::build() {
  abi::Graph made = nullptr;
  if (const auto got = driver_.call(driver_.graph_create, &made, 0U); !got) return Failure(got.error());
  const Owned whole(driver_.graph_destroy, made);
  auto start = make_event(driver_, abi::kEventDisableTiming);
  if (!start) return Failure(start.error());
  start_ = std::move(*start);
  abi::GraphNode last = nullptr;
  for (std::size_t i = 0; i < calls_; ++i) {
    const auto child = capture(plan_.calls[i]);
    if (!child) return child.error();
    abi::GraphNode node = nullptr;
    if (const auto code = driver_.graph_add_child(&node, made, last != nullptr ? &last : nullptr,
                                                  last != nullptr ? 1 : 0, child->get());
        code != abi::kSuccess)
      return graph_refused(driver_.graph_add_child.name, code);
    last = node;
  }
  abi::GraphExec exec = nullptr;
  if (const auto code = driver_.graph_instantiate(&exec, made, 0ULL); code != abi::kSuccess)
    return graph_refused(driver_.graph_instantiate.name, code);
  exec_ = Owned(driver_.graph_exec_destroy, exec);
  return {};
}

std::uint32_t LoadedPlan::local_bytes() const {
  std::uint32_t most = 0;
  for (const auto& [index, state] : kernels_) most = std::max(most, plan_.kernels[index].local);
  return most;
}

Judged<void> LoadedPlan::upload(abi::Stream stream) {
  if (const auto code = driver_.graph_upload(exec_.get(), stream); code != abi::kSuccess)
    return graph_refused(driver_.graph_upload.name, code);
  return {};
}

/// The driver does not say which launch it refuses, so the first call's launches are named.
Failure LoadedPlan::graph_refused(const char* function, abi::Code code) const {
  std::string launches;
  std::size_t named = 0;
  for (const auto& operation : plan_.calls.front().operations)
    if (const auto* launch = std::get_if<plan::Launch>(&operation.what);
        launch != nullptr && named < kNamed) {
      launches += (named++ == 0 ? ", whose launches are " : "; ") +
                  describe_launch(*launch, plan_.kernels[launch->kernel].name);
    }
  return refused(driver_, driver_.api() + " refuses the graph of a call" + launches, function, code);
}

Judged<Owned<abi::Graph>> LoadedPlan::capture(const plan::Call& call) {
  captured_.clear();
  const auto origin = enter(0);
  if (!origin) return origin.error();
  auto added = capture_operations(call);
  abi::Graph graph = nullptr;
  const abi::Code ended = driver_.capture_end(*origin, &graph);
  Owned<abi::Graph> owned;
  if (graph != nullptr) owned = Owned(driver_.graph_destroy, graph);
  if (!added) return added.error();
  if (ended != abi::kSuccess)
    return refused(driver_, driver_.api() + " refuses the order of a call's streams and events",
                   driver_.capture_end.name, ended);
  return owned;
}

Judged<void> LoadedPlan::capture_operations(const plan::Call& call) {
  for (const auto& operation : call.operations) {
    const auto stream = enter(operation.stream);
    if (!stream) return stream.error();
    const Place place{call, *stream};
    auto added = std::visit([&](const auto& what) { return add(what, place); }, operation.what);
    if (!added) return added;
  }
  return {};
}

/// Makes the stream a part of the capture, so that nothing runs while the graph is built. Stream 0 begins the
/// capture, and other streams are forked from that beginning.
Judged<abi::Stream> LoadedPlan::enter(std::uint32_t number) {
  if (number >= plan::kMaxStreams) return malformed("stream " + std::to_string(number));
  Owned<abi::Stream>& stream = streams_[number];
  if (!stream) {
    auto made = make_stream(driver_);
    if (!made) return Failure(made.error());
    stream = std::move(*made);
  }
  if (!captured_.insert(number).second) return stream.get();
  if (number != 0) {
    if (const auto got = driver_.call(driver_.stream_wait, stream.get(), start_.get(), 0U); !got)
      return Failure(got.error());
    return stream.get();
  }
  if (const auto got = driver_.call(driver_.capture_begin, stream.get(), abi::kCaptureRelaxed); !got)
    return Failure(got.error());
  if (const auto got = driver_.call(driver_.event_record, start_.get(), stream.get()); !got)
    return Failure(got.error());
  return stream.get();
}

Judged<abi::Event> LoadedPlan::event(std::uint32_t number) {
  if (number >= plan::kMaxEvents) return malformed("event " + std::to_string(number));
  Owned<abi::Event>& event = events_[number];
  if (!event) {
    auto made = make_event(driver_, abi::kEventDisableTiming);
    if (!made) return Failure(made.error());
    event = std::move(*made);
  }
  return event.get();
}

}  // namespace kernelsmith::cuda
