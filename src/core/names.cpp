// The printed and stored names of every enum of this component.

#include <kernelsmith/core/enum_names.hpp>
#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/event.hpp>
#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/program.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/core/ticket.hpp>

namespace kernelsmith {
namespace {

using detail::enum_names;
using detail::name_in;
using detail::value_in;

constexpr auto kErrorCodeNames = enum_names<ErrorCode>({
    {ErrorCode::invalid_argument, "invalid_argument"},
    {ErrorCode::bad_input, "bad_input"},
    {ErrorCode::not_found, "not_found"},
    {ErrorCode::permission, "permission"},
    {ErrorCode::io, "io"},
    {ErrorCode::disk_full, "disk_full"},
    {ErrorCode::busy, "busy"},
    {ErrorCode::already_told, "already_told"},
    {ErrorCode::unknown_ticket, "unknown_ticket"},
    {ErrorCode::version, "version"},
    {ErrorCode::corrupt, "corrupt"},
    {ErrorCode::tool_missing, "tool_missing"},
    {ErrorCode::tool_failed, "tool_failed"},
    {ErrorCode::unsupported, "unsupported"},
    {ErrorCode::unstable, "unstable"},
    {ErrorCode::timeout, "timeout"},
    {ErrorCode::network, "network"},
    {ErrorCode::untrusted, "untrusted"},
    {ErrorCode::rate_limited, "rate_limited"},
    {ErrorCode::server_failed, "server_failed"},
    {ErrorCode::bad_reply, "bad_reply"},
    {ErrorCode::too_long, "too_long"},
    {ErrorCode::cancelled, "cancelled"},
    {ErrorCode::refused, "refused"},
    {ErrorCode::over_budget, "over_budget"},
    {ErrorCode::internal, "internal"},
});

constexpr auto kOriginNames = enum_names<Origin>({
    {Origin::seed, "seed"},
    {Origin::translate, "translate"},
    {Origin::edit, "edit"},
    {Origin::rewrite, "rewrite"},
    {Origin::crossover, "crossover"},
    {Origin::repair, "repair"},
    {Origin::tune, "tune"},
    {Origin::user, "user"},
});

constexpr auto kStageNames = enum_names<Stage>({
    {Stage::parse, "parse"},
    {Stage::static_check, "static_check"},
    {Stage::compile, "compile"},
    {Stage::plan, "plan"},
    {Stage::run, "run"},
    {Stage::correctness, "correctness"},
    {Stage::integrity, "integrity"},
    {Stage::timing, "timing"},
});

constexpr auto kRejectionCodeNames = enum_names<RejectionCode>({
    {RejectionCode::unreadable, "unreadable"},
    {RejectionCode::frozen_changed, "frozen_changed"},
    {RejectionCode::too_large, "too_large"},
    {RejectionCode::forbidden_construct, "forbidden_construct"},
    {RejectionCode::compile_failed, "compile_failed"},
    {RejectionCode::compile_limit, "compile_limit"},
    {RejectionCode::entry_missing, "entry_missing"},
    {RejectionCode::load_failed, "load_failed"},
    {RejectionCode::plan_failed, "plan_failed"},
    {RejectionCode::crashed, "crashed"},
    {RejectionCode::exited, "exited"},
    {RejectionCode::timed_out, "timed_out"},
    {RejectionCode::out_of_memory, "out_of_memory"},
    {RejectionCode::command_failed, "command_failed"},
    {RejectionCode::raised, "raised"},
    {RejectionCode::worker_lost, "worker_lost"},
    {RejectionCode::bad_metrics, "bad_metrics"},
    {RejectionCode::wrong_output, "wrong_output"},
    {RejectionCode::output_not_written, "output_not_written"},
    {RejectionCode::not_finite, "not_finite"},
    {RejectionCode::nondeterministic, "nondeterministic"},
    {RejectionCode::input_modified, "input_modified"},
    {RejectionCode::out_of_bounds, "out_of_bounds"},
    {RejectionCode::background_work, "background_work"},
    {RejectionCode::protocol_forged, "protocol_forged"},
    {RejectionCode::sandbox_violation, "sandbox_violation"},
    {RejectionCode::implausible_speed, "implausible_speed"},
    {RejectionCode::not_reproducible, "not_reproducible"},
    {RejectionCode::unsafe_memory, "unsafe_memory"},
    {RejectionCode::too_slow, "too_slow"},
});

constexpr auto kOperatorNames = enum_names<Operator>({
    {Operator::translate, "translate"},
    {Operator::edit, "edit"},
    {Operator::rewrite, "rewrite"},
    {Operator::crossover, "crossover"},
    {Operator::repair, "repair"},
    {Operator::tune, "tune"},
});

constexpr auto kRemeasurementNames = enum_names<Remeasurement>({
    {Remeasurement::duel, "duel"},
    {Remeasurement::confirm, "confirm"},
});

constexpr auto kRefusalCodeNames = enum_names<RefusalCode>({
    {RefusalCode::empty_reply, "empty_reply"},
    {RefusalCode::no_code, "no_code"},
    {RefusalCode::truncated, "truncated"},
    {RefusalCode::declined, "declined"},
    {RefusalCode::edit_unmatched, "edit_unmatched"},
    {RefusalCode::edit_ambiguous, "edit_ambiguous"},
    {RefusalCode::edit_conflict, "edit_conflict"},
    {RefusalCode::edit_frozen, "edit_frozen"},
    {RefusalCode::bad_path, "bad_path"},
    {RefusalCode::too_large, "too_large"},
    {RefusalCode::unchanged, "unchanged"},
    {RefusalCode::no_knobs, "no_knobs"},
    {RefusalCode::exhausted, "exhausted"},
    {RefusalCode::finished, "finished"},
});

constexpr auto kEvaluationSourceNames = enum_names<EvaluationSource>({
    {EvaluationSource::evaluated, "evaluated"},
    {EvaluationSource::cached, "cached"},
    {EvaluationSource::same_binary, "same_binary"},
});

constexpr auto kDtypeNames = enum_names<Dtype>({
    {Dtype::f64, "f64"},
    {Dtype::f32, "f32"},
    {Dtype::f16, "f16"},
    {Dtype::bf16, "bf16"},
    {Dtype::f8e4m3, "f8e4m3"},
    {Dtype::f8e5m2, "f8e5m2"},
    {Dtype::i64, "i64"},
    {Dtype::i32, "i32"},
    {Dtype::i8, "i8"},
    {Dtype::u8, "u8"},
    {Dtype::boolean, "bool"},
});

constexpr auto kTensorRoleNames = enum_names<TensorRole>({
    {TensorRole::in, "in"},
    {TensorRole::out, "out"},
    {TensorRole::inout, "inout"},
});

constexpr auto kTensorInitNames = enum_names<TensorInit>({
    {TensorInit::normal, "normal"},
    {TensorInit::uniform, "uniform"},
    {TensorInit::positive, "positive"},
    {TensorInit::ties, "ties"},
    {TensorInit::integer, "integer"},
    {TensorInit::zeros, "zeros"},
    {TensorInit::range, "range"},
    {TensorInit::offsets, "offsets"},
    {TensorInit::permutation, "permutation"},
    {TensorInit::one_hot, "one_hot"},
    {TensorInit::generated, "generated"},
});

}  // namespace

std::string_view name_of(ErrorCode code) { return name_in(kErrorCodeNames, code); }
std::optional<ErrorCode> error_code_from(std::string_view name) { return value_in(kErrorCodeNames, name); }

std::string_view name_of(Origin origin) { return name_in(kOriginNames, origin); }
std::optional<Origin> origin_from(std::string_view name) { return value_in(kOriginNames, name); }

std::string_view name_of(Stage stage) { return name_in(kStageNames, stage); }
std::optional<Stage> stage_from(std::string_view name) { return value_in(kStageNames, name); }

std::string_view name_of(RejectionCode code) { return name_in(kRejectionCodeNames, code); }
std::optional<RejectionCode> rejection_code_from(std::string_view name) {
  return value_in(kRejectionCodeNames, name);
}

std::string_view name_of(Operator op) { return name_in(kOperatorNames, op); }
std::optional<Operator> operator_from(std::string_view name) { return value_in(kOperatorNames, name); }

std::string_view name_of(Remeasurement why) { return name_in(kRemeasurementNames, why); }
std::optional<Remeasurement> remeasurement_from(std::string_view name) {
  return value_in(kRemeasurementNames, name);
}

std::string_view name_of(RefusalCode code) { return name_in(kRefusalCodeNames, code); }
std::optional<RefusalCode> refusal_code_from(std::string_view name) {
  return value_in(kRefusalCodeNames, name);
}

std::string_view name_of(EvaluationSource source) { return name_in(kEvaluationSourceNames, source); }
std::optional<EvaluationSource> evaluation_source_from(std::string_view name) {
  return value_in(kEvaluationSourceNames, name);
}

std::string_view name_of(Dtype dtype) { return name_in(kDtypeNames, dtype); }
std::optional<Dtype> dtype_from(std::string_view name) { return value_in(kDtypeNames, name); }

std::string_view name_of(TensorRole role) { return name_in(kTensorRoleNames, role); }
std::optional<TensorRole> tensor_role_from(std::string_view name) { return value_in(kTensorRoleNames, name); }

std::string_view name_of(TensorInit init) { return name_in(kTensorInitNames, init); }
std::optional<TensorInit> tensor_init_from(std::string_view name) { return value_in(kTensorInitNames, name); }

}  // namespace kernelsmith
