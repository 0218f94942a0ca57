#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/store/reply_spool.hpp>

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".json";
constexpr const char* kFreshEnding = ".json.new";
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

std::optional<TicketId> ticket_of(const fs::path& file) {
  const auto number = number_in<std::uint64_t>(file.stem().string());
  return number && file.extension() == kExtension ? std::optional(TicketId{*number}) : std::nullopt;
}

/// The space to reserve for answers that are under way when the disk fills up; 0 if reserving it would fill
/// the disk.
std::size_t spare_bytes(const fs::path& folder) {
  constexpr std::uintmax_t kMost = std::uintmax_t{4} << 20, kLeast = std::uintmax_t{64} << 10, kShare = 8;
  std::error_code error;
  const auto space = fs::space(folder, error);
  const std::uintmax_t bytes = error ? 0 : std::min(kMost, space.available / kShare);
  return bytes < kLeast ? 0 : static_cast<std::size_t>(bytes);
}

bool is_left_over(const fs::path& file) { return file.filename().string().ends_with(kFreshEnding); }

/// Whether calls can have this cost. Prices are at most a dollar per token, and a call has at most a hundred
/// million tokens.
bool is_plausible(const Cost& cost) {
  constexpr std::uint64_t kMostCalls = 1000, kMostTokens = 100'000'000;
  const std::uint64_t most = kMostTokens * std::max<std::uint64_t>(cost.calls, 1);
  if (cost.calls > kMostCalls || cost.untold > cost.calls) return false;
  if (cost.input_tokens > most || cost.output_tokens > most) return false;
  if (cost.cached_tokens.value_or(0) > cost.input_tokens) return false;
  if (cost.reasoning_tokens.value_or(0) > cost.output_tokens) return false;
  const auto tokens = static_cast<double>(cost.input_tokens + cost.output_tokens);
  const auto guessed = static_cast<double>(2 * most);
  return cost.usd >= 0 && cost.usd <= tokens && cost.guessed_usd >= 0 && cost.guessed_usd <= guessed;
}

}  // namespace

bool is_kept(const fs::path& folder, TicketId ticket) {
  std::error_code ignored;
  return fs::is_regular_file(
      fs::symlink_status(folder / (std::to_string(ticket.value) + kExtension), ignored));
}

Result<std::shared_ptr<ReplySpool>> ReplySpool::open(const fs::path& folder, Durability durability) {
  std::shared_ptr<ReplySpool> spool(new ReplySpool(folder, durability));
  const MutexLock lock(spool->mutex_);
  std::error_code error;
  std::error_code ignored;
  fs::remove(spool->spare_file(), ignored);  // left by a session that was killed
  std::vector<fs::path> torn;
  if (const auto there = fs::symlink_status(folder, error); fs::exists(there) && !fs::is_directory(there))
    return fail(ErrorCode::corrupt, "this is not a folder, and links are not followed", folder.string(),
                "remove it; models will be asked again for answers that were there");
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (is_left_over(entry.path())) torn.push_back(entry.path());  // left by a writer that was killed
    const auto ticket = ticket_of(entry.path());
    if (!ticket) continue;
    const auto no_answer = [&](const Error& why) {
      return fail(ErrorCode::corrupt, "this is not an answer: " + why.message, entry.path().string(),
                  "remove the file; the model will be asked again");
    };
    const auto text = read_regular_file(entry.path(), kMostBytes);
    if (!text && text.error().code != ErrorCode::bad_input) return text.error();
    if (!text) return no_answer(text.error());
    auto answer = from_json<Proposal>(*text);
    if (!answer) return no_answer(answer.error());
    if (answer->error()) return no_answer(fail(ErrorCode::corrupt, "it contains an error"));
    if (!is_plausible(answer->cost))
      return no_answer(fail(ErrorCode::corrupt, "calls cannot have the costs in it"));
    spool->files_.insert(*ticket);
    spool->left_.emplace(*ticket, std::move(*answer));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return system_error("cannot read", folder, error.value());
  for (const fs::path& path : torn) fs::remove(path, error);
  return spool;
}

Status ReplySpool::keep(TicketId ticket, const Proposal& answer) {
  const std::string text = to_json(answer);
  if (text.size() > kMostBytes)
    return fail(ErrorCode::too_long, "the answer is too large to be kept", folder_.string());
  const MutexLock lock(mutex_);
  std::error_code error;
  fs::create_directory(folder_, error);
  const fs::path path = file_of(ticket);
  const Flush flush = durability_ == Durability::power ? Flush::yes : Flush::no;
  Status written = replace_file(path, text, flush);
  if (!written && written.error().code == ErrorCode::disk_full && spare_ == Spare::reserved) {
    fs::remove(spare_file(), error);
    spare_ = Spare::used;
    written = replace_file(path, text, flush);
  }
  if (written) files_.insert(ticket);
  return written;
}

Status ReplySpool::reserve() {
  const MutexLock lock(mutex_);
  if (spare_ == Spare::used)
    return fail(ErrorCode::disk_full, "there is no room left for answers of models", folder_.string(),
                "make room, and resume the run");
  if (spare_ == Spare::reserved) return {};
  const std::size_t bytes = spare_bytes(folder_.parent_path());
  if (bytes == 0) return {};
  std::error_code ignored;
  fs::remove(spare_file(), ignored);
  const Descriptor file(
      ::open(spare_file().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.get() < 0) return {};
  if (::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)) == 0)
    spare_ = Spare::reserved;
  else
    fs::remove(spare_file(), ignored);
  return {};
}

ReplySpool::~ReplySpool() {
  std::error_code ignored;
  if (spare_ == Spare::reserved) fs::remove(spare_file(), ignored);
}

std::optional<Proposal> ReplySpool::take(TicketId ticket) {
  const MutexLock lock(mutex_);
  auto left = left_.extract(ticket);
  if (!left) return std::nullopt;
  return std::move(left.mapped());
}

void ReplySpool::forget(TicketId ticket) {
  const MutexLock lock(mutex_);
  left_.erase(ticket);
  if (files_.erase(ticket) == 0) return;
  std::error_code ignored;
  fs::remove(file_of(ticket), ignored);
}

std::set<TicketId> ReplySpool::tickets() const {
  const MutexLock lock(mutex_);
  return files_;
}

fs::path ReplySpool::file_of(TicketId ticket) const {
  return folder_ / (std::to_string(ticket.value) + kExtension);
}

fs::path ReplySpool::spare_file() const { return folder_.parent_path() / "run.spare"; }

}  // namespace kernelsmith
