// The hostile programs, a hundred times, by one evaluator of each kind: each time the same clear result, and
// nothing left behind.
#include "evaluating.hpp"
#include "hostile_programs.hpp"

namespace kernelsmith {
namespace {

constexpr int kRounds = 100;

void soak(const std::string& sandbox) {
  const std::string settings = "memory_mb: 256\nsandbox: " + sandbox;
  const Evaluating hurried(kRunsIt, settings + "\ntimeout_s: 0.3\n");
  const Evaluating patient(kRunsIt, settings + "\ntimeout_s: 60\n");
  ASSERT_TRUE(hurried.run("return 1").accepted());
  ASSERT_TRUE(patient.run("return 1").accepted());
  const auto warm = descendants();
  for (int round = 0; round < kRounds; ++round)
    for (const HostileProgram& one : hostile_programs()) {
      const Evaluation evaluation = (one.hangs ? hurried : patient).run(one.body);
      const Rejection* const rejection = evaluation.rejection();
      ASSERT_TRUE(rejection ? one.code.contains(rejection->code) : one.code.empty())
          << "round " << round << ": " << one.name << ": "
          << (rejection ? rejection->diagnostics : "it was accepted");
      ASSERT_EQ(descendants(), warm) << "round " << round << ": " << one.name;
    }
}

TEST(PythonSoak, Sandboxed) { soak("true"); }
TEST(PythonSoak, Unsandboxed) { soak("false"); }

}  // namespace
}  // namespace kernelsmith
