// Candidates with extensions, by a planner that needs no PyTorch and a compiler of the test's.
#include "extension/extension_job.hpp"
#include "extension/plan_with_builds.hpp"
#include "fake_python.hpp"
#include "temporary_folder.hpp"
#include "torch_backend.hpp"

namespace kernelsmith::torch {
namespace {

std::string job_text(const std::string& key, const std::string& source = "__global__ void k() {}") {
  return Json{{"key", key},
              {"name", "fast"},
              {"units", {{{"name", "cuda.cu"}, {"text", source}}}},
              {"flags", {{"std", "c++17"}}}}
      .dump();
}

std::string asking_for(const std::string& jobs, const std::string& more = "") {
  return R"({"builds": [)" + jobs + "]" + more + "}";
}

/// A compiler that refuses sources with "wrong" in them.
struct ExtensionBench {
  Judged<Planned> plan(const std::string& candidate) {
    return plan_with_builds(pool, {"{}", SourceFile{"candidate.py", candidate}, 90}, {service, {}}, {});
  }
  Rejection rejection(const std::string& candidate) { return rejection_of(plan(candidate)); }

  int compiled = 0;
  bool broken = false;
  PlannerPool pool{[] { return PythonProcess::start(fake_planner()); }, {}};
  std::shared_ptr<BuildService> service = std::make_shared<BuildService>(
      [this](const LibraryJob& job, const std::stop_token&) -> Judged<BuiltLibrary> {
        ++compiled;
        const std::string& text = job.files.front().text;
        if (broken) return Failure(fail(ErrorCode::tool_missing, "no nvcc"));
        if (text.find("wrong") != text.npos)
          return reject(Stage::compile, RejectionCode::compile_failed, "cuda.cu(3): error: " + text);
        return BuiltLibrary{"library(" + text + ")", {"cubin"}};
      });
};

TEST(PlanWithBuilds, BuildsWhatIsAskedForAndPlansAgain) {
  ExtensionBench bench;
  const Planned planned = value_of(bench.plan(asking_for(job_text("one", "a") + "," + job_text("two", "b"))));
  EXPECT_EQ(bench.compiled, 2);
  EXPECT_THAT(planned.plan->bytes(),
              HasSubstr(R"~("built": {"one": ["library(a)", "cubin"], "two": ["library(b)", "cubin"]})~"));
  EXPECT_EQ(planned.not_built, "");
  EXPECT_TRUE(bench.plan(asking_for(job_text("again", "a"))));
  EXPECT_EQ(bench.compiled, 2) << "by its content, not by the planner's name for it";
}

TEST(PlanWithBuilds, ACandidateWithoutExtensionsCompilesNothing) {
  ExtensionBench bench;
  EXPECT_TRUE(bench.plan("{}"));
  EXPECT_EQ(bench.compiled, 0);
}

TEST(PlanWithBuilds, AnErrorThatIsCaughtIsTold) {
  ExtensionBench bench;
  const Planned planned = value_of(bench.plan(asking_for(job_text("one", "wrong"))));
  EXPECT_THAT(planned.plan->bytes(), HasSubstr(R"("built": {"one": true})"));
  EXPECT_EQ(planned.not_built, "the extension 'fast' does not compile:\ncuda.cu(3): error: wrong\n");
  EXPECT_THAT(planned.text, HasSubstr("goes on although the extension 'fast' does not compile"));
}

TEST(PlanWithBuilds, AnErrorThatNobodyCatchesIsTheCompilers) {
  ExtensionBench bench;
  const Rejection rejection = bench.rejection(asking_for(job_text("one", "wrong"), R"(, "uncaught": true)"));
  EXPECT_EQ(rejection.stage, Stage::compile);
  EXPECT_EQ(rejection.code, RejectionCode::compile_failed);
  EXPECT_EQ(rejection.diagnostics, "the extension 'fast' does not compile:\ncuda.cu(3): error: wrong\n");
}

TEST(PlanWithBuilds, AMachineWithoutACompilerRejectsNobody) {
  ExtensionBench bench;
  bench.broken = true;
  EXPECT_EQ(error_of(bench.plan(asking_for(job_text("one")))).code, ErrorCode::tool_missing);
}

TEST(PlanWithBuilds, EndsForWhoAsksAndAsks) {
  ExtensionBench bench;
  std::string many;
  for (int i = 0; i < 20; ++i) many += (i ? "," : "") + job_text("k" + std::to_string(i), std::to_string(i));
  const Rejection rejection = bench.rejection(asking_for(many));
  EXPECT_EQ(rejection.code, RejectionCode::too_large);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("more than 16 extensions"));
  EXPECT_EQ(bench.rejection(asking_for(job_text("same"), R"(, "again": true)")).code,
            RejectionCode::protocol_forged);
}

/// Each round of the planner has the whole limit for itself.
TEST(PlanWithBuilds, RoundsAndBuildsHaveOneLimit) {
  ExtensionBench bench;
  PlannerPool impatient([] { return PythonProcess::start(fake_planner()); }, {.plan_s = 0});
  const auto plan = [&](const std::string& candidate) {
    return plan_with_builds(impatient, {"{}", SourceFile{"candidate.py", candidate}, 90}, {bench.service, {}},
                            {});
  };
  EXPECT_TRUE(plan("{}"));
  const Rejection rejection = rejection_of(plan(asking_for(job_text("one"))));
  EXPECT_EQ(rejection.code, RejectionCode::timed_out);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("before extension 1 was asked for"));
  EXPECT_EQ(bench.compiled, 0);
}

