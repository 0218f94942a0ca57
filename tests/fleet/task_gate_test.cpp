#include "task_gate.hpp"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace kernelsmith::fleet {
namespace {

TEST(TaskGate, JobsOfOneTaskShareIt) {
  TaskGate gate;
  const TaskGate::Pass first(gate, digest_of("a"));
  std::jthread([&] { const TaskGate::Pass second(gate, digest_of("a")); });
}

TEST(TaskGate, TasksAreApartAndNobodyStarves) {
  TaskGate gate;
  std::atomic<int> inside[2] = {0, 0};
  std::atomic<bool> mixed = false;
  std::latch all(4);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        all.arrive_and_wait();
        const int task = t % 2;
        for (int i = 0; i < 200; ++i) {
          const TaskGate::Pass pass(gate, digest_of(task == 0 ? "a" : "b"));
          ++inside[task];
          if (inside[1 - task] > 0) mixed = true;
          --inside[task];
        }
      });
  }
  EXPECT_FALSE(mixed);
}

}  // namespace
}  // namespace kernelsmith::fleet
