// A process that searches is killed with SIGKILL at drawn moments, and the run is resumed each time.

#include <array>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kernelsmith/engine/bandit.hpp>
#include <kernelsmith/store/run_store.hpp>

#include "temporary_folder.hpp"
#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

constexpr int kKills = 10;
constexpr std::uint64_t kIterations = 600;

EngineOptions options_for(bool deterministic) {
  auto options = toy_options(kIterations);
  options.deterministic = deterministic;
  options.topology = Topology::ring(3).value();
  options.repairs = 1;
  // What it has learned must not go down with the process.
  options.operators = std::make_shared<BanditOperators>(
      BanditOperators::create({{Operator::edit, "a"}, {Operator::rewrite, "a"}, {Operator::edit, "b"}})
          .value());
  return options;
}

/// Searches and writes the number of every ticket that was told, for a token each as long as there may be
/// any; never returns.
[[noreturn]] void search(const std::filesystem::path& run, bool deterministic, int pipe, int tokens) {
  auto engine = Engine::open(run, options_for(deterministic), blocking(score, 2), blocking(nudge, 2));
  if (!engine) ::_exit(1);
  const auto outcome = engine->run([&](const Commit& commit) {
    char token = 0;
    if (::write(pipe, &commit.ticket.value, sizeof commit.ticket.value) < 0 || ::read(tokens, &token, 1) < 0)
      ::_exit(2);
  });
  ::_exit(outcome ? 0 : 3);
}

struct Session {
  std::set<std::uint64_t> told;
  bool killed = false;
};

/// Kills the search soon behind its `moment`-th commit, or lets it end.
Session search_and_kill(const std::filesystem::path& run, bool deterministic, std::uint64_t moment) {
  constexpr std::uint64_t kAhead = 10;  // how far it gets while this process gets no time
  std::array<int, 2> ends{}, tokens{};
  EXPECT_EQ(::pipe(ends.data()) + ::pipe(tokens.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(tokens[1]);
    search(run, deterministic, ends[1], tokens[0]);
  }
  ::close(ends[1]);
  ::close(tokens[0]);
  const std::string most(moment > 0 ? moment + kAhead : 0, 't');
  EXPECT_EQ(::write(tokens[1], most.data(), most.size()), static_cast<ssize_t>(most.size()));
  if (moment == 0) ::close(tokens[1]);
  Session session;
  std::uint64_t ticket = 0;
  while (::read(ends[0], &ticket, sizeof ticket) == sizeof ticket) {
    EXPECT_TRUE(session.told.insert(ticket).second);
    if (session.told.size() == moment) ::kill(child, SIGKILL);
  }
  ::close(ends[0]);
  if (moment > 0) ::close(tokens[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  session.killed = WIFSIGNALED(status);
  EXPECT_TRUE(session.killed || WEXITSTATUS(status) == 0) << "status " << status;
  return session;
}

class Kill : public ::testing::TestWithParam<bool> {};

TEST_P(Kill, LosesAndDoublesNothing) {
  const TemporaryFolder folder;
  const auto run = folder / "toy.run";
  Rng moments(GetParam(), 0, Purpose::evaluation);
  std::set<std::uint64_t> told;
  int killed = 0;
  for (int i = 0; i < kKills; ++i) {
    const auto session = search_and_kill(run, GetParam(), 1 + moments.below(40));
    killed += session.killed;
    for (const auto ticket : session.told) {
      EXPECT_TRUE(told.insert(ticket).second) << "ticket " << ticket << " was answered in two sessions";
    }
    const auto store = RunStore::open_read_only(run).value();
    EXPECT_TRUE(store->integrity_check());
    const auto state = replay(*store, options_for(GetParam())).value();
    for (const auto ticket : told) {
      EXPECT_LT(ticket, state.next_ticket().value);
      EXPECT_FALSE(state.open().contains(TicketId{ticket})) << "ticket " << ticket << " was lost";
    }
  }
  EXPECT_GE(killed, kKills / 2);
  search_and_kill(run, GetParam(), 0);
  const auto final_state = replay(*RunStore::open_read_only(run).value(), options_for(GetParam())).value();
  EXPECT_EQ(final_state.counts().iterations, kIterations);
  if (GetParam()) {
    Engine whole = open_engine(options_for(true), no_events(), blocking(score), blocking(nudge));
    ASSERT_TRUE(whole.run());
    EXPECT_EQ(final_state.to_text(), text_of(whole));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Kill, ::testing::Bool(),
                         [](const auto& mode) { return mode.param ? "deterministic" : "free"; });

}  // namespace
}  // namespace kernelsmith
