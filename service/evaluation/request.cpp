#include "request.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <kernelsmith/core/nearest_name.hpp>

namespace kernelsmith::service {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kMostRequests = 100;
constexpr std::size_t kLongestId = 100;
constexpr std::size_t kShortestCode = 10, kLongestCode = 100'000;  // characters
constexpr std::string_view kTaskPrefix = "task:";
/// Limits of unknown fields: their number, those compared with known names, and those reported.
constexpr std::size_t kMostUnknown = 64, kLongestCompared = 40, kMostTold = 16, kLongestTold = 100;

enum class Kind { text, whole, flag, any };

struct Field {
  std::string_view name;
  Kind kind = Kind::text;
  bool ignored = false;  ///< our judge decides it by itself
  std::int64_t least = 0, most = 0;
};

constexpr std::array kFields = {
    Field{"task_id"},
    Field{"kernel_code"},
    Field{"reference_code"},
    Field{"toolkit"},
    Field{"backend_adapter"},
    Field{"backend", Kind::text, true},
    Field{"workflow"},
    Field{"entry_point"},
    Field{"num_correct_trials", Kind::whole, true, 1, 20},
    Field{"num_perf_trials", Kind::whole, true, 1, 1000},
    Field{"num_warmup", Kind::whole, true, 0, 100},
    Field{"timeout", Kind::whole, false, 10, 3600},
    Field{"priority"},
    Field{"device_preference", Kind::text, true},
    Field{"force_refresh", Kind::flag, true},
    Field{"reference_backend"},
    Field{"uuid", Kind::text, true},
    Field{"use_reference_cache", Kind::flag, true},
    Field{"is_valid", Kind::flag, true},
    Field{"verbose_errors", Kind::flag},
    Field{"enable_profiling", Kind::flag, true},
    Field{"enable_triton_detection", Kind::flag},
    Field{"run_triton_detection", Kind::flag},
    Field{"detect_decoy_kernel", Kind::flag},
    Field{"measure_performance", Kind::flag, true},
    Field{"run_correctness", Kind::flag, true},
    Field{"run_performance", Kind::flag, true},
    Field{"cases_code"},
    Field{"cases", Kind::any},
    Field{"resources", Kind::any, true},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kFields.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kFields[i].name;
  return names;
}();

/// Thrown inside this file only.
struct Refused {
  Error error;
};

[[noreturn]] void refuse(std::string message, std::string_view where, std::string hint = {}) {
  throw Refused{fail(ErrorCode::bad_input, std::move(message), std::string(where), std::move(hint))};
}

const Field* field_named(std::string_view name) {
  const auto found = std::ranges::find(kFields, name, &Field::name);
  return found == kFields.end() ? nullptr : &*found;
}

/// A whole number, also in the form 300.0.
std::optional<std::int64_t> whole_number(const Json& value) {
  constexpr double kLargest = 1e15;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(kLargest))
    return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (!(std::abs(number) <= kLargest) || std::trunc(number) != number) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

/// At most kLongestTold bytes of a name, cut between characters.
std::string told_name(const std::string& name) {
  if (name.size() <= kLongestTold) return name;
  std::size_t end = kLongestTold;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end);
}

/// Whether to report an unknown field, the `count`th one of its request. Refuses a name that is nearly a
/// known one.
bool check_unknown(const std::string& name, std::size_t count) {
  if (count > kMostUnknown) refuse("more than " + std::to_string(kMostUnknown) + " unknown fields", "");
  if (name.size() <= kLongestCompared)
    if (const auto near = nearest_name(name, kNames))
      refuse("unknown field", name, "did you mean " + std::string(*near) + "?");
  return count <= kMostTold;
}

