#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/evaluator/device_memory.hpp>

namespace kernelsmith {
namespace {

/// The interval of checks; preparing a task takes a hundred times longer.
constexpr auto kPollClaims = std::chrono::milliseconds(20);
/// A file larger than claims can make is not ours.
constexpr std::size_t kMostText = 1 << 20;
/// The field of /proc/PID/stat, counted from the program's name, that says when the process started.
constexpr int kStartField = 20;

Error claims_error(const char* what, const std::filesystem::path& path) {
  return fail(ErrorCode::io, std::string(what) + ": " + std::strerror(errno), path.string(),
              "this file lists the claims on a device's memory: check who owns it");
}

/// Any user's process may write to the file. See device_lease.cpp for why the file is opened in two steps.
Result<Descriptor> open_claims(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (file) return file;
  if (errno != ENOENT) return claims_error("open", path);
  file = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file || ::fchmod(file.get(), 0666) != 0) return claims_error("open", path);
  return file;
}

std::string read_all(int file) {
  std::string text;
  char piece[4096];
  for (ssize_t got = 0; text.size() < kMostText; text.append(piece, static_cast<std::size_t>(got))) {
    got = ::pread(file, piece, sizeof piece, static_cast<off_t>(text.size()));
    if (got <= 0) break;
  }
  return text;
}

/// When the process started; 0 if there is no such process, or it is a zombie.
std::uint64_t start_of(long pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');                 // an iterator would throw if the process ends here
  const std::size_t name_ends = text.rfind(')');  // a program's name may hold anything
  if (name_ends == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_ends + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return 0;
  for (int i = 1; i < kStartField; ++i) fields >> field;
  return std::strtoull(field.c_str(), nullptr, 10);
}

bool lives(const MemoryClaim& claim) { return start_of(claim.pid) == claim.started; }

}  // namespace

std::string text_of(const std::vector<MemoryClaim>& claims) {
  std::ostringstream text;
  for (const MemoryClaim& claim : claims)
    text << claim.pid << ' ' << claim.started << ' ' << claim.number << ' ' << claim.bytes << ' '
         << (claim.waits   ? "waits"
             : claim.stays ? "stays"
                           : "holds")
         << '\n';
  return text.str();
}

std::vector<MemoryClaim> claims_in(std::string_view text) {
  std::vector<MemoryClaim> claims;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    MemoryClaim claim;
    std::string state;
    if (!(fields >> claim.pid >> claim.started >> claim.number >> claim.bytes >> state)) continue;
    if (claim.pid <= 0 || (state != "waits" && state != "holds" && state != "stays")) continue;
    claim.waits = state == "waits";
    claim.stays = state == "stays";
    claims.push_back(claim);
  }
  return claims;
}

bool is_granted(const std::vector<MemoryClaim>& claims, const MemoryClaim& mine, std::uint64_t capacity) {
  const auto first = std::ranges::find_if(claims, &MemoryClaim::waits);
  if (first == claims.end() || !first->is(mine)) return false;
  std::uint64_t held = 0;
  for (const MemoryClaim& claim : claims)
    if (!claim.waits) held += std::min(claim.bytes, capacity);
  return held == 0 || (mine.bytes <= capacity && held <= capacity - mine.bytes);
}

bool is_next_to_yield(const std::vector<MemoryClaim>& claims, const MemoryClaim& mine) {
  const auto next =
      std::ranges::find_if(claims, [](const auto& claim) { return !claim.waits && !claim.stays; });
  return next != claims.end() && next->is(mine) && std::ranges::any_of(claims, &MemoryClaim::waits);
}

std::optional<MemoryClaim> whom_it_waits_for(const std::vector<MemoryClaim>& claims,
                                             const MemoryClaim& mine) {
  std::optional<MemoryClaim> most;
  for (const MemoryClaim& claim : claims)
    if (!claim.waits && (!most || claim.bytes > most->bytes)) most = claim;
  if (most || claims.empty() || claims.front().is(mine)) return most;
  return claims.front();
}

std::uint64_t claimable(std::uint64_t all) {
  constexpr std::uint64_t kTwoContexts = std::uint64_t{1200} << 20;
  return all - std::min(all, std::max(kTwoContexts, all / 16));
}

std::string gibibytes(std::uint64_t bytes) {
  char text[32];
  // Below a tenth of a GiB that would read 0.0.
  constexpr double kGib = 1 << 30, kMib = 1 << 20;
  const auto size = static_cast<double>(bytes);
  if (size < kGib / 10)
    std::snprintf(text, sizeof text, "%.1f MiB", size / kMib);
  else
    std::snprintf(text, sizeof text, "%.1f GiB", size / kGib);
  return text;
}

DeviceMemory::DeviceMemory(std::string name, std::uint64_t capacity, const std::filesystem::path& folder)
    : capacity_(capacity) {
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  path_ = folder / ("kernelsmith-" + name + ".memory");
}