class ReadJob : public testing::Test {
 protected:
  Json told = Json::parse(job_text("key"));
  Judged<ExtensionJob> read(const std::vector<std::filesystem::path>& shown = {}) {
    told["arch"] = 90;
    return read_job(told, 90, shown);
  }
  bool forged() {
    const auto job = read();
    return !job && rejection_of(job).code == RejectionCode::protocol_forged;
  }
};

TEST_F(ReadJob, FlagsAreForTheirCompilers) {
  told["flags"] = {
      {"std", "c++20"}, {"defines", {"A=1"}}, {"fast_math", true}, {"nvcc", {"-maxrregcount=32"}}};
  told["units"].push_back({{"name", "utils/x.cuh"}, {"text", ""}});
  const auto job = read();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->key, "key");
  EXPECT_EQ(job->job.arch, 90);
  EXPECT_THAT(job->job.flags, ElementsAre("-std=c++20", "-DA=1"));
  EXPECT_THAT(job->job.device_flags, ElementsAre("-maxrregcount=32", "--use_fast_math"));
  EXPECT_EQ(job->job.files[1].path, "utils/x.cuh");
}

TEST_F(ReadJob, WhatNoPlannerWritesIsForged) {
  EXPECT_FALSE(forged());
  const Json good = told;
  for (const char* path : {"", "/etc/x.cu", "../x.cu", "a/../../x.cu", "a//b.cu", "./x.cu", "x\n.cu"}) {
    told["units"][0]["name"] = path;
    EXPECT_EQ(forged(), std::string(path) != "a//b.cu") << path;
  }
  const auto changed = [&](const char* pointer, const Json& value) {
    told = good;
    told[Json::json_pointer(pointer)] = value;
    return forged();
  };
  EXPECT_TRUE(changed("/units", Json::array()));
  EXPECT_TRUE(changed("/units", {1}));
  EXPECT_TRUE(changed("/units/0/text", 5));
  EXPECT_TRUE(changed("/units/1", good["units"][0])) << "two of one name";
  EXPECT_TRUE(changed("/key", ""));
  EXPECT_TRUE(changed("/key", std::string(300, 'k')));
  EXPECT_TRUE(changed("/flags/std", "c++17 -x"));
  EXPECT_TRUE(changed("/flags/nvcc", "text"));
  EXPECT_TRUE(changed("/flags/defines", {std::string(2000, 'd')}));
  told = good;
  EXPECT_FALSE(read_job(told, 80, {})) << "for another GPU";
}

