#include <algorithm>
#include <functional>
#include <utility>

#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/code/text.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>
#include <kernelsmith/prompts/tokens.hpp>

#include "excerpt.hpp"
#include "prompt_data.hpp"
#include "template_set.hpp"

namespace kernelsmith {
namespace {

using detail::Shown;

constexpr std::size_t kLeastErrorBytes = 750;

/// A part that can be dropped.
struct Part {
  std::string what;
  std::function<void(Shown&)> drop;
};

Part last_of(std::vector<IndividualPtr> Shown::*group, const Shown& shown, const std::string& what) {
  return {what + " " + std::to_string((shown.*group).back()->program->id.value),
          [group](Shown& from) { (from.*group).pop_back(); }};
}

/// Chooses the next part to drop. In a group the last member is the least useful and is dropped first. Lines
/// that were tried before are least useful, then failures, then inspirations and notes of other runs. The
/// best program, the reference and the end of the error are most useful. The task, the parent and its partner
/// are always kept.
Part least_useful(const Shown& shown, const std::vector<PromptNote>& notes) {
  if (!shown.tried.empty())
    return {"lines of program " + std::to_string(shown.tried.back().with->program->id.value),
            [](Shown& from) { from.tried.pop_back(); }};
  if (shown.failures.size() > 1) return last_of(&Shown::failures, shown, "the failed attempt");
  if (!shown.inspirations.empty()) return last_of(&Shown::inspirations, shown, "the inspiration");
  if (shown.notes > 0) return {"the note " + notes[shown.notes - 1].name, [](Shown& from) { --from.notes; }};
  if (!shown.failures.empty()) return last_of(&Shown::failures, shown, "the failed attempt");
  if (shown.top.size() > 1) return last_of(&Shown::top, shown, "the top program");
  if (shown.error_bytes / 2 >= kLeastErrorBytes && shown.parent && !shown.parent->evaluation.accepted()) {
    const std::size_t kept = shown.error_bytes / 2;
    return {"all but the last " + std::to_string(kept) + " bytes of the error",
            [kept](Shown& from) { from.error_bytes = kept; }};
  }
  if (!shown.top.empty()) return last_of(&Shown::top, shown, "the top program");
  if (shown.reference) return {"the reference", [](Shown& from) { from.reference = false; }};
  return {};
}

/// Removes blank lines at both ends and repeated blank lines, which come from empty parts. Fenced text is
/// unchanged.
std::string tidy(std::string_view text) {
  std::string result, fence;
  std::size_t blank = 0;
  for (const std::string_view line : lines_of(trimmed(text))) {
    const std::string_view bare = without_newline(line);
    const std::size_t signs = std::min(bare.find_first_not_of('`'), bare.size());
    if (fence.empty() && signs >= 3) {
      fence = bare.substr(0, signs);
    } else if (!fence.empty() && bare == fence) {
      fence.clear();
    }
    blank = bare.empty() && fence.empty() ? blank + 1 : 0;
    if (blank < 2) result += line;
  }
  return result + "\n";
}

std::string names_of(const std::vector<std::string>& sets) {
  std::string text;
  for (const std::string& set : sets) text += (text.empty() ? "" : ", ") + set;
  return text;
}

}  // namespace

struct PromptBuilder::Impl {
  Task task;
  PromptOptions options;
  detail::TemplateSets sets;

  /// The sets to search for an operator's templates, in order.
  std::vector<std::string> sets_for(Operator op) const {
    if (op == Operator::rewrite) return {options.set, detail::kBaseSet};
    return {std::string(name_of(op)), options.set, detail::kBaseSet};
  }

  Status render(const ProposalRequest& request, const Shown& shown, Prompt& prompt) const {
    const auto chain = sets_for(request.op);
    const Value data = detail::prompt_data(task, options, shown);
    auto system = sets.render(chain, "system", data);
    if (!system) return system.error();
    auto user = sets.render(chain, "user", data);
    if (!user) return user.error();
    prompt.system = tidy(detail::as_utf8(*system));
    prompt.user = tidy(detail::as_utf8(*user));
    prompt.tokens = estimate_tokens(prompt.system) + estimate_tokens(prompt.user);
    return {};
  }
};

Result<PromptBuilder> PromptBuilder::create(Task task, PromptOptions options) {
  auto sets = detail::TemplateSets::load(options.folder);
  if (!sets) return sets.error();
  if (!sets->has_set(options.set))
    return fail(ErrorCode::not_found, "there is no prompt set " + options.set, options.folder.string(),
                "known sets: " + names_of(sets->sets()));
  return PromptBuilder(
      std::make_shared<const Impl>(Impl{std::move(task), std::move(options), std::move(*sets)}));
}

Result<Prompt> PromptBuilder::build(const ProposalRequest& request) const {
  if (request.op == Operator::tune)
    return fail(ErrorCode::invalid_argument, "the tuner works without a prompt", "tune");
  if (!request.selection.parent && request.op != Operator::translate)
    return fail(ErrorCode::invalid_argument, "only a translation needs no parent",
                std::string(name_of(request.op)));
  Prompt prompt;
  prompt.set = impl_->sets_for(request.op).front();
  prompt.edits = request.op == Operator::edit;
  prompt.templates = templates();
  Shown shown = detail::everything(request, impl_->options);
  if (const Status rendered = impl_->render(request, shown, prompt); !rendered) return rendered.error();
  const std::size_t budget = impl_->options.budget_tokens;
  while (budget > 0 && prompt.tokens > budget) {
    Part part = least_useful(shown, impl_->options.notes);
    if (!part.drop) break;
    part.drop(shown);
    const std::size_t before = prompt.tokens;
    if (const Status rendered = impl_->render(request, shown, prompt); !rendered) return rendered.error();
    prompt.dropped.push_back({std::move(part.what), before - std::min(before, prompt.tokens)});
  }
  prompt.notes = shown.notes;
  return prompt;
}

Digest Prompt::digest() const { return DigestBuilder().add(system).add(user).finish(); }

Digest PromptBuilder::templates() const { return impl_->sets.digest(); }

std::vector<std::string> built_in_prompt_sets() { return detail::TemplateSets::load({}).value().sets(); }

Source PromptBuilder::blank_candidate() const { return detail::blank_candidate(impl_->task, impl_->options); }

}  // namespace kernelsmith