DeviceMemory::Held::~Held() {
  if (memory_ != nullptr) memory_->remove(claim_);
}

bool DeviceMemory::Held::grow_to(std::uint64_t bytes) {
  bool fits = false;
  const Status looked = memory_->change([&](std::vector<MemoryClaim>& claims) {
    if (std::ranges::any_of(claims, &MemoryClaim::waits)) return;
    std::uint64_t held = 0;
    for (const MemoryClaim& claim : claims) held += claim.is(claim_) ? bytes : claim.bytes;
    fits = held <= memory_->capacity_;
    for (MemoryClaim& claim : claims)
      if (fits && claim.is(claim_)) claim.bytes = bytes;
  });
  if (!looked || !fits) return false;
  claim_.bytes = bytes;
  return true;
}

void DeviceMemory::Held::lessen_to(std::uint64_t bytes) {
  if (bytes >= claim_.bytes) return;
  claim_.bytes = bytes;
  // If the file cannot be written, others wait for more memory than necessary.
  static_cast<void>(memory_->change([&](std::vector<MemoryClaim>& claims) {
    for (MemoryClaim& claim : claims)
      if (claim.is(claim_)) claim.bytes = bytes;
  }));
}

bool DeviceMemory::Held::is_wanted() const {
  bool wanted = false;
  const Status looked =
      memory_->change([&](std::vector<MemoryClaim>& claims) { wanted = is_next_to_yield(claims, claim_); });
  return looked && wanted;
}

/// No other process reads or writes the claims during the change.
Status DeviceMemory::change(const Change& how) const {
  const auto file = open_claims(path_);
  if (!file) return file.error();
  while (::flock(file->get(), LOCK_EX) != 0)
    if (errno != EINTR) return claims_error("flock", path_);
  const std::string before = read_all(file->get());
  std::vector<MemoryClaim> claims = claims_in(before);
  std::erase_if(claims, [](const MemoryClaim& claim) { return !lives(claim); });
  how(claims);
  const std::string after = text_of(claims);
  if (after == before) return {};
  const bool written =
      ::pwrite(file->get(), after.data(), after.size(), 0) == static_cast<ssize_t>(after.size()) &&
      ::ftruncate(file->get(), static_cast<off_t>(after.size())) == 0;
  return written ? Status{} : claims_error("write", path_);
}

Result<MemoryClaim> DeviceMemory::add(std::uint64_t bytes, Manner manner) const {
  MemoryClaim mine{::getpid(), start_of(::getpid()),    0,
                   bytes,      manner == Manner::waits, manner == Manner::stays};
  const Status added = change([&](std::vector<MemoryClaim>& claims) {
    for (const MemoryClaim& claim : claims)
      if (claim.pid == mine.pid) mine.number = std::max(mine.number, claim.number + 1);
    claims.push_back(mine);
  });
  if (!added) return added.error();
  return mine;
}

/// A claim that cannot be removed ends with the process.
void DeviceMemory::remove(const MemoryClaim& claim) const {
  static_cast<void>(change([&](std::vector<MemoryClaim>& claims) {
    std::erase_if(claims, [&](const MemoryClaim& other) { return other.is(claim); });
  }));
}

Result<DeviceMemory::Held> DeviceMemory::take(std::uint64_t bytes, const std::stop_token& stop,
                                              const Tell& tell, double patience_s) const {
  auto mine = add(std::min(bytes, capacity_), Manner::waits);
  if (!mine) return mine.error();
  Held held(*this, *mine);  // leaves the queue if this returns without the memory
  const auto begin = std::chrono::steady_clock::now();
  for (bool told = false;; std::this_thread::sleep_for(kPollClaims)) {
    bool granted = false;
    std::optional<MemoryClaim> other;
    const Status looked = change([&](std::vector<MemoryClaim>& claims) {
      granted = is_granted(claims, *mine, capacity_);
      other = whom_it_waits_for(claims, *mine);
      const auto entry = std::ranges::find_if(claims, [&](const auto& claim) { return claim.is(*mine); });
      if (granted) entry->waits = false;
    });
    if (!looked) return looked.error();
    if (granted) return held;
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped on request");
    const std::string why = gibibytes(mine->bytes) + " of the GPU's memory are needed, and process " +
                            std::to_string(other ? other->pid : 0) + " holds " +
                            gibibytes(other ? other->bytes : 0);
    if (!told && tell) tell("waiting: " + why);
    told = true;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (waited.count() > patience_s)
      return fail(ErrorCode::busy, why, path_.string(), "wait until that process ends, or end it");
  }
}

Result<DeviceMemory::Held> DeviceMemory::announce(std::uint64_t bytes) const {
  const auto mine = add(bytes, Manner::stays);
  if (!mine) return mine.error();
  return Held(*this, *mine);
}

}  // namespace kernelsmith
