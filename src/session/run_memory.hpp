// A run and the memory that its configuration names: what it reads at its start, and what it adds at its end
// (docs/memory.md).
#pragma once

#include <filesystem>

#include <kernelsmith/memory/memory_store.hpp>
#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {

// What a run folder has beside RunStore's: the task, the configuration, and what the run read of its memory.
inline constexpr const char* kTaskFolder = "task";
inline constexpr const char* kConfigFile = "run.yaml";
inline constexpr const char* kSnapshotFile = "memory.jsonl";

/// What a run of the task that begins now would read; makes nothing. A run that follows a recording reads
/// what the recorded one read. Empty without a memory. Errors: MemoryStore's, and stored_snapshot()'s.
Result<MemorySnapshot> snapshot_for(const Task& task, const RunConfig& config);

/// Makes the memory of a run that begins now, before anything else is made. Errors: MemoryStore's.
Status make_memory(const RunConfig& config);

/// Has it know the run.
Status note_beginning(const RunConfig& config, const std::string& run);

/// What the stored run in the folder read; `corrupt` if that is no longer what run.yaml says.
Result<MemorySnapshot> stored_snapshot(const std::filesystem::path& folder, const MemorySettings& settings);

/// Has the proposer show it, and the configuration name it.
void take_snapshot(const MemorySnapshot& snapshot, RunConfig& config);

/// What the run teaches. A rule that a tight token budget left out of every prompt was not used.
Result<Learnt> learnt_from(const RunStore& run, const Task& task, const RunConfig& config,
                           const MemorySnapshot& read);

/// Whether the run adds what it teaches to a memory: it names one, and follows no recording.
bool is_remembered(const RunConfig& config);

/// Adds it, and says so in words. `permission` if the memory's name comes from a run folder, and the memory
/// does not know the run.
Result<std::string> add_to_memory(const RunConfig& config, const std::string& run, const Learnt& learnt);

}  // namespace kernelsmith
