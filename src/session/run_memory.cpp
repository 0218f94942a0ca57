#include "run_memory.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/engine/search_state.hpp>
#include <kernelsmith/session/learn_run.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/session.hpp>

namespace kernelsmith {
namespace {

constexpr const char* kHint = "restore the files of the run folder, or begin a new run";

Result<MemorySnapshot> read_snapshot(const std::filesystem::path& file) {
  const auto text = read_regular_file(file, MemorySnapshot::kMostBytes);
  if (!text) return text.error();
  auto rules = rules_from(*text, file.string());
  if (!rules) return rules.error();
  return MemorySnapshot{std::move(*rules)};
}

/// Whether the store knows the run. Never creates the store, because its name comes from a run folder.
bool is_known(const std::string& run, const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return false;
  const auto store = MemoryStore::open(folder);
  return store && store->knows(run);
}

/// Builds the prompts of answered tickets again.
class Prompts {
 public:
  Prompts(const Task& task, const RunConfig& config) : task_(task), config_(config) {}

  /// How many of the rules, counted from the first, the prompt shows. A prompt that cannot be built again,
  /// for example after a change of templates, counts as showing all.
  std::size_t rules_in(const OpenTicket& ticket, const Digest& sent, std::size_t all) {
    const TicketOpened& opened = ticket.opened;
    const PromptBuilder* builder = builder_of(opened.model);
    if (!builder) return all;
    const auto prompt =
        builder->build({config_.seed, opened.ticket, *opened.op, opened.model, ticket.selection});
    return prompt && prompt->digest() == sent ? prompt->notes : all;
  }

 private:
  const PromptBuilder* builder_of(const std::string& model) {
    const auto [found, is_new] = builders_.try_emplace(model);
    if (is_new)
      if (const auto options = config_.proposer.provider->outlook().prompts(model))
        if (auto made = PromptBuilder::create(task_, with_backend(*options, task_, config_.backend)))
          found->second = std::move(*made);
    return found->second ? &*found->second : nullptr;
  }