void check(const Field& field, const Json& value) {
  switch (field.kind) {
    case Kind::text:
      if (!value.is_string()) refuse("a text is expected", field.name);
      return;
    case Kind::flag:
      if (!value.is_boolean()) refuse("true or false is expected", field.name);
      return;
    case Kind::whole: {
      const auto number = whole_number(value);
      if (!number || *number < field.least || *number > field.most)
        refuse("a whole number from " + std::to_string(field.least) + " to " + std::to_string(field.most) +
                   " is expected",
               field.name);
      return;
    }
    case Kind::any:
      return;
  }
}

/// Checks types, ranges and names of all fields, and collects ignored ones.
std::vector<std::string> check_fields(const Json& body) {
  std::vector<std::string> ignored;
  std::size_t unknown = 0;
  for (const auto& [name, value] : body.items()) {
    const Field* const field = field_named(name);
    if (!field) {
      if (check_unknown(name, ++unknown)) ignored.push_back(told_name(name));
    } else if (!value.is_null()) {  // null means that the field is absent
      check(*field, value);
      if (field->ignored) ignored.push_back(name);
    }
  }
  return ignored;
}

std::string text_at(const Json& body, const char* name, std::string otherwise = {}) {
  const auto found = body.find(name);
  return found == body.end() || found->is_null() ? std::move(otherwise) : found->get<std::string>();
}

std::optional<bool> flag_at(const Json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) return std::nullopt;
  return found->get<bool>();
}

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void check_code(const std::string& code, std::size_t shortest, std::string_view field) {
  const std::size_t length = characters_of(code);
  if (length < shortest || length > kLongestCode)
    refuse(std::to_string(shortest) + " to " + std::to_string(kLongestCode) +
               " characters are expected, not " + std::to_string(length),
           field);
}

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto is_part = [&](char c) {
    return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  };
  return !text.empty() && text.size() <= kLongestId && is_letter(text.front()) &&
         std::ranges::all_of(text, is_part);
}

void refuse_kernel_simple(std::string_view field) {
  refuse("kernel_simple is not served: cases of a client say nothing about other inputs", field,
         "send reference_code with workflow kernelbench, or start the service with --task FOLDER and send "
         "\"workflow\": \"task:NAME\"");
}

void read_workflow(const Json& body, EvaluationRequest& request) {
  for (const char* field : {"toolkit", "backend_adapter"}) {
    const std::string name = text_at(body, field, "kernelbench");
    if (name == "kernel_simple") refuse_kernel_simple(field);
    if (name != "kernelbench") refuse("unknown name '" + name + "'", field, "kernelbench is served");
  }
  const std::string workflow = text_at(body, "workflow", "kernelbench");
  if (workflow == "kernel_simple") refuse_kernel_simple("workflow");
  for (const char* field : {"cases", "cases_code"})
    if (body.contains(field) && !body.at(field).is_null()) refuse_kernel_simple(field);
  if (workflow.starts_with(kTaskPrefix)) {
    request.task = workflow.substr(kTaskPrefix.size());
    if (request.task.empty()) refuse("the task's name is missing", "workflow");
  } else if (workflow != "kernelbench") {
    refuse("unknown workflow '" + workflow + "'", "workflow", "kernelbench and task:NAME are served");
  }
}

Priority read_priority(const Json& body) {
  const std::string name = text_at(body, "priority", "normal");
  if (name == "high") return Priority::high;
  if (name == "low") return Priority::low;
  if (name != "normal") refuse("unknown priority '" + name + "'", "priority", "high, normal or low");
  return Priority::normal;
}

bool read_compiled_baseline(const Json& body) {
  const std::string name = text_at(body, "reference_backend", "pytorch");
  if (name == "torch_compile" || name == "compile") return true;
  if (name != "pytorch" && name != "eager" && !name.empty())
    refuse("unknown backend '" + name + "'", "reference_backend", "pytorch or torch_compile");
  return false;
}

