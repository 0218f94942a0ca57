// DeviceContext: a context of our own, separate from the program's other contexts.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <kernelsmith/core/result.hpp>

#include "device/driver.hpp"

namespace kernelsmith::cuda {

/// A context and its GPU. Thread-safe, within the rule of Current.
class DeviceContext {
 public:
  /// Errors: unsupported (no driver, no such GPU), tool_failed.
  static Result<std::shared_ptr<const DeviceContext>> create(const GpuVendor& vendor, int index);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  /// Makes the context current in the calling thread for the lifetime of this object.
  class Current {
   public:
    explicit Current(const DeviceContext& context);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const DeviceContext& context_;
    bool pushed_;
  };

  const Driver& driver() const { return driver_; }
  abi::DeviceNumber number() const { return number_; }
  const std::string& bus_id() const { return bus_id_; }

  /// The attribute's value; empty if the driver does not know it.
  std::optional<int> known_attribute(int which) const;
  /// The attribute's value; zero if the driver does not know it.
  int attribute(int which) const { return known_attribute(which).value_or(0); }

  /// The properties of memory that is shared with another process.
  abi::MemoryProperties shareable() const;
  abi::AccessDescription read_write() const;

 private:
  DeviceContext(const Driver& driver, abi::DeviceNumber number) : driver_(driver), number_(number) {}

  const Driver& driver_;
  abi::DeviceNumber number_;
  abi::Context context_ = nullptr;
  std::string bus_id_;
};

}  // namespace kernelsmith::cuda
