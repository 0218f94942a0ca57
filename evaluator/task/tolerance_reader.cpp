#include <algorithm>
#include <array>
#include <string>

#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/evaluator/tolerance_reader.hpp>

#include "foreign_names.hpp"
#include "reader_support.hpp"

namespace kernelsmith {
namespace task {
namespace {

const Choices<std::string> kPolicyNames = {
    {"auto", "auto"}, {"exact", "exact"}, {"normwise", "normwise"}, {"allclose", "allclose"}};

constexpr const char* kAllclose = "allclose";
constexpr Range<double> kRtol = {0, 1};  // if it were 1 or more, zeros would pass
constexpr Range<double> kAtol = {0, std::numeric_limits<double>::max()};
constexpr Range<double> kMatched = {0.5, 1};  // a candidate that leaves half of its work out is not right

/// Numbers without a policy mean `allclose`.
void read_figures(YamlMap& in, Tolerance& tolerance) {
  const char* given = in.kind("rtol") != YamlKind::absent   ? "rtol"
                      : in.kind("atol") != YamlKind::absent ? "atol"
                                                            : nullptr;
  in.optional("rtol", tolerance.rtol, kRtol);
  in.optional("atol", tolerance.atol, kAtol);
  if (given && in.kind("policy") == YamlKind::absent) tolerance.policy = kAllclose;
  if (given && in.ok() && tolerance.policy != kAllclose)
    return in.refuse(given, "the policy '" + tolerance.policy + "' takes no figures",
                     "leave out rtol and atol, or write policy: allclose");
  if (in.ok() && tolerance.policy == kAllclose && tolerance.rtol == 0 && tolerance.atol == 0)
    in.refuse(given ? given : "policy", "the policy 'allclose' needs an rtol or an atol above 0",
              "tolerance: {rtol: 1e-5, atol: 1e-8}; bit for bit is policy: exact");
}

void read_allow(YamlMap& in, Tolerance& tolerance) {
  constexpr std::array<std::string_view, 4> kKnown = {"tf32", "bf16_accumulate", "f16_accumulate",
                                                      "reassociate"};
  in.optional("allow", tolerance.allow);
  for (const std::string& name : tolerance.allow)
    if (std::ranges::find(kKnown, name) == kKnown.end())
      in.refuse("allow", "unknown allowance '" + name + "'", name_hint(name, kKnown));
  if (in.ok() && tolerance.policy == "exact" && !tolerance.allow.empty())
    in.refuse("allow", "the policy 'exact' compares bit for bit and allows nothing", "leave out 'allow'");
}

/// The keys of tasks of modules.
void read_for_modules(YamlMap& in, Tolerance& tolerance) {
  if (in.kind("matched") != YamlKind::absent) in.optional("matched", tolerance.matched.emplace(1), kMatched);
  if (in.kind("cap") != YamlKind::absent) in.optional("cap", tolerance.cap.emplace(0), kAtol);
  bool either = false;
  in.optional("either", either);
  if (either) tolerance.either = true;
  for (const char* key : {"matched", "cap", "either"})
    if (in.ok() && in.kind(key) != YamlKind::absent && tolerance.policy != kAllclose)
      in.refuse(key, "only the policy 'allclose' takes this key",
                "tolerance: {rtol: 1e-2, atol: 1e-2, matched: 0.99, cap: 1}");
  if (in.ok() && either && (tolerance.rtol == 0 || tolerance.atol == 0))
    in.refuse("either", "with one figure there is no other one", "give rtol and atol, or leave out `either`");
  std::string truth = "fp64";
  in.optional("truth", truth, {{"fp64", "fp64"}, {"reference", "reference"}});
  if (truth == "reference") tolerance.truth = truth;
}

/// What tasks of modules lack.
void refuse_for_modules(YamlMap& in, const Tolerance& tolerance) {
  if (in.ok() && tolerance.policy == "exact")
    in.refuse("policy", "outputs of modules are not compared bit for bit",
              "leave it out, or write tolerance: {rtol: ..., atol: ...}");
  if (in.ok() && !tolerance.allow.empty())
    in.refuse("allow", "a task of modules allows a precision by name: torch: {precision: ...}",
              "torch: {precision: tf32}");
}

void read_mapping(YamlMap& in, Tolerance& tolerance, TaskForm form) {
  refuse_foreign_keys(in, tolerance_key_meant_by);
  in.only({"policy", "allow", "rtol", "atol", "matched", "cap", "either", "truth"});
  for (const char* key : {"matched", "cap", "either", "truth"})
    if (form != TaskForm::module && in.kind(key) != YamlKind::absent)
      in.refuse(key, "only tasks of PyTorch modules take this key", "leave it out");
  in.optional("policy", tolerance.policy, kPolicyNames, policy_meant_by);
  read_figures(in, tolerance);
  read_allow(in, tolerance);
  if (form != TaskForm::module) return;
  refuse_for_modules(in, tolerance);
  read_for_modules(in, tolerance);
}

/// A single number sets both atol and rtol; a word is a misplaced policy.
void read_scalar(YamlMap& root, Tolerance& tolerance) {
  std::string word;
  root.required("tolerance", word);
  const std::string_view meant = policy_meant_by(word).value_or(word);
  for (const auto& policy : kPolicyNames)
    if (policy.first == meant)
      return root.refuse("tolerance", "'tolerance' is a mapping or a number",
                         "tolerance: {policy: " + policy.second +
                             (policy.second == kAllclose ? ", rtol: 1e-5, atol: 1e-8}" : "}"));
  root.required("tolerance", tolerance.rtol, kRtol);
  if (root.ok() && tolerance.rtol == 0)
    root.refuse("tolerance", "a tolerance of 0 allows no difference",
                "bit for bit is tolerance: {policy: exact}; a task of modules needs a number above 0");
  tolerance.atol = tolerance.rtol;
  tolerance.policy = kAllclose;
}

/// False for NaN.
bool within(double value, Range<double> range) { return value >= range.low && value <= range.high; }

}  // namespace
}  // namespace task

void read_tolerance(YamlMap& in, Tolerance& tolerance, TaskForm form) {
  if (in.kind("tolerance") == YamlKind::scalar) return task::read_scalar(in, tolerance);
  in.optional_map("tolerance", [&](YamlMap& inner) { task::read_mapping(inner, tolerance, form); });
}

bool is_valid(const Tolerance& tolerance) {
  return task::within(tolerance.rtol, task::kRtol) && task::within(tolerance.atol, task::kAtol) &&
         task::within(tolerance.matched.value_or(1), task::kMatched) &&
         task::within(tolerance.cap.value_or(0), task::kAtol) &&
         tolerance.truth.value_or("reference") == "reference" &&
         std::ranges::find(task::kPolicyNames, tolerance.policy, &Choices<std::string>::value_type::second) !=
             task::kPolicyNames.end();
}

}  // namespace kernelsmith
