// The journal of one trajectory: JSON lines, to which lines are only appended. docs/stts.md describes the
// format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/suite/stts.hpp>

namespace kernelsmith::suite {

/// The version of journals and results.
inline constexpr int kSttsVersion = 1;

/// Identifies the trajectory of a journal.
struct TrajectoryKey {
  std::string task;
  std::size_t sample = 1;  ///< counts from 1
  std::string basis;       ///< hexadecimal digest of the task and of the settings
};

/// The digest that a journal keeps of a prompt.
Digest digest_of(const std::vector<Message>& messages);

/// Writes each line with one call before the next step begins. Drops an incomplete last line, which a kill
/// leaves. Only one thread at a time may use a journal.
class SttsJournal {
 public:
  /// Reads the file or creates it. Errors: `corrupt` for invalid lines, `invalid_argument` for the journal of
  /// another task, and the file system's.
  static Result<SttsJournal> open(const std::filesystem::path& path, const TrajectoryKey& key);

  /// Whether the first messages are known.
  bool begun() const { return begun_; }
  const SttsTrajectory& trajectory() const { return trajectory_; }
  /// The turn with a reply but without a verdict, with `shown` and `proposal`; null if there is none.
  const SttsTurn* unjudged() const { return unjudged_ ? &*unjudged_ : nullptr; }

  Status begin(std::string system, std::string user);
  Status add_lost(const Proposal& paid_error);
  Status add_reply(std::vector<std::size_t> shown, Proposal proposal);
  /// Adds the verdict; `judged` is the unjudged turn with its verdict.
  Status add_verdict(SttsTurn judged);

 private:
  SttsJournal(std::filesystem::path path, TrajectoryKey key) : path_(std::move(path)), key_(std::move(key)) {}

  Status read();
  Status take(const std::string& text);
  Status take_head(const nlohmann::ordered_json& line);
  Status take_reply(const nlohmann::ordered_json& line);
  Status take_verdict(const nlohmann::ordered_json& line);
  Status append(const std::string& line);
  Error corrupt(const std::string& why) const;

  std::filesystem::path path_;
  TrajectoryKey key_;
  Descriptor file_;
  std::size_t lines_ = 0;
  bool begun_ = false;
  SttsTrajectory trajectory_;
  std::optional<SttsTurn> unjudged_;
};

}  // namespace kernelsmith::suite
