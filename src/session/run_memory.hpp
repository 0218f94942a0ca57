// Connects a run with its memory: reads rules at the start, and adds rules at the end (docs/memory.md).
#pragma once

#include <filesystem>

#include <kernelsmith/memory/memory_store.hpp>
#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {

// Files of a run folder that RunStore does not write: the task, the configuration, and the rules that the run
// read from its memory.
inline constexpr const char* kTaskFolder = "task";
inline constexpr const char* kConfigFile = "run.yaml";
inline constexpr const char* kSnapshotFile = "memory.jsonl";

/// The rules that a run of the task would read now; empty without a memory. Does not create the memory. A run
/// that follows a recording reads the rules of the recorded run. Errors: MemoryStore's, and
/// stored_snapshot()'s.
Result<MemorySnapshot> snapshot_for(const Task& task, const RunConfig& config);

/// Creates the memory of a new run, before anything else. Errors: MemoryStore's.
Status make_memory(const RunConfig& config);

/// Registers the run with the memory.
Status note_beginning(const RunConfig& config, const std::string& run);

/// The rules that the stored run in the folder has read. Errors: `corrupt` if they do not match run.yaml.
Result<MemorySnapshot> stored_snapshot(const std::filesystem::path& folder, const MemorySettings& settings);

/// Adds the snapshot's rules to the proposer's prompts, and its digest to the configuration.
void take_snapshot(const MemorySnapshot& snapshot, RunConfig& config);

/// The rules that the run teaches. A rule that the token budget left out of every prompt counts as unused.
Result<Learnt> learnt_from(const RunStore& run, const Task& task, const RunConfig& config,
                           const MemorySnapshot& read);

/// Whether the run adds rules to a memory: it names one and follows no recording.
bool is_remembered(const RunConfig& config);

/// Adds the rules, and returns a message for the user. Errors: `permission` if the memory's name comes from a
/// run folder and the memory does not know the run.
Result<std::string> add_to_memory(const RunConfig& config, const std::string& run, const Learnt& learnt);

}  // namespace kernelsmith
