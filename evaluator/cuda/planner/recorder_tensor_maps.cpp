// Tensor maps of the recorder.
#include "planner/recorder.hpp"
#include "planner/tensor_map_token.hpp"

namespace kernelsmith::cuda::planner {
namespace {

/// Maps that a candidate may keep from call to call; a call has at most kMaxTensorMaps.
constexpr std::size_t kKeptMaps = 4096;

}  // namespace

void Recorder::leave_token(void* map, const plan::TensorMap& arguments) {
  maps_.push_back(arguments);
  if (maps_.size() > kKeptMaps) {
    maps_.pop_front();
    ++forgotten_maps_;
  }
  write_token(std::span<std::byte, kTensorMapBytes>(static_cast<std::byte*>(map), kTensorMapBytes),
              forgotten_maps_ + maps_.size() - 1);
}

const plan::TensorMap* Recorder::behind_token(const void* map) const {
  const auto number = token_in({static_cast<const std::byte*>(map), kTensorMapBytes});
  if (!number || *number < forgotten_maps_ || *number - forgotten_maps_ >= maps_.size()) return nullptr;
  return &maps_[*number - forgotten_maps_];
}

bool Recorder::holds_token(std::span<const std::byte> bytes) const {
  for (std::size_t at = 0; at + kTensorMapBytes <= bytes.size(); at += 8)
    if (token_in(bytes.subspan(at, kTensorMapBytes))) return true;
  return false;
}

}  // namespace kernelsmith::cuda::planner
