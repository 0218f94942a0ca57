#include <tuple>

#include <kernelsmith/evaluator/task_file.hpp>

#include "task_yaml.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

TEST(TaskFile, HoldsTextsAndFilledInSizes) {
  const auto task = parse(kSoftmax).value();
  EXPECT_EQ(task.name, "softmax_cpu");
  EXPECT_EQ(task.reference.main_text(), "reference text");
  EXPECT_EQ(task.baseline, task.reference) << "the default";
  EXPECT_EQ(task.seed.files().front().path, "seed.cpp");
  EXPECT_EQ(task.timed, (std::vector<Sizes>{{{"cols", 32}, {"rows", 64}}, {{"cols", 32}, {"rows", 10}}}));
  EXPECT_EQ(task.check, (std::vector<Sizes>{{{"cols", 1}, {"rows", 3}}}));
  EXPECT_EQ(task.tensors.at(1).role, TensorRole::out);
  EXPECT_EQ(task.flags, std::vector<std::string>{"-ffast-math"});
  EXPECT_DOUBLE_EQ(task.timeout_s, 2.5);
  EXPECT_EQ(task.digest, task_digest(task));
}

TEST(TaskFile, ReadsTheSpecialsOfAnInput) {
  const auto task = parse(with("init: normal", "specials: [nan, inf]")).value();
  EXPECT_TRUE(task.tensors.front().specials.nan);
  EXPECT_TRUE(task.tensors.front().specials.infinities);
  EXPECT_FALSE(task.tensors.front().specials.denormals);
  EXPECT_FALSE(task.tensors.front().specials.large);
  EXPECT_FALSE(task.tensors.back().specials.any());
  const auto large = parse(with("init: normal", "specials: [large]")).value();
  EXPECT_TRUE(large.tensors.front().specials.large);
  EXPECT_NE(large.digest, task.digest);
  EXPECT_NE(task.digest, parse(kSoftmax)->digest);
}

TEST(TaskFile, RefusesSpecialsWhereThereAreNone) {
  EXPECT_THAT(error_of(with("init: normal", "specials: [nann]")),
              AllOf(HasSubstr("task.yaml:8"), HasSubstr("nann"), HasSubstr("did you mean nan")));
  EXPECT_THAT(error_of(with("role: out, dtype: f32", "role: out, specials: [nan], dtype: f32")),
              HasSubstr("role 'out'"));
  EXPECT_THAT(error_of(with("dtype: f32, shape: [rows, cols], init: normal",
                            "dtype: i32, shape: [rows, cols], specials: [inf]")),
              HasSubstr("integers"));
  EXPECT_THAT(error_of(with("init: normal", "constant: true, specials: [inf]")), HasSubstr("constant"));
}

TEST(TaskFile, ExactAllowsNothing) {
  EXPECT_THAT(error_of(with("policy: auto", "policy: exact")), HasSubstr("bit for bit"));
}

TEST(TaskFile, DigestFollowsEverythingThatChangesAVerdict) {
  const Digest digest = parse(kSoftmax)->digest;
  const auto timed_otherwise = parse(with("seed: seed.cpp", "seed: seed.cpp, yardstick: seed.cpp")).value();
  EXPECT_EQ(timed_otherwise.yardstick.main_text(), "seed text");
  EXPECT_NE(timed_otherwise.digest, digest);
  EXPECT_EQ(parse(kSoftmax + "description: nothing but words\n")->digest, digest);
  for (const auto& [from, to] :
       std::multimap<std::string, std::string>{{"rows: 64", "rows: 65"},
                                               {"2.5", "3"},
                                               {"-ffast-math", "-O2"},
                                               {"init: normal", "init: positive"},
                                               {"init: normal", "init: {low: 0, high: cols}"},
                                               {"init: normal", "init: permutation"},
                                               {"declared: {", "declared: {accumulate: cols, "},
                                               {"{policy: auto, allow: [reassociate]}", "{rtol: 1e-5}"},
                                               {"{policy: auto, allow: [reassociate]}", "{rtol: 1e-4}"},
                                               {"{policy: auto, allow: [reassociate]}", "{atol: 1e-5}"},
                                               {"policy: auto, allow: [reassociate]", "policy: exact"}})
    EXPECT_NE(parse(with(from, to))->digest, digest) << to;
}

