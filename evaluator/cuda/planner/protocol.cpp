#include "planner/protocol.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

namespace kernelsmith::cuda::planner {
namespace {

class Writer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void put(T value) { append(&value, sizeof value); }
  void put(const std::string& text) {
    put(std::uint64_t{text.size()});
    append(text.data(), text.size());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t count) {
    const auto* const begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }
  std::vector<std::byte> bytes_;
};

/// After the end of the data all reads return zero, and ok() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
  requires std::is_arithmetic_v<T>
  void get(T& value) {
    value = {};
    if (enough_for(sizeof value)) std::memcpy(&value, taken(sizeof value).data(), sizeof value);
  }
  void get(std::string& text) {
    const std::size_t bytes = count(1);
    const auto from = taken(bytes);
    text.assign(reinterpret_cast<const char*>(from.data()), from.size());
  }
  /// Reads a number of items, each of at least that many bytes.
  std::size_t count(std::size_t item_bytes) {
    std::uint64_t number = 0;
    get(number);
    ok_ = ok_ && number <= left_.size() / item_bytes;
    return ok_ ? static_cast<std::size_t>(number) : 0;
  }
  bool all_read() const { return ok_ && left_.empty(); }

 private:
  bool enough_for(std::size_t bytes) { return ok_ = ok_ && left_.size() >= bytes; }
  std::span<const std::byte> taken(std::size_t bytes) {
    const auto first = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return first;
  }
  std::span<const std::byte> left_;
  bool ok_ = true;
};

void put(Writer& out, const DeviceFacts& device) {
  out.put(device.name);
  out.put(device.arch);
  out.put(device.memory_bytes);
  out.put(device.driver_version);
  out.put(device.occupancy.register_granule);
  out.put(device.occupancy.shared_granule);
  out.put(device.occupancy.partitions);
  out.put(std::uint64_t{device.attributes.size()});
  for (const auto& [number, value] : device.attributes) {
    out.put(number);
    out.put(value);
  }
}

DeviceFacts get_device(Reader& in) {
  DeviceFacts device;
  in.get(device.name);
  in.get(device.arch);
  in.get(device.memory_bytes);
  in.get(device.driver_version);
  in.get(device.occupancy.register_granule);
  in.get(device.occupancy.shared_granule);
  in.get(device.occupancy.partitions);
  for (std::size_t left = in.count(2 * sizeof(int)); left > 0; --left) {
    int number = 0;
    in.get(number);
    in.get(device.attributes[number]);
  }
  return device;
}

void put(Writer& out, const plan::Kernel& kernel) {
  out.put(kernel.module);
  out.put(kernel.name);
  out.put(kernel.registers);
  out.put(kernel.static_shared);
  out.put(kernel.local);
  out.put(std::uint64_t{kernel.parameters.size()});
  for (const plan::Parameter& parameter : kernel.parameters) {
    out.put(parameter.offset);
    out.put(parameter.size);
  }
}

plan::Kernel get_kernel(Reader& in) {
  plan::Kernel kernel;
  in.get(kernel.module);
  in.get(kernel.name);
  in.get(kernel.registers);
  in.get(kernel.static_shared);
  in.get(kernel.local);
  kernel.parameters.resize(in.count(2 * sizeof(std::uint32_t)));
  for (plan::Parameter& parameter : kernel.parameters) {
    in.get(parameter.offset);
    in.get(parameter.size);
  }
  return kernel;
}

}  // namespace

std::vector<std::byte> encode(const StartMessage& message) {
  Writer out;
  put(out, message.device);
  out.put(message.workspace.kept);
  out.put(message.workspace.call);
  out.put(message.workspace.bytes);
  out.put(std::uint64_t{message.kernels.size()});
  for (const plan::Kernel& kernel : message.kernels) put(out, kernel);
  out.put(std::uint64_t{message.symbols.size()});
  for (const std::string& symbol : message.symbols) out.put(symbol);
  return out.take();
}

std::optional<StartMessage> decode_start(std::span<const std::byte> bytes) {
  Reader in(bytes);
  StartMessage message;
  message.device = get_device(in);
  in.get(message.workspace.kept);
  in.get(message.workspace.call);
  in.get(message.workspace.bytes);
  for (std::size_t left = in.count(1); left > 0; --left) message.kernels.push_back(get_kernel(in));
  message.symbols.resize(in.count(sizeof(std::uint64_t)));
  for (std::string& symbol : message.symbols) in.get(symbol);
  if (!in.all_read()) return {};
  return message;
}

std::vector<std::byte> encode(const CallRequest& request) {
  Writer out;
  out.put(std::uint64_t{request.buffers.size()});
  for (const plan::Buffer& buffer : request.buffers) {
    out.put(buffer.address);
    out.put(buffer.bytes);
    out.put(buffer.writable);
  }
  out.put(std::uint64_t{request.sizes.size()});
  for (const std::int64_t size : request.sizes) out.put(size);
  return out.take();
}

std::optional<CallRequest> decode_request(std::span<const std::byte> bytes) {
  Reader in(bytes);
  CallRequest request;
  request.buffers.resize(in.count(2 * sizeof(std::uint64_t) + 1));
  for (plan::Buffer& buffer : request.buffers) {
    in.get(buffer.address);
    in.get(buffer.bytes);
    in.get(buffer.writable);
  }
  request.sizes.resize(in.count(sizeof(std::int64_t)));
  for (std::int64_t& size : request.sizes) in.get(size);
  if (!in.all_read()) return {};
  return request;
}

}  // namespace kernelsmith::cuda::planner
