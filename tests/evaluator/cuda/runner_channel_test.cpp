// Messages between judge and runner, with a fake peer at the other end of the socket.
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner/faults.hpp"
#include "runner/protocol.hpp"
#include "runner/replayer.hpp"
#include "testing.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda {
namespace {

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Channel::create().value();
    ends_.emplace(std::move(made));
  }
  Channel& ours() { return ends_->first; }
  Channel& theirs() { return ends_->second; }
  std::optional<std::pair<Channel, Channel>> ends_;
};

TEST_F(ChannelTest, AMessageArrivesWithItsPayloadAndDescriptors) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const auto payload = plan::encoded(std::string("seven"));
  ASSERT_TRUE(ours().send(MessageKind::map, payload, std::span(pipe).subspan(1)).has_value());
  auto message = theirs().receive().value();
  EXPECT_EQ(message.kind, MessageKind::map);
  EXPECT_EQ(plan::decoded<std::string>(message.payload), "seven");
  ASSERT_EQ(message.descriptors.size(), 1U);
  EXPECT_EQ(::write(message.descriptors[0].get(), "x", 1), 1);
  char got = 0;
  EXPECT_EQ(::read(pipe[0], &got, 1), 1);
  EXPECT_EQ(got, 'x');
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(ChannelTest, LargeMessagesAndMostDescriptorsArriveWhole) {
  std::vector<std::byte> payload(10'000'000);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 7);
  const std::vector<int> descriptors(kMaxDescriptors, theirs().descriptor());
  std::jthread sender([&] { EXPECT_TRUE(ours().send(MessageKind::keep, payload, descriptors).has_value()); });
  const auto message = theirs().receive().value();
  EXPECT_TRUE(message.payload == payload);
  EXPECT_EQ(message.descriptors.size(), kMaxDescriptors);
}

TEST_F(ChannelTest, ADescriptorBelongsToTheMessageItWasSentWith) {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_TRUE(ours().send(MessageKind::unmap, {}).has_value());
  ASSERT_TRUE(ours().send(MessageKind::map, {}, std::span(&null, 1)).has_value());
  const auto first = theirs().receive();
  const auto second = theirs().receive();
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(first->descriptors.size(), 0U);
  EXPECT_EQ(second->descriptors.size(), 1U);
  ::close(null);
}

TEST_F(ChannelTest, TooManyDescriptorsAreRefused) {
  const std::vector<int> descriptors(kMaxDescriptors + 1, 0);
  EXPECT_EQ(ours().send(MessageKind::map, {}, descriptors).error().code, ErrorCode::invalid_argument);
}

TEST_F(ChannelTest, AClosedEndIsAnErrorOnBothSides) {
  theirs().close();
  EXPECT_EQ(ours().receive().error().code, ErrorCode::io);
  EXPECT_EQ(ours().send(MessageKind::done, {}).error().code, ErrorCode::io);
}

TEST_F(ChannelTest, WhatIsNoMessageIsAnError) {
  const std::array<char, 16> nonsense{"not a message"};
  ASSERT_EQ(::send(theirs().descriptor(), nonsense.data(), nonsense.size(), 0), 16);
  EXPECT_THAT(ours().receive().error().message, HasSubstr("not a message"));
}

TEST_F(ChannelTest, SilenceEndsAtTheDeadline) {
  const auto now = Channel::Clock::now();
  EXPECT_EQ(ours().receive(now).error().code, ErrorCode::timeout);
}

TEST_F(ChannelTest, AWakeUpCancels) {
  const Descriptor wake(::eventfd(1, EFD_CLOEXEC));
  EXPECT_EQ(ours().receive({}, wake.get()).error().code, ErrorCode::cancelled);
}

TEST(Payload, WhatIsCutShortIsNoticed) {
  const auto bytes = plan::encoded(std::uint32_t{100});
  EXPECT_FALSE(plan::decoded<std::string>(bytes)) << "a length of 100, and no text";
}

TEST(Refusal, ErrorsAndRejectionsComeBackAsTheyWere) {
  const auto returned = [](const RunnerRefusal& refusal) {
    return refusal_of({MessageKind::refused, plan::encoded(refusal), {}});
  };
  const Error error = fail(ErrorCode::unsupported, "a", "b", "c");
  const RunnerRefusal first = returned({error, false});
  EXPECT_EQ(std::get<Error>(first.failure), error);
  EXPECT_FALSE(first.fatal);
  const Rejection rejection{Stage::run, RejectionCode::crashed, "words", {}};
  const RunnerRefusal second = returned({rejection, true});
  EXPECT_EQ(std::get<Rejection>(second.failure), rejection);
  EXPECT_TRUE(second.fatal);
}

TEST(Faults, TheDeedIsToldInWords) {
  EXPECT_THAT(deed(nvidia(), abi::kIllegalAddress), HasSubstr("touched memory outside its buffers"));
  EXPECT_TRUE(is_sticky(nvidia(), abi::kIllegalAddress));
  EXPECT_FALSE(is_sticky(nvidia(), abi::kInvalidValue));
  EXPECT_FALSE(is_sticky(nvidia(), abi::kLaunchOutOfResources));
  EXPECT_EQ(deed(nvidia(), abi::kEccUncorrectable), "") << "the machine's fault, not the kernel's";
}

TEST(PoisonWord, IsNotANumberAtAnyWidth) {
  const auto below = random_from_system();
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t word = poison_word(below);
    for (const std::uint32_t half : {word & 0xffffU, word >> 16}) {
      EXPECT_EQ(half & 0x7ff0U, 0x7ff0U);
      EXPECT_NE(half & 0xfU, 0U);
    }
  }
}

}  // namespace
}  // namespace kernelsmith::cuda
