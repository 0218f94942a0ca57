// The printed names of this component's enums.
#include <kernelsmith/core/enum_names.hpp>
#include <kernelsmith/engine/bandit.hpp>
#include <kernelsmith/engine/outcome.hpp>

namespace kernelsmith {
namespace {

constexpr auto kCommitKinds = detail::enum_names<CommitKind>({
    {CommitKind::evaluated, "evaluated"},
    {CommitKind::repeated, "repeated"},
    {CommitKind::remeasured, "remeasured"},
    {CommitKind::refused, "refused"},
    {CommitKind::given_back, "given_back"},
});

constexpr auto kEndReasons = detail::enum_names<EndReason>({
    {EndReason::unfinished, "unfinished"},
    {EndReason::budget, "budget"},
    {EndReason::flat, "flat"},
    {EndReason::exhausted, "exhausted"},
    {EndReason::finished, "finished"},
    {EndReason::refused, "refused"},
    {EndReason::stopped, "stopped"},
    {EndReason::errors, "errors"},
    {EndReason::replayed, "replayed"},
});

constexpr auto kBudgetNames = detail::enum_names<BudgetName>({
    {BudgetName::iterations, "iterations"},
    {BudgetName::evaluations, "evaluations"},
    {BudgetName::calls, "calls"},
    {BudgetName::wall_time, "wall_time"},
    {BudgetName::money, "money"},
});

constexpr auto kArmCosts = detail::enum_names<ArmCost>({
    {ArmCost::tries, "tries"},
    {ArmCost::usd, "usd"},
    {ArmCost::tokens, "tokens"},
});

}  // namespace

std::string_view name_of(CommitKind kind) { return detail::name_in(kCommitKinds, kind); }
std::string_view name_of(EndReason reason) { return detail::name_in(kEndReasons, reason); }
std::string_view name_of(BudgetName budget) { return detail::name_in(kBudgetNames, budget); }
std::string_view name_of(ArmCost cost) { return detail::name_in(kArmCosts, cost); }

}  // namespace kernelsmith
