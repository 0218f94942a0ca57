// The journal of a run folder (run_store.hpp): what is appended is replayed.
#include <unistd.h>

#include "store_support.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

/// Replay gives back the events without their artifacts and kept replies.
std::vector<Event> without_artifacts(std::vector<Event> events) {
  for (Event& event : events) {
    if (auto* arrived = std::get_if<EvaluationArrived>(&event)) {
      arrived->evaluation = arrived->evaluation.without_artifacts();
    }
    if (auto* arrived = std::get_if<ProposalArrived>(&event)) arrived->proposal.reply.reset();
  }
  return events;
}

Individual individual(std::vector<SourceFile> files) {
  const auto source = Source::create(std::move(files)).value();
  return {std::make_shared<Program>(Program{{1}, source, {}, Origin::seed}), sample::acceptance()};
}

TEST(RunStore, ReplaysEveryEventInOrder) {
  const TemporaryFolder folder;
  const auto events = sample::events();
  std::string run_id;
  {
    const auto store = RunStore::create(folder / "a/b.run", "seed: 1\n").value();
    EXPECT_EQ(store->last_position().value(), 0u);
    ASSERT_TRUE(store->append(std::span(events).first(3)));
    ASSERT_TRUE(store->append(std::span(events).subspan(3)));
    ASSERT_TRUE(store->append({}));
    EXPECT_EQ(events_of(*store), without_artifacts(events));
    run_id = store->run_id();
    EXPECT_EQ(run_id.size(), 32u);
  }
  const auto store = RunStore::open(folder / "a/b.run").value();
  EXPECT_EQ(store->run_id(), run_id);
  EXPECT_EQ(store->configuration().value(), "seed: 1\n");
  EXPECT_EQ(store->last_position().value(), events.size());
  EXPECT_EQ(events_of(*store), without_artifacts(events));
  const auto tail = events_of(*store, events.size() - 2);
  EXPECT_EQ(tail.size(), 2u);
  EXPECT_EQ(tail.back(), events.back());
  EXPECT_TRUE(store->integrity_check());
}

TEST(RunStore, KeepsRepliesBesideTheEvents) {
  const TemporaryFolder folder;
  const auto store = RunStore::create(folder / "r", "").value();
  ASSERT_TRUE(store->append(sample::events()));
  EXPECT_EQ(store->reply({1}).value(), sample::kept_reply());
  EXPECT_EQ(store->reply({2}).value(), std::nullopt) << "its proposal kept none";
  EXPECT_EQ(store->reply({999}).value(), std::nullopt);
  EXPECT_EQ(store->artifacts({1}, 0)->size(), sample::report().artifacts.size())
      << "an evaluation's artifacts are its own";
}

TEST(RunStore, ReplayStopsAtTheVisitorsError) {
  const TemporaryFolder folder;
  const auto store = RunStore::create(folder / "r", "").value();
  ASSERT_TRUE(store->append(sample::events()));
  int visits = 0;
  const Status status = store->replay(0, [&](std::uint64_t, const Event&) -> Status {
    if (++visits == 2) return fail(ErrorCode::cancelled, "enough");
    return {};
  });
  EXPECT_EQ(status.error().code, ErrorCode::cancelled);
  EXPECT_EQ(visits, 2);
}

/// More events than are decoded in one go.
TEST(RunStore, ALongReplayIsInOrderAndEndsWhereTheVisitorDoes) {
  constexpr std::uint64_t kEvents = 2000;
  const TemporaryFolder folder;
  const auto store = RunStore::create(folder / "r", "").value();
  std::vector<Event> events;
  for (std::uint64_t n = 1; n <= kEvents; ++n) events.push_back(numbered_event(n));
  ASSERT_TRUE(store->append(events));
  EXPECT_EQ(events_of(*store), events);
  std::uint64_t last = 0;
  const Status status = store->replay(0, [&](std::uint64_t position, const Event& event) -> Status {
    EXPECT_EQ(event, numbered_event(position));
    // Another one may be read meanwhile.
    const Status inner = store->replay(kEvents - position, [&](std::uint64_t, const Event& other) -> Status {
      EXPECT_EQ(other, numbered_event(kEvents - position + 1));
      return fail(ErrorCode::cancelled, "one is enough");
    });
    EXPECT_EQ(inner.error().code, ErrorCode::cancelled);
    last = position;
    return position == 700 ? Status(fail(ErrorCode::cancelled, "enough")) : Status();
  });
  EXPECT_EQ(status.error().code, ErrorCode::cancelled);
  EXPECT_EQ(last, 700u);
}

TEST(RunStore, KeepsArtifactsApartFromTheEvents) {
  const TemporaryFolder folder;
  const auto store = RunStore::create(folder / "r", "").value();
  ASSERT_TRUE(store->append(sample::events()));
  EXPECT_EQ(store->artifacts({1}, 0).value(), sample::report().artifacts);
  EXPECT_EQ(store->artifacts({1}, 1).value(), sample::report().artifacts);
  EXPECT_TRUE(store->artifacts({1}, 2).value().empty());
  EXPECT_TRUE(store->artifacts({2}, 0).value().empty());
}

