// DeviceMemory: processes of this machine claim bytes of a device here before they allocate them. A
// DeviceLease shares a device's time; this class shares its memory.
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

/// Memory that a process holds or waits for. A value.
struct MemoryClaim {
  long pid = 0;
  std::uint64_t started = 0;  ///< start of the process in clock ticks since boot, because pids are reused
  std::uint32_t number = 0;   ///< number of the claim within the process
  std::uint64_t bytes = 0;
  bool waits = false;
  bool stays = false;  ///< the process need not release it when others wait

  bool is(const MemoryClaim& other) const {
    return pid == other.pid && started == other.started && number == other.number;
  }
  friend bool operator==(const MemoryClaim&, const MemoryClaim&) = default;
};

/// Writes and reads claims: one per line, in the order in which they were made. Invalid lines are skipped.
std::string text_of(const std::vector<MemoryClaim>& claims);
std::vector<MemoryClaim> claims_in(std::string_view text);

/// Whether the waiting claim `mine` gets its bytes now. It does if it has waited longest and fits into
/// `capacity` together with the held bytes. A claim that is too large to share gets the device when nothing
/// else is held.
bool is_granted(const std::vector<MemoryClaim>& claims, const MemoryClaim& mine, std::uint64_t capacity);

/// Whether the holder of `mine` must release its bytes next. It must if a claim is waiting and no other claim
/// that can be released has been held longer.
bool is_next_to_yield(const std::vector<MemoryClaim>& claims, const MemoryClaim& mine);

/// The claim that holds the most bytes. If no claim holds any, the claim that waits before `mine`.
std::optional<MemoryClaim> whom_it_waits_for(const std::vector<MemoryClaim>& claims, const MemoryClaim& mine);

/// How many of the bytes of a device may be claimed. The rest is for the contexts of waiting tasks, which
/// have not claimed anything yet. On a GPU with 80 GB there is room for seven contexts.
std::uint64_t claimable(std::uint64_t all);

/// A text such as "5.8 GiB".
std::string gibibytes(std::uint64_t bytes);

/// The machine's file with a line for each claim. Claims of ended processes are ignored. Thread-safe.
class DeviceMemory {
 public:
  /// `name` as for DeviceLease. `capacity` is the limit of all claims together.
  DeviceMemory(std::string name, std::uint64_t capacity, const std::filesystem::path& folder = "/tmp");

  /// Holds bytes of the device until it is destroyed. Movable.
  class Held {
   public:
    Held(const DeviceMemory& memory, MemoryClaim claim) : memory_(&memory), claim_(claim) {}
    Held(Held&& other) noexcept : memory_(other.memory_), claim_(other.claim_) { other.memory_ = nullptr; }
    Held& operator=(Held&&) = delete;
    ~Held();
    std::uint64_t bytes() const { return claim_.bytes; }
    /// Takes more bytes at once if no claim waits and they fit; otherwise changes nothing and returns false.
    bool grow_to(std::uint64_t bytes);
    /// Releases all bytes above this number.
    void lessen_to(std::uint64_t bytes);
    /// Whether this holder must release its bytes next. False if the file cannot be read.
    bool is_wanted() const;

   private:
    const DeviceMemory* memory_;
    MemoryClaim claim_;
  };

  using Tell = std::function<void(const std::string&)>;

  /// Waits for its turn. Reports once which claim it waits for. This object must outlive the result. Errors:
  /// cancelled, io, busy (after `patience_s`).
  Result<Held> take(std::uint64_t bytes, const std::stop_token& stop, const Tell& tell = {},
                    double patience_s = 300) const;

  /// Claims bytes without waiting. Other processes take the claim into account. Errors: io.
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