TEST(TaskFile, ATaskWithoutLaterKeysKeepsTheDigestOfStoredRuns) {
  // The digest of the build before `init: {low, high}`, `rtol`, `accumulate` and files.inputs.
  EXPECT_EQ(good(with("{rows: 64, cols: 32}", "{cols: 32, rows: 64}")).digest.hex(),
            "97f1201ab5c2be84af1cda00cc66c4d236b6acfd72f75c1b2e7c4a9d1588d77e");
}

TEST(TaskFile, WeightsOfTimedShapesAreNormalised) {
  const Task task = good(with("[{}, {rows: 10}]", "[{weight: 3}, {rows: 10, weight: 1}]"));
  EXPECT_EQ(task.timed_weights, (std::vector{0.75, 0.25}));
  EXPECT_EQ(task.timed, good(kSoftmax).timed);
  EXPECT_NE(task.digest, good(kSoftmax).digest);
  EXPECT_NE(task.digest, good(with("[{}, {rows: 10}]", "[{weight: 1}, {rows: 10, weight: 3}]")).digest);
}

TEST(TaskFile, EqualWeightsAreAsGoodAsNone) {
  const Task task = good(with("[{}, {rows: 10}]", "[{weight: 0.3}, {rows: 10, weight: 0.3}]"));
  EXPECT_TRUE(task.timed_weights.empty());
  EXPECT_EQ(task.digest, good(kSoftmax).digest);
}

TEST(TaskFile, SaysWhatIsWrongWithAWeight) {
  const auto error_of_timed = [](const std::string& timed) {
    return error_of(with("[{}, {rows: 10}]", timed));
  };
  for (const char* const weight : {"-1", "0", ".nan", ".inf", "heavy", "\"1\"", "[1]"})
    EXPECT_THAT(error_of_timed("[{rows: 3, weight: " + std::string(weight) + "}]"),
                AllOf(HasSubstr("task.yaml:10"), HasSubstr("weight' must be a number")))
        << weight;
  for (const char* const some : {"[{weight: 2}, {rows: 10}]", "[{}, {rows: 10, weight: 2}]"})
    EXPECT_THAT(error_of_timed(some),
                AllOf(HasSubstr("task.yaml:10"), HasSubstr("only some of the timed shapes have a weight"),
                      HasSubstr("give each timed shape a weight")));
  EXPECT_THAT(error_of(with("[{rows: 3, cols: 1}]", "[{rows: 3, weight: 1}]")),
              AllOf(HasSubstr("task.yaml:11"), HasSubstr("only checked has no weight")));
  EXPECT_THAT(error_of(with("{rows: 64, cols: 32}", "{rows: 64, cols: 32, weight: 1}")),
              AllOf(HasSubstr("task.yaml:6"), HasSubstr("cannot be a size"), HasSubstr("another name")));
}

TEST(TaskFile, ItsNameIsThatOfAFolder) {
  const auto named = [](const std::string& name) {
    return parse(with("name: softmax_cpu", "name: " + name));
  };
  EXPECT_TRUE(named("soft max-2.0 ä"));
  for (const char* name : {"../../climbs", "/absolute", "a/b", "-option", ".hidden", "\"\"", "\"a\\e[2Jb\"",
                           "\"a\\nb\"", "a\\b"}) {
    const auto task = named(name);
    EXPECT_EQ(task.error().where, "task.yaml:2") << name;
  }
  EXPECT_FALSE(named(std::string(101, 'x')));
}

