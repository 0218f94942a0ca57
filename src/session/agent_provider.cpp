// The proposer `agent` of run.yaml: its command, its budget, and what it may see.
#include <algorithm>
#include <cstdlib>

#include <kernelsmith/agent/agent_proposer.hpp>
#include <kernelsmith/core/escape.hpp>

#include "model_support.hpp"
#include "providers.hpp"

namespace kernelsmith {
namespace {

class AgentProvider final : public ProposerProvider {
 public:
  /// The first setting that gives the agent more than its workspace. A command that is confined to its
  /// workspace is harmless, even if a stranger chose it.
  std::vector<std::string> settings_to_reconfirm() const override {
    if (options_.network) return {"network=true"};
    if (!environment_.empty()) return {"environment=[" + joined(environment_) + "]"};
    if (!read_only_.empty()) return {"read_only=[" + joined(read_only_) + "]"};
    return {};
  }

  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token&) const override {
    if (is_stored_alone() && !settings_to_reconfirm().empty())
      return fail(
          ErrorCode::invalid_argument,
          "this run's agent, " + escape_controls(options_.command.front()) + ", sees more than its workspace",
          context.place,
          "if you trust its command in run.yaml, say so: kernelsmith resume RUN --set '" + context.place +
              "." + settings_to_reconfirm().front() + "'");
    AgentOptions options = options_;
    for (const std::string& name : environment_) {
      const char* value = std::getenv(name.c_str());
      if (!value)
        return fail(ErrorCode::not_found, "the agent's environment lacks a variable", "$" + name, "set it");
      options.environment.emplace(name, value);
    }
    for (const std::string& path : read_only_) {
      std::error_code ignored;
      if (!std::filesystem::path(path).is_absolute() || !std::filesystem::exists(path, ignored))
        return fail(ErrorCode::not_found, "read_only lists a file that does not exist", path,
                    context.place + ".read_only lists absolute paths");
      options.read_only.emplace_back(path);
    }
    auto builder = prompt_settings().builder(task, context);
    if (!builder) return builder.error();
    auto proposer = make_agent_proposer(std::move(*builder), task, std::move(options));
    if (!proposer) return proposer;
    return with_tuner(std::move(*proposer));
  }

  ProposerExam examine(const Task& task, const std::stop_token& stop) const override {
    ProposerExam exam = ProposerProvider::examine(task, stop);
    for (DryCheck& check : exam.checks)
      if (!check.error) check.detail = "its command, its variables and its files exist";
    exam.prompts = prompt_settings().options(context);
    CallTerms terms;
    terms.model = name();
    terms.is_agent = true;
    terms.agent_usd = options_.usd;
    exam.calls.push_back(std::move(terms));
    return exam;
  }

  Result<CallPlanner> planner(const Task&) const override {
    if (!options_.usd) return CallPlanner();
    return CallPlanner([usd = *options_.usd](const ProposalRequest& request) -> std::optional<PlannedCall> {
      if (request.op == Operator::tune) return std::nullopt;
      return PlannedCall{{}, usd};
    });
  }

  ProposerTraits traits() const override {
    return {.operators = {{Operator::rewrite, ""}}, .models = {name()}, .in_flight = options_.parallel};
  }

  ProposerOutlook outlook() const override {
    AskedModel agent{.name = name(), .prompts = std::nullopt, .may_be_given_up = true};
    if (!options_.usd)
      agent.unpriced = fail(ErrorCode::invalid_argument, "a budget of money needs a limit for each agent",
                            context.place + ".budget.usd",
                            "set it to what one request may cost; the agent reports what it spends");
    std::string words = "runs " + joined(options_.command) + " in a sandbox";
    words += options_.network ? " with this machine's network" : " without network";
    if (!environment_.empty()) words += ", with $" + joined(environment_);
    return {.models = {std::move(agent)}, .destination = std::move(words)};
  }

 private:
  void list(Section& io) override {
    io.needed(
        "command", options_.command,
        "the program, looked up in PATH, and its arguments. If it lies outside /usr (npm, pyenv, "
        "`~/.local/bin`), `read_only` lists its folder, that of the file which it links to, and that of "
        "its `#!` interpreter");
    io("name", options_.name, "what its cost is counted under");
    io.by_default("the command's");
    io("network", options_.network, "whether it has this machine's network");
    io("environment", environment_, "variables of this machine's that it sees");
    io("read_only", read_only_, "absolute paths that it sees, beside the toolchain");
    io("parallel", options_.parallel, {1, 256}, "agents at a time");
    io("memory_bytes", options_.memory_bytes, {1ULL << 26, 1ULL << 42},
       "memory of all its processes, if a cgroup can be made");
    io("transcript_bytes", options_.transcript_bytes, {0, 1ULL << 28},
       "how much of the end of its output is kept");
    io.map("budget", [this](Section& budget) {
      budget("time_s", options_.time_s, {0.1, 7 * kDayS}, "seconds for one request");
      budget("evaluations", options_.evaluations, {0, 1'000'000}, "evaluations for one request");
      budget.maybe("usd", options_.usd, {0, 1e6},
                   "US dollars for one request; the agent reports what it spends");
    });
    prompts_.list(io);
  }

  /// The agent's name, as in make_agent_proposer().
  std::string name() const {
    if (!options_.name.empty() || options_.command.empty()) return options_.name;
    return std::filesystem::path(options_.command.front()).filename().string();
  }

  /// Whether the command and its permissions come only from a run folder.
  bool is_stored_alone() const {
    const auto keys = {"command", "network", "environment", "read_only"};
    return std::ranges::all_of(keys, [this](const char* key) { return is_only_stored(key); });
  }

  PromptSettings prompt_settings() const {
    PromptSettings settings = prompts_;
    settings.set = "agent";
    return settings;
  }

  static std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
  }

  AgentOptions options_;
  std::vector<std::string> environment_, read_only_;
  PromptSettings prompts_;
};

}  // namespace

std::unique_ptr<ProposerProvider> agent_provider() { return std::make_unique<AgentProvider>(); }

}  // namespace kernelsmith
