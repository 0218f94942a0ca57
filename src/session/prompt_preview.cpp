#include <algorithm>
#include <memory>
#include <utility>

#include <kernelsmith/prompts/unused_templates.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/run_view.hpp>
#include <kernelsmith/session/session.hpp>
#include <kernelsmith/store/run_store.hpp>

#include "run_memory.hpp"

namespace kernelsmith {
namespace {

Status find(const SearchState& state, const std::vector<ProgramId>& ids, std::vector<IndividualPtr>& found) {
  for (const ProgramId id : ids) {
    auto individual = state.individual(id);
    if (!individual) return individual.error();
    found.push_back(std::move(*individual));
  }
  return {};
}

Result<ProposalRequest> request_of(const SearchState& state, const RunConfig& config,
                                   const TicketOpened& opened) {
  ProposalRequest request;
  request.seed = config.seed;
  request.ticket = opened.ticket;
  request.op = *opened.op;
  request.model = opened.model;
  Selection& selection = request.selection;
  if (opened.parent) {
    auto parent = state.individual(*opened.parent);
    if (!parent) return parent.error();
    selection.parent = std::move(*parent);
  }
  if (Status read = find(state, opened.top, selection.top); !read) return read.error();
  if (Status read = find(state, opened.inspirations, selection.inspirations); !read) return read.error();
  if (Status read = find(state, opened.failures, selection.failures); !read) return read.error();
  if (Status read = find(state, state.kin_of(opened), selection.kin); !read) return read.error();
  return request;
}

/// The next request. For a run whose budget is used up, assumes one more iteration.
Result<ProposalRequest> next_request(const RunView& view) {
  const SearchState& state = view.state;
  const auto opened = state.next_opening(state.elapsed_s());
  if (opened && opened->op) return request_of(state, view.config, *opened);
  const auto policies = engine_options(view.task, view.config);
  if (!policies) return policies.error();
  ProposalRequest request;
  request.seed = view.config.seed;
  request.ticket = state.next_ticket();
  const std::uint64_t ticket = request.ticket.value;
  const IslandId island{static_cast<std::uint32_t>(ticket % state.archipelago().size())};
  Rng sampling(request.seed, ticket, Purpose::sampling);
  request.selection = policies->sampler->sample(state.archipelago().island(island), sampling);
  Rng choosing(request.seed, ticket, Purpose::operators);
  auto choice = policies->operators->choose(
      {.selection = request.selection, .arms = state.arms(), .pays = state.budgets().usd.has_value()},
      choosing);
  request.op = choice.op;
  request.model = std::move(choice.model);
  return request;
}

bool accepted(const IndividualPtr& individual) { return individual && individual->evaluation.accepted(); }

/// Changes the request to one for `op`, if its selection allows it.
Status ask_for(Operator op, ProposalRequest& request) {
  Selection& selection = request.selection;
  if (op == Operator::repair && (!selection.parent || accepted(selection.parent))) {
    if (selection.failures.empty())
      return fail(ErrorCode::not_found, "there is no rejected program to repair", "--operator repair",
                  "name a RUN that has one");
    selection.parent = selection.failures.front();
    selection.failures.erase(selection.failures.begin());
  }
  if (op == Operator::crossover && std::ranges::none_of(selection.top, accepted) &&
      std::ranges::none_of(selection.inspirations, accepted))
    return fail(ErrorCode::not_found, "there is no second accepted program to cross with",
                "--operator crossover", "name a RUN that has two");
  request.op = op;
  return {};
}

/// The youngest accepted program, or the youngest rejected one, other than the parent; null if there is none.
Result<IndividualPtr> youngest(const SearchState& state, bool wants_accepted, const IndividualPtr& parent) {
  const auto& all = state.programs();
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const auto& entry) {
    const bool is_parent = parent && parent->program->id == entry.first;
    return !is_parent && entry.second.accepted == wants_accepted;
  });
  return found == all.rend() ? IndividualPtr() : state.individual(found->first);
}

/// Finds programs for `op` outside of the next ticket's selection, which may lack them.
Status complete(Operator op, const SearchState& state, Selection& selection) {
  const bool has_second =
      std::ranges::any_of(selection.top, accepted) || std::ranges::any_of(selection.inspirations, accepted);
  const bool lacks_failure = op == Operator::repair && selection.failures.empty();
  const bool lacks_second = op == Operator::crossover && !has_second;
  if (!lacks_failure && !lacks_second) return {};
  auto other = youngest(state, lacks_second, selection.parent);
  if (!other) return other.error();
  if (*other) (lacks_second ? selection.top : selection.failures).push_back(std::move(*other));
  return {};
}

Result<PromptPreview> preview(const Task& task, const PromptOptions& options, std::optional<Operator> op,
                              ProposalRequest request) {
  if (op) {
    if (const Status asked = ask_for(*op, request); !asked) return asked.error();
  } else if (request.op == Operator::tune) {
    request.op = Operator::rewrite;
  }
  const auto builder = PromptBuilder::create(task, options);
  if (!builder) return builder.error();
  auto prompt = builder->build(request);
  if (!prompt) return prompt.error();
  auto unused = unused_templates(options.folder, options.set);
  if (!unused) return unused.error();
  return PromptPreview{std::move(request), std::move(*prompt), options.budget_tokens, std::move(*unused)};
}

}  // namespace

PromptOptions prompt_options(const RunConfig& config, const PromptChanges& changes,
                             const std::string& model) {
  PromptOptions options = config.proposer.provider->outlook().prompts(model).value_or(PromptOptions{});
  if (changes.set) options.set = *changes.set;
  if (changes.folder) options.folder = *changes.folder;
  if (changes.budget_tokens) options.budget_tokens = *changes.budget_tokens;
  return options;
}