TEST(TaskFile, NamesFileLineAndTheNearestKey) {
  EXPECT_THAT(error_of(with("entry:", "entri:")),
              AllOf(HasSubstr("task.yaml:4: unknown key 'entri'"), HasSubstr("did you mean entry?")));
  EXPECT_THAT(error_of(kSoftmax + "chek: []\n"),
              AllOf(HasSubstr("task.yaml:16"), HasSubstr("chek"), HasSubstr("check")));
  EXPECT_THAT(error_of(with("{rows: 10}", "{row: 10}")),
              AllOf(HasSubstr("task.yaml:10"), HasSubstr("did you mean rows?")));
  EXPECT_THAT(error_of(with("backend: cpu", "backend: cpuu")), HasSubstr("task.yaml:3"));
  EXPECT_THAT(error_of("version: 1\nname: later\nbackend: cuda\n"),
              AllOf(HasSubstr("task.yaml:3"), HasSubstr("must be one of command, cpu, found 'cuda'")));
  EXPECT_THAT(error_of(with("[reassociate]", "[reasociate]")), HasSubstr("did you mean reassociate?"));
  EXPECT_THAT(error_of(with("role: out", "role: output")), HasSubstr("task.yaml:9"));
}

// Each would make something else wrong: a missing key, an unknown size, no result.
TEST(TaskFile, AMisspeltKeyIsBlamedOnItsOwnLine) {
  for (const auto& [from, to, line] : {std::tuple{"version:", "versoin:", 1},
                                       {"name: softmax_cpu", "nmae: softmax_cpu", 2},
                                       {"backend:", "bakend:", 3},
                                       {"entry:", "entri:", 4},
                                       {"files:", "file:", 5},
                                       {"sizes:", "sizs:", 6},
                                       {"tensors:", "tensor:", 7},
                                       {"name: x", "nam: x", 8},
                                       {"role: out", "roel: out", 9},
                                       {"timed:", "timmed:", 10},
                                       {"check:", "chek:", 11},
                                       {"tolerance:", "tolerence:", 12}})
    EXPECT_THAT(error_of(with(from, to)),
                AllOf(HasSubstr("task.yaml:" + std::to_string(line) + ": "), HasSubstr("did you mean ")))
        << to;
}

TEST(TaskFile, KnowsWhatOthersCallADtype) {
  const auto hint = [](const std::string& word) {
    const auto task = parse(with("dtype: f32", "dtype: \"" + word + "\""));
    EXPECT_FALSE(task) << word;
    if (task) return std::string();
    EXPECT_THAT(task.error().where, "task.yaml:8") << word;
    EXPECT_THAT(task.error().message, HasSubstr("must be one of f64, f32, i64, i32, i8, u8")) << word;
    return task.error().hint;
  };
  const std::map<std::string, std::vector<std::string>> words = {
      {"f64", {"double", "float64", "torch.double", "np.float64", "fp64"}},
      {"f32", {"float", "float32", "torch.float32", "Float32", "std::float32_t", "single", "fp32", "f23"}},
      {"i64", {"int64", "long", "long long", "std::int64_t", "np.int64"}},
      {"i32", {"int", "int32", "int32_t", "torch.int", "integer"}},
      {"i8", {"int8", "char", "int8_t", "signed char"}},
      {"u8", {"uint8", "uint8_t", "byte", "unsigned char"}}};
  for (const auto& [ours, theirs] : words)
    for (const std::string& word : theirs) EXPECT_EQ(hint(word), "did you mean " + ours + "?") << word;
  // A type that does not exist has no near one.
  for (const char* word : {"int16", "i16", "u32", "uint64_t", "fp8", "complex64"})
    EXPECT_EQ(hint(word), "") << word;
}

TEST(TaskFile, SaysOnceThatTheBackendDoesNotTakeADtype) {
  for (const auto& [word, ours] : std::map<std::string, std::string>{{"f16", "f16"},
                                                                     {"half", "f16"},
                                                                     {"torch.bfloat16", "bf16"},
                                                                     {"float8_e4m3fn", "f8e4m3"},
                                                                     {"torch.float8_e5m2", "f8e5m2"},
                                                                     {"np.bool_", "bool"}})
    EXPECT_THAT(error_of(with("dtype: f32", "dtype: " + word)),
                AllOf(HasSubstr("task.yaml:8: the backend 'cpu' does not take " + ours),
                      HasSubstr("it takes f64, f32, i64, i32, i8, u8")));
}

