#include "sitting.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith::agent {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(20);
constexpr auto kLookFor = std::chrono::milliseconds(200);  // then its time and Ctrl-C are checked again
constexpr std::size_t kMostAtOnce = 8;
constexpr std::uint64_t kMostAsks = 10'000;

double fitness_of(const IndividualPtr& individual) { return individual->evaluation.metrics()->fitness().low; }

/// Files for name resolution and certificates.
void add_name_service(SandboxSpec& spec) {
  std::error_code ignored;
  for (const char* path :
       {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/ca-certificates"})
    if (std::filesystem::exists(path, ignored)) spec.read_only.push_back({path});
}

/// The error names the ask by its path in the agent's workspace.
Result<Ask> unreadable(std::uint64_t number, Error why) {
  why.where = "asks/" + std::to_string(number) + ".json";
  return why;
}

std::string transcript_of(const SandboxResult& end) {
  return end.out + (end.err.empty() ? "" : "\n--- standard error\n" + end.err);
}

}  // namespace

Sitting::Sitting(const PromptBuilder& prompts, const AgentOptions& options, ProposalRequest request)
    : prompts_(prompts),
      options_(options),
      request_(std::move(request)),
      tried_(request_.tried),
      evaluations_(request_.trials) {
  cost_.model = request_.model.empty() ? options_.name : request_.model;
  cost_.calls = 1;
}

Result<Proposal> Sitting::run(const std::stop_token& stop) {
  auto laid = Workspace::lay(prompts_, request_, budget_text());
  if (!laid) return laid.error();
  workspace_.emplace(std::move(*laid));
  auto process = SandboxedProcess::start(sandbox());
  if (!process) return process.error();
  Status attended;
  std::optional<Result<SandboxResult>> end;
  while (!(end = process->wait_for(kLookEvery))) {
    if (attended) attended = attend();
    if (!attended || stop.stop_requested() || is_spent() || next_ask_ > kMostAsks) process->kill();
  }
  if (!*end) return end->error();
  if (attended) attended = attend();
  while (attended && under_way_ > 0 && !stop.stop_requested()) {  // the agent's last ask may be its best
    std::this_thread::sleep_for(kLookEvery);
    attended = attend();
  }
  if (!attended && !answer()) return attended.error();  // such as a disk that the agent has filled
  return conclude(**end, stop.stop_requested());
}

SandboxSpec Sitting::sandbox() const {
  SandboxSpec spec;
  spec.argv = options_.command;
  add_toolchain(spec);
  if (options_.network) add_name_service(spec);
  for (const auto& path : options_.read_only) spec.read_only.push_back({path});
  spec.read_only.push_back({workspace_->answers(), kAnswers});
  spec.read_write.push_back({workspace_->folder(), kWorkspace});
  spec.environment = {{"PATH", std::string(kWorkspace) + "/tools:/usr/local/bin:/usr/bin:/bin"},
                      {"HOME", kWorkspace},
                      {"LANG", "C.UTF-8"},
                      {"KERNELSMITH_WORKSPACE", kWorkspace},
                      {"KERNELSMITH_ANSWERS", kAnswers}};
  for (const auto& [name, value] : options_.environment) spec.environment.insert_or_assign(name, value);
  spec.working_directory = kWorkspace;
  spec.limits.wall_s = options_.time_s;
  spec.limits.memory_bytes = options_.memory_bytes;
  spec.limits.limit_address_space = false;  // runtimes reserve much more than they use
  spec.limits.open_files = 4096;
  spec.limits.processes = 512;
  spec.limits.gives_way = true;  // because evaluations may be timed at the same time
  spec.limits.tmp_bytes = 1ULL << 30;
  spec.limits.output_bytes = 0;
  spec.limits.kept_output_bytes = options_.transcript_bytes;
  spec.profile = options_.network ? SandboxProfile::online : SandboxProfile::command;
  return spec;
}

std::string Sitting::budget_text() const {
  std::string text = "evaluations left: " +
                     std::to_string(options_.evaluations - std::min(evaluations_, options_.evaluations)) +
                     " of " + std::to_string(options_.evaluations) +
                     "\nseconds in all: " + number_text(options_.time_s) + "\n";
  if (options_.usd)
    text += "US dollars: " + number_text(cost_.usd) + " of " + number_text(*options_.usd) + " reported\n";
  return text;
}

Status Sitting::attend() {
  const auto began = std::chrono::steady_clock::now();
  for (; next_ask_ <= kMostAsks && std::chrono::steady_clock::now() - began < kLookFor; ++next_ask_) {
    const auto text = workspace_->ask(next_ask_);
    if (!text && text.error().code == ErrorCode::not_found) break;
    Status taken = take(next_ask_, text ? parse_ask(*text) : unreadable(next_ask_, text.error()));
    if (!taken) return taken;
  }
  return answer_arrived();
}

Status Sitting::take(std::uint64_t number, const Result<Ask>& ask) {
  if (!ask) return workspace_->answer(number, answer_of(ask.error()));
  return std::visit([&](const auto& one) { return take(number, one); }, *ask);
}

std::optional<Error> Sitting::refusal_of_attempt() const {
  if (!request_.attempt)
    return fail(ErrorCode::unsupported, "a deterministic run evaluates nothing before the answer");
  if (under_way_ >= kMostAtOnce)
    return fail(ErrorCode::busy, std::to_string(kMostAtOnce) + " evaluations are under way already", "",
                "wait for one of them");
  if (evaluations_ >= options_.evaluations)
    return fail(ErrorCode::over_budget,
                "this request's " + std::to_string(options_.evaluations) + " evaluations are used up", "",
                "submit your best program");
  return std::nullopt;
}

/// Refuses files that the candidate does not have, and changes of frozen parts. A refusal costs no
/// evaluation, because an agent may leave notes and compiler output next to its program.
std::optional<Error> Sitting::refusal_of_files(const Source& source) const {
  const IndividualPtr& parent = request_.selection.parent;
  const Source model = parent ? parent->program->source : prompts_.blank_candidate();
  std::string names;
  for (const SourceFile& file : model.files()) names += (names.empty() ? "" : ", ") + file.path;
  for (const SourceFile& file : source.files())
    if (!model.find(file.path))
      return fail(ErrorCode::bad_input, "the candidate has no file of this name", file.path,
                  "it has " + names + "; keep other files outside candidate/");
  if (const Status frozen = check_frozen(model, source); !frozen) return frozen.error();
  return std::nullopt;
}

Status Sitting::take(std::uint64_t number, const AskEvaluate& ask) {
  if (const auto refused = refusal_of_attempt()) return workspace_->answer(number, answer_of(*refused));
  if (const auto refused = refusal_of_files(ask.source))
    return workspace_->answer(number, answer_of(*refused));
  auto child = as_proposal(request_, ask.source);
  if (!child) return workspace_->answer(number, answer_of(child.error()));
  Child made = *child->child();
  if (!ask.parents.empty()) made.parents = ask.parents;
  ++evaluations_;  // given back if the program is already known
  attempt(number, std::move(made), ask.careful, {});
  return {};
}

Status Sitting::take(std::uint64_t number, const AskConfirm& ask) {
  if (const auto refused = refusal_of_attempt()) return workspace_->answer(number, answer_of(*refused));
  ++evaluations_;
  attempt(number, ask.program, false, {});
  return {};
}

Status Sitting::take(std::uint64_t number, const AskSubmit& ask) {
  if (const auto* program = std::get_if<ProgramId>(&ask.program)) {
    const Source* source = source_of(*program);
    if (!source)
      return workspace_->answer(
          number, answer_of(fail(ErrorCode::not_found, "no program in your workspace has this number",
                                 std::to_string(program->value), "give the program itself")));
    submitted_ = *source;
  } else {
    const Source& source = std::get<Source>(ask.program);
    if (const auto refused = refusal_of_files(source)) return workspace_->answer(number, answer_of(*refused));
    submitted_ = source;
  }
  return workspace_->answer(number, answer_of("submitted; a later submit takes its place"));
}

Status Sitting::take(std::uint64_t number, const AskReport& ask) {
  cost_.usd = std::max(cost_.usd, ask.usd);
  cost_.input_tokens = std::max(cost_.input_tokens, ask.input_tokens);
  cost_.output_tokens = std::max(cost_.output_tokens, ask.output_tokens);
  return workspace_->answer(number, answer_of(budget_text()));
}

Status Sitting::take(std::uint64_t number, const AskBudget&) {
  return workspace_->answer(number, answer_of(budget_text()));
}

void Sitting::attempt(std::uint64_t number, Trial trial, bool careful, std::optional<Tried> confirmed) {
  ++under_way_;
  request_.attempt(std::move(trial), [arrived = arrived_, number, careful,
                                      confirmed = std::move(confirmed)](Result<Tried> tried) {
    const MutexLock lock(arrived->mutex);
    arrived->results.push_back({number, careful, confirmed, std::move(tried)});
  });
}

Status Sitting::answer_arrived() {
  std::vector<Arrived::One> results;
  {
    const MutexLock lock(arrived_->mutex);
    results.swap(arrived_->results);
  }
  for (Arrived::One& one : results) {
    --under_way_;
    const bool cost_nothing = !one.tried || one.tried->repeated;
    if (cost_nothing) --evaluations_;
    if (!one.tried) {
      const std::string answer =
          one.confirmed ? answer_of(*one.confirmed, nullptr) : answer_of(one.tried.error());
      if (Status done = workspace_->answer(one.ask, answer); !done) return done;
      continue;
    }
    if (!one.confirmed)
      tried_.push_back(std::make_shared<Individual>(Individual{one.tried->program, one.tried->evaluation}));
    if (one.careful && one.tried->evaluation.accepted() && !refusal_of_attempt()) {
      ++evaluations_;
      attempt(one.ask, one.tried->program->id, false, *one.tried);
      continue;
    }
    const std::string answer =
        one.confirmed ? answer_of(*one.confirmed, &one.tried->evaluation) : answer_of(*one.tried, nullptr);
    if (Status done = workspace_->answer(one.ask, answer); !done) return done;
  }
  return {};
}

/// The submitted program, or else the best one tried.
std::optional<Source> Sitting::answer() const {
  if (submitted_) return submitted_;
  IndividualPtr best;
  for (const IndividualPtr& one : tried_)
    if (one->evaluation.accepted() && (!best || fitness_of(one) > fitness_of(best))) best = one;
  return best ? std::optional(best->program->source) : std::nullopt;
}

const Source* Sitting::source_of(ProgramId program) const {
  const Selection& selection = request_.selection;
  for (const auto* list : {&tried_, &selection.top, &selection.inspirations, &selection.failures,
                           &selection.past.best, &selection.past.latest})
    for (const IndividualPtr& one : *list)
      if (one->program->id == program) return &one->program->source;
  const IndividualPtr& parent = selection.parent;
  return parent && parent->program->id == program ? &parent->program->source : nullptr;
}

Result<Proposal> Sitting::conclude(const SandboxResult& end, bool stopped) {
  const std::string transcript = transcript_of(end);
  if (cost_.usd == 0 && cost_.input_tokens + cost_.output_tokens == 0) cost_.untold = 1;
  Proposal proposal{Refusal{}, cost_, {}};
  if (auto source = answer()) {
    auto child = as_proposal(request_, std::move(*source));
    if (!child) return child.error();
    proposal.outcome = std::move(child->outcome);
  } else if (stopped) {
    proposal.outcome = PaidError(fail(ErrorCode::cancelled, "the agent was stopped before it had a program"));
  } else if (next_ask_ == 1 && end.kind == ExitKind::exited && end.code != 0) {
    proposal.outcome =
        PaidError(fail(ErrorCode::tool_failed,
                       "the agent ended before it asked for anything: " + describe(end) + ": " +
                           escape_controls(transcript.substr(transcript.size() -
                                                             std::min<std::size_t>(transcript.size(), 500))),
                       options_.command.front(), "run its command by hand"));
  } else {
    proposal.outcome = Refusal{RefusalCode::no_code,
                               "the agent ended (" + describe(end) + ") without a program that was accepted"};
  }
  proposal.transcript = digest_of(transcript);
  if (options_.transcript_bytes > 0) {
    KeptReply kept;
    kept.model = cost_.model;
    kept.text = escape_controls(transcript);
    kept.cut = end.out_truncated || end.err_truncated;
    proposal.reply = std::move(kept);
  }
  return proposal;
}

}  // namespace kernelsmith::agent
