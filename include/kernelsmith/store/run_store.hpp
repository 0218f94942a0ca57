// RunStore: the run folder. The journal and its sources and logs in SQLite, the configuration as used, and
// the best kernel found. docs/formats.md writes the formats down.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/journal.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// What a committed event survives.
enum class Durability {
  process,  ///< the end of the process, SIGKILL included
  power,    ///< a power failure too, at the price of a flush to the disk at every commit
};

/// A run folder: `run.yaml`, `run.db`, `best/`.
///
/// One process at a time opens it for writing, any number read beside it. Errors common to all functions:
/// `io`, `disk_full`, `permission`, and `corrupt` for a database that contradicts itself. A failed append
/// leaves the journal as it was, and the next one may succeed. Not thread-safe; readers open a RunStore of
/// their own.
class RunStore final : public Journal {
 public:
  /// Whether create() would take the folder: refused (`invalid_argument`) is one that exists and is not
  /// empty, unless it holds only what a creation that was killed left.
  static Status check_free(const std::filesystem::path& folder, std::span<const SourceFile> more = {});

  /// Makes the folder, which check_free() takes, with its parents and opens it for writing. `configuration`
  /// is the text of run.yaml; `more` are files to be kept beside it, by path relative to the folder. The
  /// database is made last and at once: a folder that has a run.db is complete.
  static Result<std::unique_ptr<RunStore>> create(const std::filesystem::path& folder,
                                                  std::string_view configuration,
                                                  Durability durability = Durability::process,
                                                  std::span<const SourceFile> more = {});

  /// Opens an existing run for writing. Fails with `not_found`, `busy` (naming the process that has it),
  /// `version` (written by a newer kernelsmith) or `corrupt`.
  static Result<std::unique_ptr<RunStore>> open(const std::filesystem::path& folder,
                                                Durability durability = Durability::process);

  /// Opens an existing run for reading, also while another process writes. append(), write_best()
  /// and remove_best() are then refused with `permission`.
  static Result<std::unique_ptr<RunStore>> open_read_only(const std::filesystem::path& folder);

  /// Whether a process has the run in `folder` open for writing.
  static bool is_in_use(const std::filesystem::path& folder);

  ~RunStore() override;

  /// 32 hexadecimal digits, random, fixed when the run was created.
  const std::string& run_id() const;
  const std::filesystem::path& folder() const;

  /// The text of run.yaml.
  Result<std::string> configuration() const;
  /// Replaces run.yaml, all or nothing: resume raises budgets.
  Status write_configuration(std::string_view configuration);

  /// One transaction. Artifacts of evaluations and replies of proposals are kept apart and are not replayed:
  /// see artifacts() and reply().
  Status append(std::span<const Event> events) override;
  /// Tells, within append(), of a reader in whose transaction run.db-wal grows without end. Once.
  void on_warning(std::function<void(const std::string&)> tell);
  /// `io` if run.db or its log is no longer the file that was opened: deleted, replaced, or its folder
  /// renamed. Nothing is written then.
  Status check() const override;
  Status replay(
      std::uint64_t after,
      const std::function<Status(std::uint64_t position, const Event& event)>& visit) const override;

  /// The position of the last event; 0 if there is none.
  Result<std::uint64_t> last_position() const;

  /// The logs and files that an evaluation left; empty if it left none.
  Result<std::vector<Artifact>> artifacts(ProgramId program, std::uint32_t attempt) const;

  /// The reply that a ticket's proposal kept; empty if it kept none.
  Result<std::optional<KeptReply>> reply(TicketId ticket) const;

  /// Replaces `best/` by the program's files and `report.json`, all or nothing.
  Status write_best(const Individual& best, std::string_view report_json);
  /// Takes `best/` away, if it is there.
  Status remove_best();
  /// Writes a program's files and `report.json` into a folder, which it makes: if the run's own is gone.
  static Status save_program(const Individual& program, std::string_view report_json,
                             const std::filesystem::path& folder);
  /// The folder of the best program.
  std::filesystem::path best_folder() const;

  /// Checks the database's pages, references and numbering; `corrupt` names the first fault.
  Status integrity_check() const;

 private:
  struct Impl;
  Status require_intact() const;
  explicit RunStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsmith
