#include "dry_run_command.hpp"

#include <cstdio>

#include <kernelsmith/core/enum_names.hpp>
#include <kernelsmith/session/dry_run.hpp>

#include "commands.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr auto kVerdicts = detail::enum_names<DryCheck::Verdict>({
    {DryCheck::Verdict::ok, "ok"},
    {DryCheck::Verdict::failed, "failed"},
    {DryCheck::Verdict::unknown, "unknown"},
});

void print_check(const DryCheck& check) {
  const std::string detail = check.error ? check.error->message : check.detail;
  say("{:<8} {:<14} {}\n", detail::name_in(kVerdicts, check.verdict), check.name, detail);
}

std::string money(const std::optional<double>& usd) { return usd ? usd_text(*usd) : "an unknown sum"; }

void print_call(const CallEstimate& call) {
  if (call.terms.is_agent)
    return say("{:<8} {}: an agent, which reports what it costs; {}\n", "a call", call.terms.model,
               call.usd() ? "at most about " + usd_text(*call.usd()) : "budget.usd sets no limit");
  say("{:<8} {}: about {} tokens in and {} out, {}\n", "a call", call.terms.model, call.prompt_tokens,
      call.reply_tokens, call.usd() ? "about " + usd_text(*call.usd()) : "price unknown");
  const std::string most_in = call.terms.most_prompt_tokens > 0
                                  ? fmt::format("{} tokens in", call.terms.most_prompt_tokens)
                                  : "any number of tokens in";
  const std::string most_out = call.terms.most_reply_tokens
                                   ? fmt::format("{} out", *call.terms.most_reply_tokens)
                                   : "as many out as the server allows (max_output_tokens is not set)";
  say("{:<8} at most {} and {}{}\n", "", most_in, most_out,
      call.most_usd() ? ", " + usd_text(*call.most_usd()) : "");
}

void print_run(const RunEstimate& estimate, const Budgets& budgets) {
  if (estimate.calls)
    say("{:<8} about {} calls and {}; with all repairs at most {} calls{}\n", "the run", *estimate.calls,
        money(estimate.usd), *estimate.most_calls,
        estimate.most_usd ? " and " + usd_text(*estimate.most_usd) : "");
  else
    say("{:<8} how many calls it makes is not known without --iterations{}\n", "the run",
        budgets.usd ? fmt::format("; at most {}", usd_text(*budgets.usd)) : "");
  if (estimate.affordable_calls)
    say("{:<8} {} pay for about {:.0f} such calls\n", "", usd_text(*budgets.usd), *estimate.affordable_calls);
  say("{:<8} reasoning and failed attempts cost extra\n", "");
}

/// What a suite of such runs may cost.
void print_all(const RunEstimate& estimate, const Budgets& budgets, std::size_t tasks) {
  const auto count = static_cast<double>(tasks);
  say("{:<8} {} such runs", "in all", tasks);
  if (estimate.calls)
    say(", about {} calls and {}", *estimate.calls * tasks,
        estimate.usd ? usd_text(*estimate.usd * count) : "an unknown sum");
  if (budgets.usd) say("; at most {}", usd_text(*budgets.usd * count));
  say("\n");
}

}  // namespace

int dry_run_command(const TaskFolder& task, const RunConfig& config, Interrupt& interrupt,
                    std::size_t tasks) {
  say(stderr, "task {}; this writes nothing, and makes no request that costs money\n", task.task.name);
  const DryRun result = dry_run(task, config, interrupt.token());
  for (const DryCheck& check : result.checks) print_check(check);
  if (!result.estimate.models.empty()) {
    say("\n");
    for (const CallEstimate& call : result.estimate.models) print_call(call);
    print_run(result.estimate, config.budgets);
    if (tasks > 1) print_all(result.estimate, config.budgets, tasks);
  }
  std::fflush(stdout);
  return result.error() ? report(stderr, *result.error()) : kDone;
}

}  // namespace kernelsmith::cli