TEST(TaskFile, LeavesDtypesAndNamesToTheBackendWhereNoneIsDescribed) {
  for (const char* dtype : {"f16", "bf16", "f8e4m3", "f8e5m2", "bool"}) {
    const auto task =
        parse_task(with("dtype: f32", std::string("dtype: ") + dtype), "task.yaml", serve).value();
    EXPECT_EQ(name_of(task.tensors.front().dtype), dtype);
  }
  const auto elsewhere = parse_task(with("backend: cpu", "backend: cuda"), "task.yaml", serve).value();
  EXPECT_EQ(elsewhere.backend, "cuda");
  const auto command = parse_task("version: 1\nname: a\nbackend: mine\ncommand: [sh]\n", "task.yaml", serve);
  ASSERT_TRUE(command) << describe(command.error());
  EXPECT_EQ(command->command, std::vector<std::string>{"sh"});
}

TEST(TaskFile, KeepsTheSizesInTheirOrder) {
  const Task task = good(kSoftmax);
  EXPECT_EQ(task.size_order, (std::vector<std::string>{"rows", "cols"}));
  const Task turned = good(with("{rows: 64, cols: 32}", "{cols: 32, rows: 64}"));
  EXPECT_EQ(turned.size_order, (std::vector<std::string>{"cols", "rows"}));
  EXPECT_EQ(turned.sizes, task.sizes);
  EXPECT_NE(turned.digest, task.digest) << "the entry's arguments stand in another order";
}

TEST(TaskFile, ReadsHowManyTermsAreAdded) {
  EXPECT_EQ(good(with("declared: {", "declared: {accumulate: \"cols - 0\", ")).declared.accumulate,
            "cols - 0");
  EXPECT_EQ(good(with("declared: {", "declared: {accumulate: cols, ")).declared.accumulate, "cols");
  EXPECT_THAT(error_of(with("declared: {", "declared: {accumulate: colls, ")),
              AllOf(HasSubstr("task.yaml:13"), HasSubstr("did you mean cols?")));
  EXPECT_THAT(error_of(with("declared: {", "declared: {accumulate: cols - 1, ")),
              HasSubstr("is 0 at cols=1 rows=3, and must be at least 1"))
      << "check shapes count too";
}

TEST(TaskFile, KnowsWhatOthersCallARoleAndADistribution) {
  const std::map<std::string, std::string> roles = {
      {"input", "in"}, {"output", "out"}, {"result", "out"}, {"in_out", "inout"}, {"In-Place", "inout"}};
  for (const auto& [word, ours] : roles) {
    const auto task = parse(with("role: out", "role: " + word));
    EXPECT_EQ(task.error().hint, "did you mean " + ours + "?") << word;
  }
  EXPECT_EQ(parse(with("init: normal", "init: randn")).error().hint, "did you mean normal?");
  EXPECT_EQ(parse(with("init: normal", "init: rand")).error().hint, "did you mean uniform?");
}

TEST(TaskFile, OffersBackendsThatAreThere) {
  EXPECT_THAT(error_of(with("backend: cpu", "backend: pytorch")),
              AllOf(HasSubstr("one of command, cpu,"), Not(HasSubstr("did you mean"))));
}

TEST(TaskFile, RefusesWrongTypesAndValues) {
  EXPECT_THAT(error_of(with("version: 1", "version: 2")), HasSubstr("task version 2 is not known"));
  EXPECT_THAT(error_of(with("rows: 64", "rows: many")), HasSubstr("task.yaml:6"));
  EXPECT_THAT(error_of(with("rows: 64", "rows: 0")), HasSubstr("task.yaml:6"));
  EXPECT_THAT(error_of(with("[{}, {rows: 10}]", "7")), HasSubstr("task.yaml:10"));
  EXPECT_THAT(error_of(with("timeout_s: 2.5", "timeout_s: -1")), HasSubstr("task.yaml:15"));
  EXPECT_THAT(error_of("[1, 2"), HasSubstr("task.yaml"));
  EXPECT_THAT(error_of(""), HasSubstr("task.yaml"));
}

