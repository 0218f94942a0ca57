// The proposer `agent` of run.yaml: which command, with which budget, and what it may see.
#include <cstdlib>

#include <kernelsmith/agent/agent_proposer.hpp>
#include <kernelsmith/core/escape.hpp>

#include "model_support.hpp"
#include "providers.hpp"

namespace kernelsmith {
namespace {

class AgentProvider final : public ProposerProvider {
 public:
  void read(YamlMap& in) override {
    if (options_.command.empty())
      in.required("command", options_.command);
    else if (in.kind("command") != YamlKind::absent)
      in.required("command", options_.command);
    if (in.ok() && options_.command.empty()) in.refuse("command", "no command is named");
    for (const char* key : {"command", "network", "environment", "read_only"})
      if (in.kind(key) != YamlKind::absent) is_stored_ = false;
    in.optional("name", options_.name);
    in.optional("network", options_.network);
    in.optional("environment", environment_);
    in.optional("read_only", read_only_);
    std::uint64_t parallel = options_.parallel;
    in.optional("parallel", parallel, {1, 256});
    options_.parallel = static_cast<unsigned>(parallel);
    in.optional("memory_bytes", options_.memory_bytes, {1ULL << 26, 1ULL << 42});
    in.optional("transcript_bytes", options_.transcript_bytes, {0, 1ULL << 28});
    in.optional_map("budget", [&](YamlMap& map) {
      map.optional("time_s", options_.time_s, {0.1, 7 * 86'400.0});
      map.optional("evaluations", options_.evaluations, {0, 1'000'000});
      if (map.kind("usd") == YamlKind::absent) return;
      double usd = 0;
      map.required("usd", usd, {0, 1e6});
      options_.usd = usd;
    });
    prompts_.read(in);
  }

  void write(YamlWriter& out) const override {
    out.put("command", options_.command);
    out.put("name", options_.name);
    out.put("network", options_.network);
    out.put("environment", environment_);
    out.put("read_only", read_only_);
    out.put("parallel", static_cast<std::uint64_t>(options_.parallel));
    out.put("memory_bytes", options_.memory_bytes);
    out.put("transcript_bytes", options_.transcript_bytes);
    out.map("budget", [&](YamlWriter& map) {
      map.put("time_s", options_.time_s);
      map.put("evaluations", options_.evaluations);
      if (options_.usd) map.put("usd", *options_.usd);
    });
    prompts_.write(out);
  }

  void mark_untrusted() override { is_stored_ = true; }

  /// Confined to its workspace a stranger's command does no harm.
  std::vector<std::string> settings_to_reconfirm() const override {
    if (options_.network) return {"network=true"};
    if (!environment_.empty()) return {"environment=[" + joined(environment_) + "]"};
    if (!read_only_.empty()) return {"read_only=[" + joined(read_only_) + "]"};
    return {};
  }

  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token&) const override {
    if (is_stored_ && !settings_to_reconfirm().empty())
      return fail(
          ErrorCode::invalid_argument,
          "this run's agent, " + escape_controls(options_.command.front()) + ", sees more than its workspace",
          place(),
          "if you trust its command in run.yaml, say so: kernelsmith resume RUN --set '" + place() + "." +
              settings_to_reconfirm().front() + "'");
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
        return fail(ErrorCode::not_found, "the agent is to see what is not there", path,
                    place() + ".read_only lists absolute paths");
      options.read_only.emplace_back(path);
    }
    auto builder = prompt_settings().builder(task);
    if (!builder) return builder.error();
    auto proposer = make_agent_proposer(std::move(*builder), task, std::move(options));
    if (!proposer) return proposer;
    return with_tuner(std::move(*proposer));
  }

  ProposerExam examine(const Task& task, const std::stop_token& stop) const override {
    ProposerExam exam = ProposerProvider::examine(task, stop);
    for (DryCheck& check : exam.checks)
      if (!check.error) check.detail = "its command and what it may see are there";
    exam.prompts = prompt_settings().options();
    CallTerms terms;
    terms.model = models().front();
    terms.is_agent = true;
    terms.agent_usd = options_.usd;
    exam.calls.push_back(std::move(terms));
    return exam;
  }

  Status check_prices() const override {
    if (options_.usd) return {};
    return fail(ErrorCode::invalid_argument, "a budget of money holds only if each agent has one",
                place() + ".budget.usd",
                "set it to what one request may cost; the agent reports what it spends");
  }

  Result<CallPlanner> planner(const Task&) const override {
    if (!options_.usd) return CallPlanner();
    return CallPlanner([usd = *options_.usd](const ProposalRequest& request) -> std::optional<PlannedCall> {
      if (request.op == Operator::tune) return std::nullopt;
      return PlannedCall{{}, usd};
    });
  }

  std::string destination() const override {
    std::string words = "runs " + joined(options_.command) + " in a sandbox";
    words += options_.network ? " with this machine's network" : " without network";
    return words + (environment_.empty() ? "" : ", with $" + joined(environment_));
  }

  /// As make_agent_proposer() names it.
  std::vector<std::string> models() const override {
    if (!options_.name.empty()) return {options_.name};
    if (options_.command.empty()) return {};
    return {std::filesystem::path(options_.command.front()).filename().string()};
  }

  std::vector<OperatorChoice> operators() const override { return {{Operator::rewrite, ""}}; }
  void describe_backend(const BackendDescription& backend) override { prompts_.backend = backend; }
  void show_notes(const std::vector<PromptNote>& notes) override { prompts_.notes = notes; }
  bool may_be_given_up(const std::string&) const override { return true; }
  std::optional<unsigned> proposals_in_flight() const override { return options_.parallel; }

 private:
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
  bool is_stored_ = false;  ///< see mark_untrusted()
};

}  // namespace

std::unique_ptr<ProposerProvider> agent_provider() { return std::make_unique<AgentProvider>(); }

}  // namespace kernelsmith
