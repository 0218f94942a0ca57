// `evaluator: {fleet: ...}` of run.yaml, and what a worker offers. Nothing here connects.
#include <cmath>

#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/session/worker_backends.hpp>

namespace kernelsmith {
namespace {

Task command_task() {
  Task task;
  task.name = "hill";
  task.backend = "command";
  task.seed = Source::create({{"seed.txt", "1"}}).value();
  return task;
}

RunConfig configured(const std::string& evaluator) {
  RunConfig config = default_config(command_task(), default_registry()).value();
  const Status read = read_config("evaluator:\n" + evaluator, "run.yaml", default_registry(), config);
  EXPECT_TRUE(read) << describe(read.error());
  return config;
}

Error refused(const std::string& evaluator) {
  RunConfig config = default_config(command_task(), default_registry()).value();
  const Status read = read_config("evaluator:\n" + evaluator, "run.yaml", default_registry(), config);
  EXPECT_FALSE(read);
  return read ? Error{} : read.error();
}

std::string evaluator_of(const RunConfig& config) {
  const std::string yaml = to_yaml(config);
  return yaml.substr(yaml.find("\nevaluator:"));
}

TEST(FleetConfig, EverySettingReadsBack) {
  const RunConfig config = configured(
      "  fleet: {nats: \"tls://host:4333\", hardware: H100, credentials: me.creds, ca: ca.pem, patience_s: "
      "1.5, "
      "wait_for_worker_s: 7}\n");
  RunConfig again = default_config(command_task(), default_registry()).value();
  ASSERT_TRUE(read_config(to_yaml(config), "run.yaml", default_registry(), again));
  EXPECT_EQ(to_yaml(again), to_yaml(config));
  for (const char* const part : {"nats: tls://host:4333", "hardware: H100", "credentials: me.creds",
                                 "ca: ca.pem", "patience_s: 1.5", "wait_for_worker_s: 7"})
    EXPECT_NE(evaluator_of(config).find(part), std::string::npos) << part;
}

TEST(FleetConfig, WithoutAServerNothingChanges) {
  EXPECT_EQ(evaluator_of(configured("  memory_mib: 64\n")).find("fleet"), std::string::npos);
  RunConfig config = configured("  fleet: {nats: \"nats://host\"}\n");
  ASSERT_TRUE(read_config("evaluator: {fleet: {nats: none}}", "--set", default_registry(), config));
  EXPECT_EQ(evaluator_of(config).find("fleet"), std::string::npos);
}

TEST(FleetConfig, APasswordIsNotWritten) {
  const RunConfig config = configured("  fleet: {nats: \"nats://smith:s3cret-42@host\"}\n");
  EXPECT_EQ(to_yaml(config).find("s3cret"), std::string::npos);
  EXPECT_EQ(config.evaluator.provider->settings_to_reconfirm(),
            std::vector<std::string>{"fleet.nats=nats://USER:PASSWORD@host:4222"});
  const RunConfig variable = configured("  fleet: {nats: \"nats://smith:${PASSWORD}@host\"}\n");
  EXPECT_NE(to_yaml(variable).find("${PASSWORD}"), std::string::npos);
}

TEST(FleetConfig, AFolderOfSomebodyElseGetsNoSecret) {
  ::setenv("KERNELSMITH_TEST_PASSWORD", "s3cret-42", 1);
  for (const char* const fleet :
       {"  fleet: {nats: \"nats://smith:${KERNELSMITH_TEST_PASSWORD}@host.invalid\"}\n",
        "  fleet: {nats: \"nats://${KERNELSMITH_TEST_PASSWORD}.host.invalid\"}\n",
        "  fleet: {nats: \"nats://host.invalid\", credentials: me.creds}\n"}) {
    const RunConfig config = configured(fleet);
    config.evaluator.provider->mark_untrusted();
    const auto made = config.evaluator.provider->make(command_task(), {});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::invalid_argument) << describe(made.error());
    EXPECT_EQ(describe(made.error()).find("s3cret"), std::string::npos);
    EXPECT_EQ(config.evaluator.provider->settings_to_reconfirm().size(), 1U);
  }
}

TEST(FleetConfig, WrongSettingsAreRefused) {
  const auto made = configured("  fleet: {hardware: H100}\n").evaluator.provider->make(command_task(), {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().where, "evaluator.fleet.nats");
  EXPECT_NE(
      refused("  fleet: {nats: \"nats://host\"}\n  memory_mib: 64\n").hint.find("kernelsmith worker --set"),
      std::string::npos);
  EXPECT_NE(refused("  fleet: {nats: \"nats://host\", hardwear: x}\n").hint.find("hardware"),
            std::string::npos);
  EXPECT_EQ(describe(refused("  fleet: {nats: \"http://smith:s3cret@host\"}\n")).find("s3cret"),
            std::string::npos);
}

TEST(WorkerBackends, UnknownOnesAreRefused) {
  const auto offered =
      worker_backends(default_registry(), {.backends = {"comand"}, .settings = {}, .slots = {}});
  ASSERT_FALSE(offered);
  EXPECT_NE(offered.error().hint.find("command"), std::string::npos);
}

TEST(WorkerBackends, ASettingGoesToThoseThatHaveIt) {
  const auto offered = worker_backends(
      default_registry(), {.backends = {"command"}, .settings = {{"memory_mib", "64"}}, .slots = 3});
  ASSERT_TRUE(offered) << describe(offered.error());
  ASSERT_EQ(offered->size(), 1U);
  EXPECT_EQ(offered->front().slots, 3U);
  EXPECT_EQ(offered->front().hardware, "");
  for (const char* const wrong : {"compiler", "fleet.nats"})
    EXPECT_FALSE(worker_backends(default_registry(),
                                 {.backends = {"command"}, .settings = {{wrong, "x"}}, .slots = {}}));
}

TEST(WorkerBackends, WhatTheServersWritersCouldTurnAgainstTheMachineIsNamed) {
  bool examined = false;
  Registry registry = default_registry();
  registry.backends["torch"].hardware = nullptr;
  registry.backends["torch"].examine_machine = [&](bool) {
    examined = true;
    return std::vector<MachineCheck>{};
  };
  for (auto& [name, backend] : registry.backends)
    if (name != "torch" && name != "command") registry.evaluators.erase(name);
  std::string told;
  const auto all = worker_backends(
      registry,
      {.backends = {}, .settings = {}, .slots = {}, .tell = [&](const auto& text) { told += text; }});
  ASSERT_TRUE(all) << describe(all.error());
  EXPECT_TRUE(examined);
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ(all->front().name, "command");
  EXPECT_NE(told.find("--backend torch"), std::string::npos) << told;
  const auto named = worker_backends(registry, {.backends = {"torch"}, .settings = {}, .slots = {}});
  ASSERT_TRUE(named) << describe(named.error());
  EXPECT_EQ(named->front().name, "torch");
}

TEST(WorkerBackends, ATaskOfAMessageIsHeldToWhatATaskFileIs) {
  const auto offered =
      worker_backends(default_registry(), {.backends = {"command"}, .settings = {}, .slots = {}});
  ASSERT_TRUE(offered) << describe(offered.error());
  for (const double timeout_s : {0.0, -1.0, 1e300, std::nan("")}) {
    Task task = command_task();
    task.timeout_s = timeout_s;
    const auto made = offered->front().make(task);
    ASSERT_FALSE(made) << timeout_s;
    EXPECT_EQ(made.error().where, "timeout_s");
  }
}

}  // namespace
}  // namespace kernelsmith
