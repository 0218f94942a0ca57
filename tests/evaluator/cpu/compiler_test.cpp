// The compiler: what it takes from the disk's cache and keeps there.
#include "toolchain/compiler.hpp"

#include <cstdlib>

#include "workshop.hpp"

namespace kernelsmith::cpu {
namespace {

class CompilerCache : public ::testing::Test {
 protected:
  CompilerCache() { ::setenv("KERNELSMITH_CACHE", scratch_.path().c_str(), 1); }
  ~CompilerCache() override { ::unsetenv("KERNELSMITH_CACHE"); }

  std::shared_ptr<const CpuCompiler> compiler(const CpuOptions& options = {}) const {
    return CpuCompiler::create(task_, options).value();
  }
  std::set<std::filesystem::path> kept() const {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path() / "build"))
      files.insert(entry.path());
    return files;
  }

  const Source source_ = one_file(twice(kRight));

 private:
  const ScratchFolder scratch_ = ScratchFolder::create().value();
  const Task task_ = task_of(kTwice);
};

TEST_F(CompilerCache, HoldsTrustedObjectsForTheNextProcess) {
  const auto first = compiler();
  const auto before = kept();
  const auto built = first->build({source_, "reference"}).value();
  auto files = kept();
  for (const auto& file : before) files.erase(file);
  ASSERT_EQ(files.size(), 1U);
  const auto again = compiler()->build({source_, "reference"}).value();
  EXPECT_EQ(again->exact_bytes(), built->exact_bytes());

  std::ofstream(*files.begin()) << digest_of("planted").hex() << "planted";
  EXPECT_EQ(compiler()->build({source_, "reference"}).value()->exact_bytes(), digest_of("planted"));
  CpuOptions other;
  other.flags.push_back("-DOTHER");
  EXPECT_EQ(compiler(other)->build({source_, "reference"}).value()->exact_bytes(), built->exact_bytes())
      << "other flags are another key";
}

TEST(Compiler, RefusesParametersInAnotherOrder) {
  const auto compiler = CpuCompiler::create(task_of(kTwice), {}).value();
  const Source source =
      one_file("#include \"task.hpp\"\nvoid twice(const float* y, float* x, std::int64_t n) {}\n");
  const Rejection candidate = rejection_of(compiler->compile(source, {}));
  EXPECT_EQ(candidate.code, RejectionCode::forbidden_construct);
  EXPECT_THAT(candidate.diagnostics, HasSubstr("called with (x, y)"));
  const auto reference = compiler->build({source, "reference"});
  EXPECT_EQ(reference.error().code, ErrorCode::refused);
  EXPECT_EQ(reference.error().where, "files: reference");
}

TEST(Compiler, ARenamedVariableGivesTheSameBytesAndANumberDoesNot) {
  const auto compiler = CpuCompiler::create(task_of(kTwice), {}).value();
  const auto bytes = [&](const std::string& body) {
    return compiler->compile(one_file(twice(body)), {})->binary->exact_bytes();
  };
  const auto first = bytes("for (std::int64_t i = 0; i < n; ++i) { const float a = x[i]; y[i] = 2 * a; }");
  EXPECT_EQ(bytes("for (std::int64_t k = 0; k < n; ++k) { const float value = x[k]; y[k] = 2 * value; }"),
            first);
  EXPECT_NE(bytes("for (std::int64_t i = 0; i < n; ++i) { const float a = x[i]; y[i] = 3 * a; }"), first);
}

TEST_F(CompilerCache, HoldsNothingOfCandidates) {
  const auto made = compiler();
  const auto trusted = made->build({source_, "reference"}).value();
  const auto before = kept();
  for (const auto& file : before) std::ofstream(file) << digest_of("planted").hex() << "planted";
  const auto candidate = made->compile(source_, {});
  ASSERT_TRUE(candidate);
  EXPECT_EQ(candidate->binary->exact_bytes(), trusted->exact_bytes());
  EXPECT_EQ(kept(), before);
}

TEST_F(CompilerCache, AFailureIsToldEachTime) {
  for (int again = 0; again < 2; ++again) {
    const auto built = compiler()->build({one_file("syntax error"), "reference", OraclePrecision::f64});
    EXPECT_EQ(built.error().code, ErrorCode::refused);
    EXPECT_NE(built.error().message.find("the task's reference does not compile: "), std::string::npos)
        << "a wider type is not the reason: " << built.error().message;
  }
  const auto nameless = compiler()->build({one_file("int other() { return 1; }\n"), "reference"});
  EXPECT_NE(nameless.error().hint.find("`entry` in task.yaml"), std::string::npos) << nameless.error().hint;
}

}  // namespace
}  // namespace kernelsmith::cpu