PromptOptions with_backend(PromptOptions options, const Task& task, const BackendDescription& backend) {
  if (options.language.empty()) options.language = backend.language;
  if (options.suffix.empty()) options.suffix = backend.suffix;
  if (options.interface.empty() && backend.interface_files) options.interface = backend.interface_files(task);
  if (backend.prompt_facts) {
    PromptFacts facts = backend.prompt_facts(task);
    options.texts = std::move(facts.texts);
    options.conditions = std::move(facts.conditions);
  }
  if (options.hardware.empty() && backend.hardware) options.hardware = backend.hardware();
  return options;
}

Result<PromptPreview> preview_run_prompt(const std::filesystem::path& path, const PromptChanges& changes,
                                         std::optional<Operator> op, const Registry& registry) {
  // A run without its task can be shown, but has no prompts.
  if (const auto stored = load_stored_run(path, registry); !stored) return stored.error();
  const auto view = view_run(path, registry);
  if (!view) return view.error();
  auto request = next_request(*view);
  if (!request) return request.error();
  if (op)
    if (const Status completed = complete(*op, view->state, request->selection); !completed)
      return completed.error();
  const RunConfig& config = view->config;
  const PromptOptions options = prompt_options(config, changes, request->model);
  return preview(view->task, with_backend(options, view->task, config.backend), op, std::move(*request));
}

namespace {

/// The journal's data about a ticket.
struct Asked {
  std::uint64_t position = 0;
  std::optional<TicketOpened> opened;
  std::optional<Digest> sent;
};

Result<Asked> find_ticket(const RunStore& store, TicketId ticket) {
  Asked asked;
  const Status read = store.replay(0, [&](std::uint64_t position, const Event& event) -> Status {
    if (const auto* opened = std::get_if<TicketOpened>(&event); opened && opened->ticket == ticket) {
      asked.position = position;
      asked.opened = *opened;
    }
    if (const auto* arrived = std::get_if<ProposalArrived>(&event); arrived && arrived->ticket == ticket)
      asked.sent = arrived->proposal.prompt;
    return {};
  });
  if (!read) return read.error();
  return asked;
}

Error no_prompt(const Asked& asked, TicketId ticket) {
  const std::string name = "ticket " + std::to_string(ticket.value);
  if (!asked.opened)
    return fail(ErrorCode::not_found, "the run has no " + name, "--ticket",
                "`kernelsmith export RUN` lists its tickets");
  return fail(ErrorCode::not_found,
              asked.opened->op == Operator::tune ? name + " belongs to the tuner, which asks no model"
              : asked.opened->op                 ? name + " has no answer from a model"
              : asked.opened->remeasurement      ? name + " measured a program again"
                                                 : name + " evaluated the seed",
              "--ticket");
}

}  // namespace

Result<RepeatedPrompt> repeat_prompt(const std::filesystem::path& path, TicketId ticket,
                                     const Registry& registry) {
  const auto stored = load_stored_run(path, registry);
  if (!stored) return stored.error();
  const auto store = RunStore::open_read_only(path);
  if (!store) return store.error();
  const auto asked = find_ticket(**store, ticket);
  if (!asked) return asked.error();
  if (!asked->opened || !asked->opened->op || !asked->sent) return no_prompt(*asked, ticket);
  const Task& task = stored->task.task;
  auto engine = engine_options(task, stored->config);
  if (!engine) return engine.error();
  engine->run = (*store)->run_id();
  auto state = replay(**store, std::move(*engine), asked->position);
  if (!state) return state.error();
  state->read_from(store->get());
  auto request = request_of(*state, stored->config, *asked->opened);
  if (!request) return request.error();
  const PromptOptions options =
      with_backend(prompt_options(stored->config, {}, request->model), task, stored->config.backend);
  auto shown = preview(task, options, std::nullopt, std::move(*request));
  if (!shown) return shown.error();
  return RepeatedPrompt{std::move(*shown), *asked->sent};
}

Result<Prompt> first_prompt(const Task& task, std::uint64_t seed_of_run, const PromptOptions& options,
                            const IndividualPtr& seed) {
  ProposalRequest request;
  request.seed = seed_of_run;
  request.ticket = {task.seed.empty() ? std::uint64_t{0} : std::uint64_t{1}};
  request.op = accepted(seed) ? Operator::rewrite : Operator::translate;
  request.selection.parent = seed;
  auto shown = preview(task, options, std::nullopt, std::move(request));
  if (!shown) return shown.error();
  return std::move(shown->prompt);
}

Result<PromptPreview> preview_task_prompt(const Task& task, const RunConfig& config,
                                          const PromptChanges& changes, std::optional<Operator> op,
                                          const std::stop_token& stop) {
  const auto memory = snapshot_for(task, config);
  if (!memory) return memory.error();
  config.proposer.provider->context.notes = notes_of(*memory);
  ProposalRequest request;
  request.seed = config.seed;
  request.ticket = {task.seed.empty() ? std::uint64_t{0} : std::uint64_t{1}};
  request.op = Operator::translate;
  if (!task.seed.empty()) {
    const auto evaluation = evaluate_one(task, config, task.seed, stop);
    if (!evaluation) return evaluation.error();
    auto program = std::make_shared<Program>(Program{{}, task.seed, {}, Origin::seed});
    request.selection.parent =
        std::make_shared<const Individual>(Individual{std::move(program), evaluation->without_artifacts()});
    if (accepted(request.selection.parent)) request.op = Operator::rewrite;
  }
  return preview(task, with_backend(prompt_options(config, changes), task, config.backend), op,
                 std::move(request));
}

}  // namespace kernelsmith