EvaluationRequest read(const Json& body) {
  if (!body.is_object()) refuse("a request is a JSON object", "");
  EvaluationRequest request;
  request.ignored = check_fields(body);
  request.task_id = text_at(body, "task_id");
  if (const std::size_t length = characters_of(request.task_id); length < 1 || length > kLongestId)
    refuse("1 to 100 characters are expected", "task_id");
  read_workflow(body, request);
  request.kernel_code = text_at(body, "kernel_code");
  request.reference_code = text_at(body, "reference_code");
  if (!request.task.empty() && !request.reference_code.empty()) {
    request.reference_code.clear();
    request.ignored.emplace_back("reference_code");
  }
  const bool kernelbench = !request.reference_code.empty();
  check_code(request.kernel_code, kernelbench ? kShortestCode : 1, "kernel_code");
  if (kernelbench) check_code(request.reference_code, kShortestCode, "reference_code");
  request.entry_point = text_at(body, "entry_point", "Model");
  if (!is_identifier(request.entry_point)) refuse("the name of a class is expected", "entry_point");
  request.compiled_baseline = read_compiled_baseline(body);
  request.priority = read_priority(body);
  if (body.contains("timeout") && !body.at("timeout").is_null())
    request.timeout_s = static_cast<double>(*whole_number(body.at("timeout")));
  request.verbose_errors = flag_at(body, "verbose_errors").value_or(true);
  for (const char* field : {"run_triton_detection", "enable_triton_detection", "detect_decoy_kernel"})
    request.detect_decoys = request.detect_decoys && flag_at(body, field).value_or(true);
  request.digest = digest_of(body.dump());
  return request;
}

BatchRequest read_all(const Json& body) {
  if (!body.is_object()) refuse("a batch is a JSON object", "", R"({"batch_id": ..., "tasks": [...]})");
  BatchRequest batch;
  for (const auto& [name, value] : body.items())
    if (name != "batch_id" && name != "tasks")
      refuse("unknown field", told_name(name), "batch_id and tasks are known");
  if (body.contains("batch_id") && !body.at("batch_id").is_string()) refuse("a text is expected", "batch_id");
  batch.batch_id = text_at(body, "batch_id");
  const auto tasks = body.find("tasks");
  if (tasks == body.end() || !tasks->is_array() || tasks->empty() || tasks->size() > kMostRequests)
    refuse("a list of 1 to 100 requests is expected", "tasks");
  std::set<std::string> ids;
  for (std::size_t i = 0; i < tasks->size(); ++i) {
    const std::string place = "tasks[" + std::to_string(i) + "]";
    try {
      batch.requests.push_back(read(tasks->at(i)));
    } catch (Refused& refused) {
      refused.error.where = refused.error.where.empty() ? place : place + "." + refused.error.where;
      throw;
    }
    if (!ids.insert(batch.requests.back().task_id).second) refuse("the same id twice", place + ".task_id");
  }
  return batch;
}

}  // namespace

Result<Json> parse_body(std::string_view body) {
  try {
    const auto check_depth = [](int depth, Json::parse_event_t, const Json&) {
      if (depth > kDeepest) refuse("nested deeper than 64 levels", "");
      return true;
    };
    return Result<Json>(boost::system::in_place_value, Json::parse(body, check_depth));
  } catch (const Refused& refused) {
    return refused.error;
  } catch (const Json::exception& broken) {
    const std::string_view text = broken.what();  // "[json.exception.parse_error.101] parse error at ..."
    const std::size_t end = text.find("] ");
    return fail(ErrorCode::bad_input,
                "the body is not JSON: " + std::string(text.substr(end == text.npos ? 0 : end + 2)));
  }
}

Result<EvaluationRequest> read_request(const Json& body) {
  try {
    return read(body);
  } catch (const Refused& refused) {
    return refused.error;
  }
}

Result<BatchRequest> read_batch(const Json& body) {
  try {
    return read_all(body);
  } catch (const Refused& refused) {
    return refused.error;
  }
}

}  // namespace kernelsmith::service
