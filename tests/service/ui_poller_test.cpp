// The poller looks only if somebody wants to know, and not too often.
#include <atomic>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/exchange.hpp"
#include "poller.hpp"

namespace kernelsmith::ui {
namespace {

using std::chrono::milliseconds;

/// A browser that listens, without a network.
class Listener {
 public:
  ~Listener() { exchange_->detach(); }

  http::EventStream stream() {
    exchange_->begin_stream();
    return http::EventStream(exchange_);
  }

  /// Waits until it was sent a text with all of these, in order.
  void wait_for(const std::vector<std::string>& parts) {
    while (true) {
      const int seen = woken_;
      received_ += exchange_->take().bytes;
      if (has(parts)) return;
      woken_.wait(seen);
    }
  }

 private:
  bool has(const std::vector<std::string>& parts) const {
    std::size_t at = 0;
    for (const std::string& part : parts) {
      at = received_.find(part, at);
      if (at == std::string::npos) return false;
      at += part.size();
    }
    return true;
  }

  void wake() {
    ++woken_;
    woken_.notify_all();
  }

  std::atomic<int> woken_ = 0;
  std::string received_;
  std::shared_ptr<http::Exchange> exchange_ = std::make_shared<http::Exchange>([this] { wake(); });
};

/// Runs a job behind all that were posted before, and waits for it.
void settle(Poller& poller, const Poller::Job& job = {}) {
  const auto done = std::make_shared<std::promise<void>>();  // the poller may still be at it when we go on
  poller.post([&job, done] {
    if (job) job();
    done->set_value();
  });
  done->get_future().wait();
}

TEST(Poller, NobodyListensAndNothingIsLookedAt) {
  std::atomic<int> looks = 0;
  Poller poller(
      [&looks] {
        ++looks;
        return std::optional<std::string>("{}");
      },
      "{}", {.pause = milliseconds(0), .rest = 0});
  for (int i = 0; i < 100; ++i) settle(poller);
  EXPECT_EQ(looks, 0);
}

TEST(Poller, AListenerIsToldWhatThereIsAndThenWhatIsNew) {
  std::atomic<int> looks = 0;
  Poller poller(
      [&looks]() -> Result<std::optional<std::string>> {
        const int look = ++looks;
        if (look % 2 == 0) return std::optional<std::string>();  // as before
        return std::optional(std::to_string(look));
      },
      "first", {.pause = milliseconds(1), .rest = 0});
  Listener one, other;
  poller.add_listener(one.stream());
  one.wait_for({"event: summary\ndata: ", "event: summary\ndata: 3\n", "data: 5\n"});
  poller.add_listener(other.stream());
  other.wait_for({"event: summary\ndata: "});
}

TEST(Poller, ALookThatFailsIsToldOnceAndSoIsItsEnd) {
  std::atomic<int> looks = 0;
  Poller poller(
      [&looks]() -> Result<std::optional<std::string>> {
        const int look = ++looks;
        if (look == 2 || look == 3) return fail(ErrorCode::io, "the disk is on fire", "a.run");
        return std::optional<std::string>();
      },
      "first", {.pause = milliseconds(1), .rest = 0});
  Listener one;
  poller.add_listener(one.stream());
  one.wait_for({"data: first\n", "event: trouble\ndata: {\"code\":\"io\"", "event: summary\ndata: first\n"});
}

TEST(Poller, ItRestsThreeTimesAsLongAsItLooked) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::pair<Clock::time_point, Clock::time_point>> looks;
  Poller poller(
      [&looks]() -> Result<std::optional<std::string>> {
        const auto begin = Clock::now();
        while (Clock::now() < begin + milliseconds(3)) {
        }
        looks.emplace_back(begin, Clock::now());
        return std::optional(std::to_string(looks.size()));
      },
      "0", {.pause = milliseconds(1), .rest = 3});
  Listener one;
  poller.add_listener(one.stream());
  one.wait_for({"data: 4\n"});
  decltype(looks) seen;
  settle(poller, [&] { seen = looks; });
  ASSERT_GE(seen.size(), 4U);
  for (std::size_t i = 1; i < seen.size(); ++i)
    EXPECT_GE(seen[i].first - seen[i - 1].second, 3 * (seen[i - 1].second - seen[i - 1].first));
}

}  // namespace
}  // namespace kernelsmith::ui
