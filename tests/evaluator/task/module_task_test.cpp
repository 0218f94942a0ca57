// Tasks of modules: a reference that describes the whole task.
#include <kernelsmith/config/yaml.hpp>

#include "task_yaml.hpp"

namespace kernelsmith {
namespace {

const std::string kModule = R"(version: 1
name: gelu
backend: torch
files: {reference: reference.cpp}
)";

/// One setting of a backend's own: its text.
std::string read_settings(YamlMap& in, const Task& task) {
  EXPECT_EQ(task.name, "gelu") << "what all tasks have was read before";
  std::string text;
  in.optional("torch", text);
  if (text == "wrong") in.refuse("torch", "no such setting");
  return text;
}

/// The backends of the other tests, and one that takes modules.
Result<Task> parse_module(const std::string& yaml) {
  Backends known = backends();
  known["torch"].name = "torch";
  known["torch"].form = TaskForm::module;
  known["torch"].timeout_s = 2;
  known["torch"].settings = {.keys = {"torch"}, .read = read_settings, .check = {}};
  return parse_task(yaml, "task.yaml", serve, known);
}

Task module(const std::string& yaml) { return parse_module(yaml).value(); }

std::string refusal_of(const std::string& yaml) {
  const auto task = parse_module(yaml);
  EXPECT_FALSE(task) << yaml;
  return task ? "" : describe(task.error());
}

TEST(ModuleTask, NeedsAReferenceAndNothingElse) {
  const Task task = module(kModule);
  EXPECT_EQ(task.settings, "");
  EXPECT_EQ(task.timeout_s, 2) << "the backend's";
  EXPECT_EQ(task.reference.main_text(), "reference text");
  EXPECT_EQ(task.baseline, task.reference);
  EXPECT_TRUE(task.seed.empty());
  EXPECT_TRUE(task.tensors.empty());
}

TEST(ModuleTask, ReadsItsSettings) {
  const Task task = module(
      "version: 1\nname: gelu\nbackend: torch\nfiles: {reference: reference.cpp, seed: seed.cpp}\n"
      "torch: fast\ntolerance: {rtol: 1e-3, atol: 1e-4}\n"
      "timeout_s: 3\nnondeterministic: true\n");
  EXPECT_EQ(task.settings, "fast");
  EXPECT_EQ(task.tolerance.policy, "allclose");
  EXPECT_EQ(task.seed.main_text(), "seed text");
  EXPECT_TRUE(task.nondeterministic);
  EXPECT_EQ(task.timeout_s, 3);
}

TEST(ModuleTask, TheDigestCoversItsSettings) {
  EXPECT_NE(module(kModule + "torch: fast\n").digest, module(kModule).digest);
}

TEST(ModuleTask, AShareOfElementsMayDifferFromTheReferencesOwnOutput) {
  const std::string figures = "tolerance: {rtol: 1e-2, atol: 1e-2";
  const Task plain = module(kModule + figures + ", truth: fp64}\n");
  EXPECT_FALSE(plain.tolerance.matched);
  EXPECT_FALSE(plain.tolerance.truth);
  const Task task = module(kModule + figures + ", matched: 0.99, truth: reference}\n");
  EXPECT_EQ(task.tolerance.matched, 0.99);
  EXPECT_EQ(task.tolerance.truth, "reference");
  for (const char* key : {"matched: 0.99", "truth: reference", "cap: 2", "either: true"})
    EXPECT_NE(module(kModule + figures + ", " + key + "}\n").digest, plain.digest) << key;
  EXPECT_THAT(refusal_of(kModule + figures + ", matched: 0.4}\n"), HasSubstr("from 0.5 to 1"));
  EXPECT_THAT(refusal_of(kModule + figures + ", truth: theirs}\n"), HasSubstr("fp64"));
  EXPECT_THAT(refusal_of(kModule + figures + ", cap: -1}\n"), HasSubstr("at least 0"));
  for (const char* key : {"matched: 0.99", "cap: 2", "either: true"})
    EXPECT_THAT(refusal_of(kModule + "tolerance: {" + key + "}\n"), HasSubstr("rtol: 1e-2")) << key;
  EXPECT_THAT(refusal_of(kModule + "tolerance: {rtol: 1e-2, either: true}\n"), HasSubstr("no other one"));
  EXPECT_EQ(module(kModule + figures + ", either: false, cap: 2}\n").tolerance,
            (Tolerance{.policy = "allclose", .allow = {}, .rtol = 1e-2, .atol = 1e-2, .cap = 2.0}));
}

TEST(ModuleTask, RefusesWhatTheReferenceTells) {
  const auto refused = [](const std::string& more) { return refusal_of(kModule + more); };
  EXPECT_THAT(refused("entry: gelu\n"), AllOf(HasSubstr("task.yaml:5"), HasSubstr("entry")));
  EXPECT_THAT(refused("sizes: {n: 5}\n"), HasSubstr("sizes"));
  EXPECT_THAT(refused("threads: 2\n"), HasSubstr("threads"));
  EXPECT_THAT(refused("command: [sh]\n"), HasSubstr("command"));
  EXPECT_THAT(refusal_of("version: 1\nname: g\nbackend: torch\nfiles: {seed: seed.cpp}\n"),
              HasSubstr("files: {reference: reference.py}"));
  EXPECT_THAT(
      refusal_of(
          "version: 1\nname: g\nbackend: torch\nfiles: {reference: reference.cpp, oracle: seed.cpp}\n"),
      HasSubstr("the reference is baseline, yardstick and oracle"));
}

TEST(ModuleTask, RefusesWhatItsBackendRefuses) {
  EXPECT_THAT(refusal_of(kModule + "torch: wrong\n"), AllOf(HasSubstr("task.yaml:5"), HasSubstr("no such")));
  EXPECT_THAT(refusal_of(kModule + "tolerance: {policy: exact}\n"), HasSubstr("bit for bit"));
}

TEST(ModuleTask, OtherTasksHaveNoneOfItsSettings) {
  EXPECT_THAT(refusal_of(kSoftmax + "torch: fast\n"), HasSubstr("torch"));
}

}  // namespace
}  // namespace kernelsmith
