#include <string>
#include <utility>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/evaluator/parse_stage.hpp>

namespace kernelsmith {
namespace {

Rejection reject(RejectionCode code, std::string diagnostics) {
  return {Stage::parse, code, std::move(diagnostics), {}};
}

std::string words_of(const Error& error) {
  std::string words = error.where.empty() ? error.message : error.where + ": " + error.message;
  return error.hint.empty() ? words : words + " (" + error.hint + ")";
}

}  // namespace

std::optional<Rejection> parse_candidate(const Task& task, const EvaluationJob& job, std::size_t max_bytes) {
  const Source& source = job.source;
  if (source.empty()) return reject(RejectionCode::unreadable, "the candidate has no file");
  if (source.bytes() > max_bytes)
    return reject(RejectionCode::too_large, "the candidate has " + std::to_string(source.bytes()) +
                                                " bytes; at most " + std::to_string(max_bytes) +
                                                " are taken");
  if (const auto blocks = find_blocks(source); !blocks)
    return reject(RejectionCode::unreadable, words_of(blocks.error()));
  if (!task.seed.empty() && !job.may_edit_frozen)
    if (const auto frozen = check_frozen(task.seed, source); !frozen)
      return reject(RejectionCode::frozen_changed, words_of(frozen.error()));
  if (const auto knobs = find_knobs(source); !knobs)
    return reject(RejectionCode::unreadable, words_of(knobs.error()));
  return std::nullopt;
}

}  // namespace kernelsmith