TEST(TaskFile, RefusesTensorsThatCannotBe) {
  EXPECT_THAT(error_of(with("shape: [rows, cols], init", "shape: [rows, cols - 32], init")),
              HasSubstr("must be at least 1"));
  EXPECT_THAT(error_of(with("{rows: 3, cols: 1}", "{rows: 3, cols: 1000000000000}")),
              HasSubstr("larger than 4 GiB"));
  EXPECT_THAT(error_of(with("name: x,", "name: 2x,")), HasSubstr("no C++ identifier"));
  EXPECT_THAT(error_of(with("name: x,", "name: float,")), HasSubstr("no C++ identifier"));
  EXPECT_THAT(error_of(with("name: x,", "name: rows,")), HasSubstr("taken"));
  EXPECT_THAT(error_of(with("role: out", "role: in")), HasSubstr("no tensor has the role 'out'"));
  EXPECT_THAT(error_of(with("entry: softmax", "entry: soft-max")), HasSubstr("no C++ identifier"));
  EXPECT_THAT(error_of(with("\"8*rows*cols\"", "\"8*rows*colz\"")), HasSubstr("did you mean cols?"));
}

TEST(TaskFile, RefusesPathsThatLeadOut) {
  for (const char* path : {"../reference.cpp", "/etc/passwd", "a/../../b.cpp"})
    EXPECT_THAT(error_of(with("reference: reference.cpp", std::string("reference: ") + path)),
                HasSubstr("task.yaml:5"));
  EXPECT_THAT(error_of(with("reference: reference.cpp", "reference: absent.cpp")),
              AllOf(HasSubstr("task.yaml:5"), HasSubstr("absent.cpp"), HasSubstr("not_found")));
}

TEST(TaskFile, CommandTasksNeedACommandAndNoTensors) {
  const auto task = parse(
      "version: 1\nname: packing\nbackend: command\ncommand: [python3, score.py, '{candidate}']\nfiles: "
      "{seed: seed.cpp}\n");
  ASSERT_TRUE(task) << describe(task.error());
  EXPECT_EQ(task->command.size(), 3U);
  EXPECT_TRUE(task->timed.empty());
  EXPECT_THAT(error_of("version: 1\nname: packing\nbackend: command\n"), HasSubstr("command"));
  EXPECT_THAT(error_of(kSoftmax + "command: [sh]\n"),
              AllOf(HasSubstr("task.yaml:16"), HasSubstr("runs no command")));
}

class TaskFolder : public ::testing::Test {
 protected:
  TaskFolder() {
    write("task.yaml", kSoftmax);
    write("reference.cpp", "r");
    write("seed.cpp", "s");
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  TemporaryFolder folder_;
};

TEST_F(TaskFolder, LoadsByFolderOrFile) {
  EXPECT_EQ(load_task(folder_.path()).value().digest, load_task(folder_ / "task.yaml").value().digest);
}

TEST_F(TaskFolder, RefusesALinkThatLeadsOut) {
  std::filesystem::remove(folder_ / "seed.cpp");
  std::filesystem::create_symlink("/etc/hostname", folder_ / "seed.cpp");
  const auto task = load_task(folder_.path());
  EXPECT_THAT(describe(task.error()), AllOf(HasSubstr("leads out"), HasSubstr("task.yaml:5")));
}

TEST_F(TaskFolder, SaysThatThereIsNoTask) {
  const auto task = load_task(folder_ / "elsewhere");
  EXPECT_EQ(task.error().code, ErrorCode::not_found);
  EXPECT_THAT(task.error().where, HasSubstr("elsewhere"));
  EXPECT_THAT(task.error().hint, HasSubstr("kernelsmith init"));
}

TEST_F(TaskFolder, SaysThatAKernelIsNoTask) {
  const auto task = load_task(folder_ / "seed.cpp");
  EXPECT_EQ(task.error().code, ErrorCode::bad_input);
  EXPECT_THAT(describe(task.error()), HasSubstr("seed.cpp: this is no task"));
}

TEST_F(TaskFolder, RefusesAFolderInPlaceOfAFile) {
  std::filesystem::remove(folder_ / "seed.cpp");
  std::filesystem::create_directory(folder_ / "seed.cpp");
  EXPECT_THAT(describe(load_task(folder_.path()).error()), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace kernelsmith
