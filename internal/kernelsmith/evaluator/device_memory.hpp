// DeviceMemory: the bytes of a device that the processes of this machine have claimed, each before it takes
// them. Beside a DeviceLease: that one shares out a device's time, this one its memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// What a process holds, or waits for. A value.
struct MemoryClaim {
  long pid = 0;
  std::uint64_t started = 0;  ///< the process, in clock ticks since boot: a pid that comes again is another's
  std::uint32_t number = 0;   ///< among the claims of the process
  std::uint64_t bytes = 0;
  bool waits = false;
  bool stays = false;  ///< is held to its end, whoever waits

  bool is(const MemoryClaim& other) const {
    return pid == other.pid && started == other.started && number == other.number;
  }
  friend bool operator==(const MemoryClaim&, const MemoryClaim&) = default;
};

/// In the order in which they were made; one line each. What cannot be understood is left out.
std::string text_of(const std::vector<MemoryClaim>& claims);
std::vector<MemoryClaim> claims_in(std::string_view text);

/// Whether `mine`, which waits, gets its bytes now: it waits longest, and fits into `capacity` beside what is
/// held; what is too large for any company gets the device alone.
bool is_granted(const std::vector<MemoryClaim>& claims, const MemoryClaim& mine, std::uint64_t capacity);

/// Whether the holder of `mine` is the next to give its bytes back: somebody waits, and nobody else who gives
/// back has held longer.
bool is_next_to_yield(const std::vector<MemoryClaim>& claims, const MemoryClaim& mine);

/// The holder of most bytes; if nobody holds any, whoever waits before `mine`.
std::optional<MemoryClaim> whom_it_waits_for(const std::vector<MemoryClaim>& claims, const MemoryClaim& mine);

/// How many of a device's bytes may be claimed. The rest is for the contexts of tasks that wait, which
/// have claimed nothing yet: of seven on a GPU of 80 GB.
std::uint64_t claimable(std::uint64_t all);

/// "5.8 GiB"
std::string gibibytes(std::uint64_t bytes);

/// A file of the machine with a line for each claim. Claims of a process that ended do not count.
/// Thread-safe.
class DeviceMemory {
 public:
  /// `name` as for DeviceLease. `capacity` is what all claims together may be.
  DeviceMemory(std::string name, std::uint64_t capacity, const std::filesystem::path& folder = "/tmp");

  /// Bytes of the device until this is destroyed. Movable.
  class Held {
   public:
    Held(const DeviceMemory& memory, MemoryClaim claim) : memory_(&memory), claim_(claim) {}
    Held(Held&& other) noexcept : memory_(other.memory_), claim_(other.claim_) { other.memory_ = nullptr; }
    Held& operator=(Held&&) = delete;
    ~Held();
    std::uint64_t bytes() const { return claim_.bytes; }
    /// Takes more at once, if nobody waits and it fits; else nothing changes, and false.
    bool grow_to(std::uint64_t bytes);
    /// Gives the rest back.
    void lessen_to(std::uint64_t bytes);
    /// Whether it is this holder's turn to give its bytes back. False if the file cannot be read.
    bool is_wanted() const;

   private:
    const DeviceMemory* memory_;
    MemoryClaim claim_;
  };

  using Tell = std::function<void(const std::string&)>;

  /// Waits in turn, and tells once for whom. This object outlives what it gives. Errors: cancelled, io, busy
  /// (after `patience_s`).
  Result<Held> take(std::uint64_t bytes, const std::stop_token& stop, const Tell& tell = {},
                    double patience_s = 300) const;

  /// A claim that waits for nobody, and stays: others see it, and go by it. Errors: io.
  Result<Held> announce(std::uint64_t bytes) const;

  std::uint64_t capacity() const { return capacity_; }

 private:
  using Change = std::function<void(std::vector<MemoryClaim>&)>;
  Status change(const Change& how) const;
  enum class Manner { waits, stays };
  Result<MemoryClaim> add(std::uint64_t bytes, Manner manner) const;
  void remove(const MemoryClaim& claim) const;

  std::filesystem::path path_;
  std::uint64_t capacity_;
};

}  // namespace kernelsmith
