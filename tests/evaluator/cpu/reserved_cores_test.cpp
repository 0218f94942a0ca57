// Reserved cores: which are taken, who else may have them, and what goes first on them.
#include "clock/reserved_cores.hpp"

#include <chrono>
#include <future>
#include <limits>
#include <thread>

#include <sched.h>
#include <unistd.h>

#include "testing.hpp"

namespace kernelsmith::cpu {
namespace {

using std::chrono::milliseconds;

/// Others on this machine may time something.
constexpr milliseconds kLong(60000);

std::vector<int> own_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mask)) cores.push_back(core);
  return cores;
}

/// A thread that stands still until it is let go, and starts another one then.
class Waiting {
 public:
  Waiting() : thread_([this] { run(); }) { id_ = started_.get_future().get(); }
  ~Waiting() {
    if (thread_.joinable()) let_go();
  }
  pid_t id() const { return id_; }
  /// The scheduling policy of the thread that it started.
  int let_go() {
    go_.set_value();
    thread_.join();
    return childs_policy_;
  }

 private:
  void run() {
    started_.set_value(::gettid());
    go_.get_future().wait();
    std::thread([this] { childs_policy_ = ::sched_getscheduler(0); }).join();
  }

  std::promise<pid_t> started_;
  std::promise<void> go_;
  int childs_policy_ = -1;
  pid_t id_ = 0;
  std::thread thread_;
};

TEST(ReservedCores, AreAsManyAsAskedForOfThoseAllowed) {
  const std::vector<int> allowed = own_cores();
  const ReservedCores one(1);
  ASSERT_EQ(one.numbers().size(), 1U);
  EXPECT_NE(std::ranges::find(allowed, one.numbers().front()), allowed.end());
}

TEST(ReservedCores, AreAllWhereThereAreTooFew) {
  EXPECT_EQ(ReservedCores(CPU_SETSIZE + 1).numbers(), own_cores());
}

TEST(ReservedCores, AreHeldByOneAtATime) {
  const ReservedCores mine(2), theirs(2);
  std::optional<ReservedCores::Hold> held(mine.hold(kLong).value());
  EXPECT_EQ(theirs.hold(milliseconds(20)).error().code, ErrorCode::unstable);
  held.reset();
  EXPECT_TRUE(theirs.hold(kLong));
}

TEST(ReservedCores, HoldingThemLeavesTheCallersPriorityAsItWas) {
  const ReservedCores cores(1);
  const int before = ::sched_getscheduler(0);
  {
    const auto held = cores.hold(kLong);
    ASSERT_TRUE(held);
  }
  EXPECT_EQ(::sched_getscheduler(0), before);
}

TEST(ReservedCores, ThreadsThatArePutFirstAreSoWithAllTheyStart) {
  Waiting waiting;
  const std::vector<pid_t> threads = {waiting.id()};
  const int expected = ReservedCores::put_first(threads) ? SCHED_RR : SCHED_OTHER;
  EXPECT_EQ(::sched_getscheduler(waiting.id()), expected);
  EXPECT_EQ(waiting.let_go(), expected);
}

TEST(ReservedCores, AThreadThatIsGoneCannotBePutFirst) {
  const std::vector<pid_t> threads = {std::numeric_limits<pid_t>::max()};
  EXPECT_FALSE(ReservedCores::put_first(threads));
}

}  // namespace
}  // namespace kernelsmith::cpu
