#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include <kernelsmith/core/waiting.hpp>

namespace kernelsmith {
namespace {

using namespace std::chrono_literals;

constexpr Moment kNow{1h};

TEST(Waiting, PausesDoubleUpToTheLongest) {
  EXPECT_EQ(growing_pause(500ms, 1), 500ms);
  EXPECT_EQ(growing_pause(500ms, 3), 2s);
  EXPECT_EQ(growing_pause(500ms, 9, 60s), 60s);
  EXPECT_EQ(growing_pause(0s, 2000), 0s) << "a pause of zero does not grow";
}

TEST(Waiting, AStopEndsAPause) {
  std::stop_source stop;
  stop.request_stop();
  pause_for(1h, stop.get_token());  // returns
  wait_for_stop(stop.get_token());
}

TEST(Rest, GrowsFromFailureToFailureUntilItSucceeds) {
  Rest rest(5s, 12s);
  EXPECT_FALSE(rest.lasts(kNow));
  EXPECT_TRUE(rest.failed(kNow));
  EXPECT_TRUE(rest.lasts(kNow + 4s));
  EXPECT_FALSE(rest.failed(kNow + 4s)) << "it was under way when the rest began";
  EXPECT_EQ(rest.until(), kNow + 5s);
  EXPECT_FALSE(rest.lasts(kNow + 5s));
  EXPECT_TRUE(rest.failed(kNow + 5s));
  EXPECT_EQ(rest.length(), 10s);
  EXPECT_TRUE(rest.failed(kNow + 15s));
  EXPECT_EQ(rest.length(), 12s);
  rest.succeeded();
  EXPECT_TRUE(rest.failed(kNow + 27s));
  EXPECT_EQ(rest.length(), 5s);
}

TEST(Deferred, CallsWithoutTheLockThatWasTakenAfterIt) {
  Mutex mutex;
  int calls = 0;
  {
    Deferred deferred;
    const MutexLock lock(mutex);
    for (int i = 0; i < 2; ++i)
      deferred.add([&] {
        const MutexLock again(mutex);
        ++calls;
      });
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 2);
}

TEST(Mailbox, GivesWhatWasPostedInOrder) {
  Mailbox<int> mailbox;
  EXPECT_FALSE(mailbox.take(Moment{})) << "the moment is over";
  std::jthread poster([&] {
    mailbox.post(1);
    mailbox.post(2);
  });
  EXPECT_EQ(mailbox.take(), 1);
  EXPECT_EQ(mailbox.take(), 2);
  mailbox.wake();
  EXPECT_FALSE(mailbox.take());
  EXPECT_FALSE(mailbox.take(Moment{})) << "it was woken once";
}

TEST(Mailbox, IsClosedForGood) {
  Mailbox<std::unique_ptr<int>> mailbox;
  mailbox.post(std::make_unique<int>(1));
  const auto left = mailbox.close();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(*left.front(), 1);
  auto late = std::make_unique<int>(2);
  EXPECT_FALSE(mailbox.post(std::move(late)));
  EXPECT_TRUE(late) << "whoever posts keeps it";
}

TEST(Repeater, CallsAgainAtTheMomentThatItIsGiven) {
  std::promise<void> third;
  std::atomic<int> calls = 0;
  const Repeater repeater(
      [&](Moment now, const std::stop_token&) {
        if (++calls == 3) third.set_value();
        return calls < 3 ? now : Moment::max();
      },
      Moment{});
  third.get_future().wait();
}

TEST(Repeater, SleepsUntilItIsWoken) {
  std::promise<void> called;
  Repeater repeater(
      [&](Moment, const std::stop_token&) {
        called.set_value();  // throws at a second call
        return Moment::max();
      },
      Moment::max());
  auto future = called.get_future();
  repeater.wake();
  future.wait();
}

TEST(Repeater, EndsAfterTheCallThatIsUnderWay) {
  std::promise<void> begun;
  bool ended = false;
  {
    const Repeater repeater(1h, [&](const std::stop_token& stop) {
      begun.set_value();
      wait_for_stop(stop);
      ended = true;
    });
    begun.get_future().wait();
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace kernelsmith
