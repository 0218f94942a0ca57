// RunStore: the run folder. It holds the journal with sources and logs (in SQLite), the configuration, and
// the best kernel. docs/formats.md describes the formats.
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

/// What committed events must survive.
enum class Durability {
  process,  ///< the end of the process, even by SIGKILL
  power,    ///< also a power failure; costs a flush to the disk at every commit
};

/// A run folder: `run.yaml`, `run.db`, `best/`.
///
/// One process at a time may write it; any number may read it at the same time. Errors common to all
/// functions: `io`, `disk_full`, `permission`, and `corrupt` for a database that contradicts itself. A failed
/// append() leaves the journal as it was, and the next append() may succeed. Not thread-safe; readers open a
/// RunStore of their own.
class RunStore final : public Journal {
 public:
  /// Whether create() accepts the folder. Refuses (`invalid_argument`) an existing folder that is not empty,
  /// unless it holds only the remains of an interrupted create().
  static Status check_free(const std::filesystem::path& folder, std::span<const SourceFile> more = {});

  /// Makes the folder with its parents if check_free() accepts it, and opens it for writing. `configuration`
  /// is the text of run.yaml; `more` are further files, by path relative to the folder. The database is
  /// created last and atomically, so a folder with a run.db is complete.
  static Result<std::unique_ptr<RunStore>> create(const std::filesystem::path& folder,
                                                  std::string_view configuration,
                                                  Durability durability = Durability::process,
                                                  std::span<const SourceFile> more = {});

  /// Opens an existing run for writing. Errors: `not_found`, `busy` (names the process that has it open),
  /// `version` (written by a newer kernelsmith) or `corrupt`.
  static Result<std::unique_ptr<RunStore>> open(const std::filesystem::path& folder,
                                                Durability durability = Durability::process);

  /// Opens an existing run for reading, also while another process writes. Then append(), write_best() and
  /// remove_best() fail with `permission`.
  static Result<std::unique_ptr<RunStore>> open_read_only(const std::filesystem::path& folder);

  /// Whether a process has the run in `folder` open for writing.
  static bool is_in_use(const std::filesystem::path& folder);

  ~RunStore() override;

  /// 32 random hexadecimal digits, fixed when the run was created.
  const std::string& run_id() const;
  const std::filesystem::path& folder() const;

  /// The text of run.yaml.
  Result<std::string> configuration() const;
  /// Replaces run.yaml atomically; used when resume raises budgets.
  Status write_configuration(std::string_view configuration);

  /// Appends in one transaction. Artifacts of evaluations and replies of proposals are stored separately and
  /// are not replayed: see artifacts() and reply().
  Status append(std::span<const Event> events) override;
  /// Sets a callback. append() calls it once if a reader's open transaction makes run.db-wal grow without
  /// end.
  void on_warning(std::function<void(const std::string&)> tell);
  /// Fails with `io` if run.db or its log is no longer the opened file, because it was deleted or replaced,
  /// or its folder was renamed. Then nothing is written.
  Status check() const override;
  Status replay(
      std::uint64_t after,
      const std::function<Status(std::uint64_t position, const Event& event)>& visit) const override;

  /// The position of the last event; 0 if there is none.
  Result<std::uint64_t> last_position() const;

  /// Logs and files of an evaluation; empty if it has none.
  Result<std::vector<Artifact>> artifacts(ProgramId program, std::uint32_t attempt) const;

  /// The kept reply of a ticket's proposal; empty if none was kept.
  Result<std::optional<KeptReply>> reply(TicketId ticket) const;

  /// Replaces `best/` atomically with the program's files and `report.json`.
  Status write_best(const Individual& best, std::string_view report_json);
  /// Removes `best/` if it exists.
  Status remove_best();
  /// Writes a program's files and `report.json` into a new folder. It is used when the run's own folder is
  /// gone.
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
