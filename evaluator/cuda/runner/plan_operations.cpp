// LoadedPlan's operations; each is added to the capture of its call.
#include <array>
#include <cstring>

#include "runner/faults.hpp"
#include "runner/loaded_plan.hpp"

namespace kernelsmith::cuda {
namespace {

std::array<abi::LaunchAttribute, 3> attributes_of(const plan::Launch& launch, unsigned& count) {
  std::array<abi::LaunchAttribute, 3> attributes{};
  count = 0;
  if (launch.cooperative) {
    attributes[count].id = abi::kCooperative;
    attributes[count++].value.cooperative = 1;
  }
  if (launch.cluster) {
    const auto& size = *launch.cluster;
    attributes[count].id = abi::kClusterDimension;
    attributes[count++].value.cluster = {size[0], size[1], size[2]};
  }
  if (launch.programmatic) {
    attributes[count].id = abi::kProgrammaticSerialization;
    attributes[count++].value.programmatic = 1;
  }
  return attributes;
}

abi::Code encode(const Driver& driver, const plan::TensorMap& map, abi::TensorMap& encoded) {
  // A device address as the pointer that the driver wants. NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* const address = reinterpret_cast<void*>(map.address);
  return driver.encode_tensor_map(&encoded, static_cast<int>(map.data_type), map.rank, address,
                                  map.dimensions.data(), map.strides.data(), map.box.data(),
                                  map.element_strides.data(), static_cast<int>(map.interleave),
                                  static_cast<int>(map.swizzle), static_cast<int>(map.l2_promotion),
                                  static_cast<int>(map.out_of_bounds_fill));
}

}  // namespace

/// The launch's parameters with real tensor maps in place of their tokens.
Judged<void> LoadedPlan::fill_parameters(const plan::Launch& launch, const plan::Call& call) {
  if (launch.parameters.size() > sizeof parameters_->bytes) return malformed("parameters");
  if (!launch.parameters.empty())
    std::memcpy(parameters_->bytes, launch.parameters.data(), launch.parameters.size());
  for (const plan::TensorMapUse& use : launch.tensor_maps) {
    abi::TensorMap encoded;
    if (use.map >= call.tensor_maps.size() || launch.parameters.size() < sizeof encoded ||
        use.offset > launch.parameters.size() - sizeof encoded)
      return malformed("a tensor map");
    auto made =
        done(encode(driver_, call.tensor_maps[use.map], encoded), driver_.encode_tensor_map.name,
             [&] { return "a tensor map of " + plan::readable_name(plan_.kernels[launch.kernel].name); });
    if (!made) return made;
    std::memcpy(parameters_->bytes + use.offset, &encoded, sizeof encoded);
  }
  return {};
}

Judged<void> LoadedPlan::set_carveout(const plan::Launch& launch) {
  KernelState& kernel = kernels_.at(launch.kernel);
  if (kernel.carveout == launch.shared_carveout) return {};
  kernel.carveout = launch.shared_carveout;
  return done(driver_.function_set(kernel.function, abi::kSharedCarveout, launch.shared_carveout),
              driver_.function_set.name,
              [&] { return "a shared memory carveout of " + std::to_string(launch.shared_carveout); });
}

Judged<void> LoadedPlan::add(const plan::Launch& launch, const Place& place) {
  const plan::Kernel& kernel = plan_.kernels[launch.kernel];
  if (auto got = fill_parameters(launch, place.call); !got) return got;
  if (auto got = set_carveout(launch); !got) return got;
  // Pointers, not CU_LAUNCH_PARAM_BUFFER_POINTER: a cooperative launch refuses that.
  std::array<void*, plan::kMaxParameters> parameters{};
  if (kernel.parameters.size() > parameters.size()) return malformed("the parameters of " + kernel.name);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const plan::Parameter& parameter = kernel.parameters[i];
    if (std::size_t{parameter.offset} + parameter.size > launch.parameters.size())
      return malformed("the parameters of " + kernel.name);
    parameters[i] = parameters_->bytes + parameter.offset;
  }
  abi::LaunchConfig config;
  auto attributes = attributes_of(launch, config.attribute_count);
  for (std::size_t i = 0; i < 3; ++i) {
    config.grid[i] = launch.grid[i];
    config.block[i] = launch.block[i];
  }
  config.shared_bytes = launch.dynamic_shared;
  config.stream = place.stream;
  config.attributes = attributes.data();
  return done(driver_.launch(&config, kernels_.at(launch.kernel).function, parameters.data(), nullptr),
              driver_.launch.name, [&] { return "the launch of " + describe_launch(launch, kernel.name); });
}

Judged<void> LoadedPlan::add(const plan::Memset& memset, const Place& place) {
  if (memset.count == 0) return {};
  abi::Code code = abi::kInvalidValue;
  const char* function = driver_.set_bytes.name;
  if (memset.element_bytes == 4) {
    function = driver_.set_words.name;
    code = driver_.set_words(memset.address, memset.value, memset.count, place.stream);
  } else if (memset.element_bytes == 2) {
    function = driver_.set_halves.name;
    code = driver_.set_halves(memset.address, static_cast<unsigned short>(memset.value), memset.count,
                              place.stream);
  } else if (memset.element_bytes == 1) {
    code = driver_.set_bytes(memset.address, static_cast<unsigned char>(memset.value), memset.count,
                             place.stream);
  }
  return done(code, function, [&] { return "a memset of " + std::to_string(memset.count) + " elements"; });
}

Judged<void> LoadedPlan::add(const plan::Copy& copy, const Place& place) {
  if (copy.bytes == 0) return {};
  return done(driver_.copy_on_device(copy.to, copy.from, copy.bytes, place.stream),
              driver_.copy_on_device.name,
              [&] { return "a copy of " + std::to_string(copy.bytes) + " bytes on the device"; });
}

Judged<void> LoadedPlan::add(const plan::Upload& upload, const Place& place) {
  if (upload.bytes.empty()) return {};
  return done(
      driver_.copy_to_device(upload.to, keep_for_upload(upload.bytes), upload.bytes.size(), place.stream),
      driver_.copy_to_device.name,
      [&] { return "a copy of " + std::to_string(upload.bytes.size()) + " bytes to the device"; });
}

Judged<void> LoadedPlan::add(const plan::SymbolUpload& upload, const Place& place) {
  if (upload.bytes.empty()) return {};
  if (upload.module >= modules_.size()) return malformed("the module of symbol " + upload.symbol);
  abi::Address address = 0;
  std::size_t bytes = 0;
  if (const auto code =
          driver_.module_global(&address, &bytes, modules_[upload.module].get(), upload.symbol.c_str());
      code != abi::kSuccess)
    return refused(driver_, "the image has no variable " + plan::readable_name(upload.symbol),
                   driver_.module_global.name, code);
  if (upload.offset > bytes || upload.bytes.size() > bytes - upload.offset)
    return reject(Stage::run, RejectionCode::load_failed,
                  "a copy to the variable " + plan::readable_name(upload.symbol) +
                      " goes past its end: " + std::to_string(upload.bytes.size()) + " bytes at " +
                      std::to_string(upload.offset) + " of " + std::to_string(bytes));
  return done(driver_.copy_to_device(address + upload.offset, keep_for_upload(upload.bytes),
                                     upload.bytes.size(), place.stream),
              driver_.copy_to_device.name,
              [&] { return "a copy to the variable " + plan::readable_name(upload.symbol); });
}

Judged<void> LoadedPlan::add(const plan::EventRecord& record, const Place& place) {
  const auto recorded = event(record.event);
  if (!recorded) return recorded.error();
  return done(driver_.event_record(*recorded, place.stream), driver_.event_record.name,
              [] { return "to record an event"; });
}

Judged<void> LoadedPlan::add(const plan::EventWait& wait, const Place& place) {
  const auto awaited = event(wait.event);
  if (!awaited) return awaited.error();
  return done(driver_.stream_wait(place.stream, *awaited, 0U), driver_.stream_wait.name,
              [] { return "to wait for an event"; });
}

}  // namespace kernelsmith::cuda
