#include "names.hpp"

#include <kernelsmith/config/json.hpp>

#include "sample_values.hpp"

namespace kernelsmith::fleet {
namespace {

TEST(FleetNames, AnIdReadsBack) {
  const std::string text = to_json(sample::job());
  const JobId id{key_of(sample::job(), text), 7};
  EXPECT_EQ(JobId::parse(id.text()), id);
  EXPECT_EQ(id.key.run, "0123456789abcdef");
  EXPECT_EQ(id.key.attempt, 3U);
}

TEST(FleetNames, WhatIsNoIdIsRefused) {
  const std::string digest(32, 'a');
  EXPECT_TRUE(JobId::parse("run.1.0." + digest + ".0"));
  for (const std::string& wrong : std::vector<std::string>{
           std::string(), std::string("...."), "run.1.0." + digest, "run.1.0." + digest + ".0.0",
           "run.x.0." + digest + ".0", "run.1.-1." + digest + ".0", "run.1.0.short.0",
           "*.1.0." + digest + ".0", ".1.0." + digest + ".0", "run.1.4294967296." + digest + ".0",
           "run.1.0." + std::string(31, 'a') + ">.0"})
    EXPECT_FALSE(JobId::parse(wrong)) << wrong;
}

TEST(FleetNames, AnotherJobHasAnotherKey) {
  EvaluationJob job = sample::job();
  const JobKey key = key_of(job, to_json(job));
  job.remeasurement.reset();
  EXPECT_NE(key_of(job, to_json(job)), key);
}

TEST(FleetNames, TokensHoldNothingThatSubjectsUse) {
  EXPECT_EQ(token("0123-abc_DEF"), "0123-abc_DEF");
  for (const std::string& odd :
       std::vector<std::string>{std::string(), std::string("a b"), std::string("a.b"), std::string("*"),
                                std::string(">"), std::string("caf\xe9"), std::string(65, 'x')}) {
    EXPECT_EQ(token(odd).find_first_of(" .*>"), std::string::npos) << odd;
    EXPECT_EQ(token(token(odd)), token(odd));
  }
  EXPECT_NE(token("a b"), token("a.b"));
}

TEST(FleetNames, SubjectsFitTheirFilters) {
  const JobKey key{"run", {12}, 3, ""};
  EXPECT_EQ(job_subject("cpu", "", key), "kernelsmith.jobs.cpu.any.run.12.3");
  EXPECT_EQ(jobs_filter("cpu", ""), "kernelsmith.jobs.cpu.any.>");
  EXPECT_EQ(result_subject(key), "kernelsmith.results.run.12.3");
  EXPECT_EQ(results_filter("run"), "kernelsmith.results.run.>");
  EXPECT_NE(hardware_token("H100"), hardware_token("H200"));
}

}  // namespace
}  // namespace kernelsmith::fleet