  const Task& task_;
  const RunConfig& config_;
  std::map<std::string, std::optional<PromptBuilder>> builders_;
};

/// The rules that at least one prompt of the run shows. Returns all rules if the provider has no prompts, as
/// an agent has none.
Result<MemorySnapshot> shown_of(const RunStore& run, const Task& task, const RunConfig& config,
                                const MemorySnapshot& read) {
  const std::size_t all = read.rules.size();
  if (all == 0 || !config.proposer.provider->outlook().prompts({})) return read;
  Prompts prompts(task, config);
  auto engine = engine_options(task, config);
  if (!engine) return engine.error();
  auto state = SearchState::create(std::move(*engine));
  if (!state) return state.error();
  state->accept_any_settings();
  state->read_from(&run);
  std::size_t shown = 0;
  const Status visited = run.replay(0, [&](std::uint64_t, const Event& event) -> Status {
    if (shown == all) return fail(ErrorCode::cancelled, "every rule was shown");
    if (auto applied = state->apply(event); !applied) return applied.error();
    const auto* arrived = std::get_if<ProposalArrived>(&event);
    if (arrived && arrived->proposal.transcript) shown = all;  // an agent's task holds every rule
    if (!arrived || !arrived->proposal.prompt) return {};
    const OpenTicket& ticket = state->open().at(arrived->ticket);
    if (ticket.opened.op && *ticket.opened.op != Operator::tune)
      shown = std::max(shown, prompts.rules_in(ticket, *arrived->proposal.prompt, all));
    return {};
  });
  if (!visited && shown < all) return visited.error();
  MemorySnapshot kept = read;
  kept.rules.resize(shown);
  return kept;
}

}  // namespace

/// A run that follows a recording teaches nothing new.
bool is_remembered(const RunConfig& config) {
  return !config.memory.store.empty() && !config.proposer.provider->traits().recorded;
}

Status make_memory(const RunConfig& config) {
  if (!is_remembered(config)) return {};
  const auto store = MemoryStore::open(config.memory.store);
  return store ? Status{} : Status(store.error());
}

Status note_beginning(const RunConfig& config, const std::string& run) {
  if (!is_remembered(config)) return {};
  const auto store = MemoryStore::open(config.memory.store);
  return store ? store->note_beginning(run) : Status(store.error());
}

Result<MemorySnapshot> snapshot_for(const Task& task, const RunConfig& config) {
  const MemorySettings& memory = config.memory;
  std::error_code ignored;
  if (const auto recorded = config.proposer.provider->traits().recorded) {
    const auto file = recorded->folder / kSnapshotFile;
    return std::filesystem::exists(file, ignored) ? read_snapshot(file) : MemorySnapshot{};
  }
  if (memory.store.empty() || !std::filesystem::exists(memory.store, ignored)) return MemorySnapshot{};
  const auto store = MemoryStore::open(memory.store);
  if (!store) return store.error();
  const auto rules = store->rules();
  if (!rules) return rules.error();
  return retrieve(*rules, task.backend, memory_terms(task), memory.budget_tokens);
}

Result<MemorySnapshot> stored_snapshot(const std::filesystem::path& folder, const MemorySettings& settings) {
  const auto file = folder / kSnapshotFile;
  std::error_code ignored;
  if (settings.snapshot.empty() && !std::filesystem::exists(file, ignored)) return MemorySnapshot{};
  auto snapshot = read_snapshot(file);
  if (!snapshot && snapshot.error().code == ErrorCode::not_found)
    return fail(ErrorCode::corrupt, "the file of the rules that the run read from its memory is missing",
                file.string(), kHint);
  if (snapshot && snapshot->digest().hex() != settings.snapshot)
    return fail(ErrorCode::corrupt,
                "these are not the rules that the run read from its memory: run.yaml has another digest",
                file.string(), kHint);
  return snapshot;
}

void take_snapshot(const MemorySnapshot& snapshot, RunConfig& config) {
  config.memory.snapshot = snapshot.rules.empty() ? "" : snapshot.digest().hex();
  config.proposer.provider->context.notes = notes_of(snapshot);
}

Result<Learnt> learnt_from(const RunStore& run, const Task& task, const RunConfig& config,
                           const MemorySnapshot& read) {
  const auto shown = shown_of(run, task, config, read);
  if (!shown) return shown.error();
  const auto reply = [&run](TicketId ticket) {
    const auto kept = run.reply(ticket);
    return kept && *kept ? (*kept)->text : std::string();
  };
  return learn(run, {run.run_id(), task.digest.hex(), task.backend, memory_terms(task), *shown, reply});
}

Result<Learnt> learn_run(const RunView& view) {
  const std::string where = view.folder.string();
  if (!view.has_task)
    return fail(ErrorCode::invalid_argument, "rules cannot be learnt from a run without a task", where,
                "only a run that `kernelsmith run` began holds its task");
  if (view.in_use) return fail(ErrorCode::busy, "a process is writing the run", where, "wait for its end");
  const auto recorded = view.config.proposer.provider->traits().recorded;
  if (recorded && recorded->evaluations == RecordedEvaluations::kept)
    return fail(ErrorCode::invalid_argument, "the run repeats another run's verdicts", where,
                "learn from that run: " + recorded->folder.string());
  if (view.reason == EndReason::unfinished)
    return fail(ErrorCode::invalid_argument, "the run has not ended", where,
                "'kernelsmith resume' continues it to its end");
  const auto read = stored_snapshot(view.folder, view.config.memory);
  if (!read) return read.error();
  return learnt_from(*view.store, view.task, view.config, *read);
}

Result<std::string> add_to_memory(const RunConfig& config, const std::string& run, const Learnt& learnt) {
  const MemorySettings& memory = config.memory;
  if (memory.is_stored && !is_known(run, memory.store))
    return fail(ErrorCode::permission, "the run did not begin with this memory, so it adds nothing to it",
                memory.store, "if you trust the run: kernelsmith memory learn STORE RUN");
  const auto store = MemoryStore::open(memory.store);
  if (!store) return store.error();
  const auto added = store->add(learnt);
  if (!added) return added.error();
  return "the memory " + memory.store + " learnt " + std::to_string(learnt.rules.size()) +
         " rules from the run, " + std::to_string(*added) + " of them new";
}

}  // namespace kernelsmith