TEST(RunStore, KeepsEverySourceOnce) {
  const TemporaryFolder folder;
  const auto store = RunStore::create(folder / "r", "").value();
  const Source large = sample::source(std::string(1 << 20, 'x'));
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Event event =
        ProposalArrived{{i}, {.outcome = Child{large, Origin::edit, {}}, .cost = {}, .prompt = {}}};
    ASSERT_TRUE(store->append({&event, 1}));
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder / "r")) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_LT(bytes, 5u << 20);
  EXPECT_EQ(events_of(*store).size(), 20u);
}

TEST(RunStore, CreateRefusesAFolderThatIsNotEmpty) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "empty");
  EXPECT_TRUE(RunStore::create(folder / "empty", ""));
  const auto again = RunStore::create(folder / "empty", "");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
  folder.write("file", "x");
  EXPECT_EQ(RunStore::create(folder / "file", "").error().code, ErrorCode::invalid_argument);
}

TEST(RunStore, ACreationThatWasKilledCanBeBegunAgain) {
  const TemporaryFolder folder;
  const SourceFile task{"task/sub/task.yaml", "whole"};
  const auto create = [&] { return RunStore::create(folder / "r", "a", Durability::process, {&task, 1}); };
  fs::create_directories(folder / "r/best");
  for (const std::string name : {"run.lock", "run.yaml", "run.yaml.new", "run.db.new", "run.db.new-journal"})
    folder.write("r/" + name, "torn");
  folder.write("r/task/sub/task.yaml", "who");
  const auto store = create().value();
  EXPECT_EQ(file_bytes(folder / "r/task/sub/task.yaml"), "whole");
  EXPECT_FALSE(fs::exists(folder / "r/run.db.new"));
}

TEST(RunStore, CreateNeverTakesAFolderOfSomebodyElse) {
  const TemporaryFolder folder;
  const SourceFile task{"task/task.yaml", "x"};
  const auto code = [&] {
    const auto store = RunStore::create(folder / "r", "a", Durability::process, {&task, 1});
    return store ? ErrorCode::internal : store.error().code;
  };
  fs::create_directories(folder / "r/task");
  EXPECT_EQ(code(), ErrorCode::invalid_argument) << "without a lock";
  folder.write("r/run.lock", "1");
  folder.write("r/notes.txt", "x");
  EXPECT_EQ(code(), ErrorCode::invalid_argument) << "with a file that is not ours";
  fs::remove(folder / "r/notes.txt");
  folder.write("r/best/kernel.cpp", "x");
  EXPECT_EQ(code(), ErrorCode::invalid_argument) << "with a best program, but its database lost";
}

TEST(RunStore, ASecondWriterIsToldWhoHasTheRun) {
  const TemporaryFolder folder;
  auto store = RunStore::create(folder / "r", "").value();
  const auto second = RunStore::open(folder / "r");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos)
      << second.error().message;
  store.reset();
  EXPECT_TRUE(RunStore::open(folder / "r"));
}

TEST(RunStore, AReaderDoesNotWrite) {
  const TemporaryFolder folder;
  const auto writer = RunStore::create(folder / "r", "a").value();
  const auto reader = RunStore::open_read_only(folder / "r").value();
  const auto events = sample::events();
  EXPECT_EQ(reader->append(events).error().code, ErrorCode::permission);
  EXPECT_EQ(reader->write_best(individual({{"a", ""}}), "").error().code, ErrorCode::permission);
  EXPECT_EQ(reader->write_configuration("b").error().code, ErrorCode::permission);
  EXPECT_EQ(reader->run_id(), writer->run_id());
}

TEST(RunStore, PowerDurabilityReplaysToo) {
  const TemporaryFolder folder;
  const auto events = sample::events();
  const auto store = RunStore::create(folder / "r", "", Durability::power).value();
  ASSERT_TRUE(store->append(events));
  EXPECT_EQ(events_of(*store).size(), events.size());
}

TEST(RunStore, WritesTheBestAllAtOnce) {
  const TemporaryFolder folder;
  const auto store = RunStore::create(folder / "r", "").value();
  ASSERT_TRUE(store->write_best(individual({{"old.cpp", "1"}}), "{}"));
  ASSERT_TRUE(store->write_best(individual({{"new.cpp", "2"}, {"inc/a.hpp", "3"}}), R"({"x":1})"));
  EXPECT_EQ(file_bytes(store->best_folder() / "new.cpp"), "2");
  EXPECT_EQ(file_bytes(store->best_folder() / "inc/a.hpp"), "3");
  EXPECT_EQ(file_bytes(store->best_folder() / "report.json"), R"({"x":1})");
  EXPECT_FALSE(fs::exists(store->best_folder() / "old.cpp"));
  EXPECT_FALSE(fs::exists(folder / "r/best.new"));
}

TEST(RunStore, TheReportGivesWayToAFileOfItsName) {
  const TemporaryFolder folder;
  const auto store = RunStore::create(folder / "r", "").value();
  ASSERT_TRUE(store->write_best(individual({{"report.json", "mine"}, {"_report.json/x", "too"}}), "{}"));
  EXPECT_EQ(file_bytes(store->best_folder() / "report.json"), "mine");
  EXPECT_EQ(file_bytes(store->best_folder() / "__report.json"), "{}");
}

TEST(RunStore, ReplacesTheConfiguration) {
  const TemporaryFolder folder;
  const auto store = RunStore::create(folder / "r", "old").value();
  ASSERT_TRUE(store->write_configuration("new"));
  EXPECT_EQ(store->configuration().value(), "new");
}

}  // namespace
}  // namespace kernelsmith