TEST_F(ReadJob, FoldersOfHeadersAreDeclaredOrTheSystems) {
  const TemporaryFolder folder;
  const auto declared = std::filesystem::canonical(folder.path()) / "cutlass",
             other = declared.parent_path() / "other";
  std::filesystem::create_directories(declared / "include");
  std::filesystem::create_directories(other);
  std::filesystem::create_directory_symlink(other, declared / "link");
  told["flags"]["include"] = {
      (declared / "include").string(), "own/headers",     "/usr/include", other.string(),
      (declared / "link").string(),    "/nowhere/include"};
  const auto job = read({declared});
  ASSERT_TRUE(job);
  EXPECT_THAT(job->job.include, ElementsAre(declared, declared / "include", "/usr/include"));
  EXPECT_THAT(job->unseen, ElementsAre(other.string(), (declared / "link").string(), "/nowhere/include"));
  EXPECT_THAT(with_unseen("no such file", *job),
              AllOf(HasSubstr("no such file\nNot visible in the compiler's sandbox: -I"),
                    HasSubstr("-I/nowhere/include (a task shows folders by toolchain: {include: [...]})")));
  EXPECT_EQ(with_unseen("no such file",
                        *read_job(told.patch(Json::parse(R"([{"op": "remove", "path": "/flags/include"}])")),
                                  90, {})),
            "no such file");
}

/// The whole backend: own_kernels shows the compiler's words if an except hides them.
TEST(Extensions, AHiddenErrorIsTheReasonUnderOwnKernels) {
  const Variable package("KERNELSMITH_TORCH_PYTHON_DIR", kFakePackage);
  Task task;
  task.backend = "torch";
  task.reference = task.baseline = source("{}", "reference.py");
  TorchOptions options;
  options.unsandboxed = true;
  const auto compile = [&](const std::string& policy) {
    task.settings = settings_text(TorchSettings{.policy = policy});
    const auto backend = make_backend(std::make_shared<const Task>(task), options, {}).value();
    const std::string candidate = asking_for(job_text("one", "#error wrong\n"), R"(, "launches": 0)");
    return backend->compile(source(candidate), {});
  };
  const auto strict = compile("own_kernels");
  if (!strict && strict.error().code == ErrorCode::tool_missing) GTEST_SKIP() << describe(strict.error());
  ASSERT_TRUE(strict) << describe(strict.error());
  ASSERT_TRUE(strict->rejection());
  EXPECT_EQ(strict->rejection()->code, RejectionCode::compile_failed);
  EXPECT_THAT(strict->rejection()->diagnostics,
              AllOf(HasSubstr("the extension 'fast' does not compile"), HasSubstr("#error wrong"),
                    HasSubstr("The candidate caught that")));
  const auto any = compile("any").value();
  ASSERT_FALSE(any.rejection()) << any.rejection()->diagnostics;
  EXPECT_THAT(any.report.artifacts.front().text, HasSubstr("#error wrong"));
}

TEST(Extensions, AFolderThatIsNotThereIsTheTasks) {
  const Variable package("KERNELSMITH_TORCH_PYTHON_DIR", kFakePackage);
  Task task;
  task.backend = "torch";
  task.reference = source("{}", "reference.py");
  task.settings = settings_text(TorchSettings{.include = {"/nowhere/cutlass"}});
  const auto made = make_backend(std::make_shared<const Task>(task), {}, {});
  EXPECT_EQ(made.error().code, ErrorCode::not_found);
  EXPECT_THAT(describe(made.error()), HasSubstr("/nowhere/cutlass"));
}

}  // namespace
}  // namespace kernelsmith::torch
