// The printed names of this component's enums.

#include <kernelsmith/engine/outcome.hpp>

namespace kernelsmith {

std::string_view name_of(CommitKind kind) {
  switch (kind) {
    case CommitKind::evaluated:
      return "evaluated";
    case CommitKind::repeated:
      return "repeated";
    case CommitKind::remeasured:
      return "remeasured";
    case CommitKind::refused:
      return "refused";
    case CommitKind::given_back:
      return "given_back";
  }
  return "?";
}

std::string_view name_of(EndReason reason) {
  switch (reason) {
    case EndReason::unfinished:
      return "unfinished";
    case EndReason::budget:
      return "budget";
    case EndReason::flat:
      return "flat";
    case EndReason::exhausted:
      return "exhausted";
    case EndReason::finished:
      return "finished";
    case EndReason::refused:
      return "refused";
    case EndReason::stopped:
      return "stopped";
    case EndReason::errors:
      return "errors";
    case EndReason::replayed:
      return "replayed";
  }
  return "?";
}

std::string_view name_of(BudgetName budget) {
  switch (budget) {
    case BudgetName::iterations:
      return "iterations";
    case BudgetName::evaluations:
      return "evaluations";
    case BudgetName::wall_time:
      return "wall_time";
    case BudgetName::money:
      return "money";
  }
  return "?";
}

}  // namespace kernelsmith
