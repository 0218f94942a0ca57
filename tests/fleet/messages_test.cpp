#include "messages.hpp"

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

#include "sample_values.hpp"

namespace kernelsmith::fleet {
namespace {

JobId sample_id() { return {key_of(sample::job(), to_json(sample::job())), 2}; }

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(FleetMessages, AJobReadsBack) {
  const auto read = decode_job(encode_job(sample_id(), to_json(sample::job()))).value();
  EXPECT_EQ(read.id, sample_id());
  EXPECT_EQ(read.job, sample::job());
}

TEST(FleetMessages, AJobUnderAnotherIdIsRefused) {
  JobId id = sample_id();
  ++id.key.attempt;
  EXPECT_EQ(decode_job(encode_job(id, to_json(sample::job()))).error().code, ErrorCode::bad_input);
}

TEST(FleetMessages, ResultsReadBack) {
  for (const Evaluation& evaluation : {sample::acceptance(), sample::rejection()}) {
    const auto read = decode_result(encode_result({sample_id(), "gpu1", evaluation}, 1 << 20)).value();
    EXPECT_EQ(read.id, sample_id());
    EXPECT_EQ(read.worker, "gpu1");
    EXPECT_EQ(to_json(*read.answer), to_json(evaluation));
  }
  const Error error = fail(ErrorCode::tool_missing, "no caf\xc3\xa9", "here", "there");
  const auto read = decode_result(encode_result({sample_id(), "gpu1", error}, 1 << 20)).value();
  EXPECT_EQ(read.answer.error(), error);
}

TEST(FleetMessages, BytesThatAreNoTextAreNoReasonToFail) {
  const auto read =
      decode_result(encode_result({sample_id(), "caf\xe9", fail(ErrorCode::io, "\xff\xfe")}, 1 << 20));
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->answer.error().code, ErrorCode::io);
}

TEST(FleetMessages, AResultIsCutToWhatFits) {
  Report report;
  report.artifacts = {{"short.log", "kept"}, {"long.log", std::string(5000, 'x')}};
  const Evaluation evaluation = Rejection{Stage::compile, RejectionCode::compile_failed, "why", report};
  const std::string cut = encode_result({sample_id(), "gpu1", evaluation}, 2000);
  EXPECT_LE(cut.size(), 2000U);
  const auto read = decode_result(cut);
  ASSERT_TRUE(read && read->answer);
  EXPECT_EQ(read->answer->rejection()->diagnostics, "why");
  ASSERT_EQ(read->answer->report().artifacts.size(), 1U);
  EXPECT_EQ(read->answer->report().artifacts.front().name, "short.log");
  const auto hopeless = decode_result(encode_result({sample_id(), "gpu1", evaluation}, 10)).value();
  EXPECT_EQ(hopeless.answer.error().code, ErrorCode::too_long);
}

TEST(FleetMessages, AWorkerReadsBack) {
  const WorkerEntry entry{"gpu1", "0.1.0", {{"cuda", "NVIDIA H100", 2}, {"command", "", 16}}};
  const auto read = decode_worker(encode_worker(entry)).value();
  EXPECT_EQ(read, entry);
}

TEST(FleetMessages, ATaskIsCheckedByItsDigest) {
  Task task;
  task.name = "hill";
  task.backend = "command";
  task.command = {"sh", "score.sh"};
  task.digest = task_digest(task);
  const auto read = decode_task(encode_task(task)).value();
  EXPECT_EQ(task_digest(read), task.digest);
  EXPECT_EQ(decode_task(with(encode_task(task), "score.sh", "other.sh")).error().code, ErrorCode::corrupt);
}

TEST(FleetMessages, TheHardwareOfARunReadsBack) {
  EXPECT_EQ(decode_hardware(encode_hardware("a \"processor\"")).value(), "a \"processor\"");
}

TEST(FleetMessages, AnotherProtocolIsAVersion) {
  EXPECT_TRUE(check_protocol(encode_protocol()));
  const std::string other = with(encode_protocol(), "\"protocol\":1", "\"protocol\":2");
  EXPECT_EQ(check_protocol(other).error().code, ErrorCode::version);
  const std::string job =
      with(encode_job(sample_id(), to_json(sample::job())), "\"protocol\":1", "\"protocol\":2");
  EXPECT_EQ(decode_job(job).error().code, ErrorCode::version);
}

TEST(FleetMessages, NonsenseIsBadInput) {
  for (const char* const text :
       {"", "\n", "{}\n", "[]\n", "{\"protocol\":1}\n", "{\"kind\":\"job\",\"protocol\":1}\n{}",
        "{\"kind\":\"result\",\"protocol\":1,\"id\":\"x\",\"worker\":\"y\"}\n{}",
        "{\"protocol\":-1,\"kind\":\"worker\"}\n",
        "{\"kind\":\"worker\",\"protocol\":1,\"name\":\"a\",\"version\":\"b\",\"offers\":[1]}\n"}) {
    EXPECT_EQ(decode_job(text).error().code, ErrorCode::bad_input) << text;
    EXPECT_EQ(decode_result(text).error().code, ErrorCode::bad_input) << text;
    EXPECT_EQ(decode_task(text).error().code, ErrorCode::bad_input) << text;
    EXPECT_EQ(decode_worker(text).error().code, ErrorCode::bad_input) << text;
    EXPECT_EQ(decode_hardware(text).error().code, ErrorCode::bad_input) << text;
    EXPECT_EQ(check_protocol(text).error().code, ErrorCode::bad_input) << text;
  }
}

}  // namespace
}  // namespace kernelsmith::fleet
