// A kernel on the processor: the threads of a block as fibers, which give way at barriers and exchanges of
// lanes. For the one file of a driver that includes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/mman.h>

#include "../fake_gpu_core.hpp"

namespace fake {

// As include/stand_in/device.h declares them.
struct Size {
  unsigned x = 1, y = 1, z = 1;
};
struct Place {
  Size grid, block, at, thread;
  void* dynamic_shared = nullptr;
  unsigned lane_word = 0;
};
struct Services {
  void (*wait_block)() = nullptr;
  void (*wait_wave)() = nullptr;
  void (*exchange)(const void* mine, void* theirs, unsigned bytes, unsigned from) = nullptr;
  Place* place = nullptr;
};
struct KernelEntry {
  const char* name;
  const void* host;
  void (*run)(void** arguments);
  unsigned count;
  const unsigned *offsets, *sizes;
  KernelEntry* next;
};

}  // namespace fake

/// Saves what a function has to keep, leaves the stack's place in *from, and goes on where `to` was left.
extern "C" void stand_in_switch(void** from, void* to);
asm(R"(
.text
.type stand_in_switch, @function
stand_in_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

namespace fake {

/// The threads of one block, as fibers of the thread that carries out the device's work.
class Block {
 public:
  enum class State { ready, at_block, at_wave, done };

  void run(const KernelEntry& kernel, Place& place, void** arguments) {
    kernel_ = &kernel;
    place_ = &place;
    arguments_ = arguments;
    const std::size_t count = count_of_block();
    if (fibers_.size() < count) fibers_.resize(count);
    for (std::size_t i = 0; i < count; ++i) fibers_[i] = {.index = i};
    running() = this;
    std::size_t left = count;
    while (left > 0) {
      bool moved = false;
      for (std::size_t i = 0; i < count; ++i) {
        if (fibers_[i].state != State::ready) continue;
        moved = true;
        resume(fibers_[i]);
        if (fibers_[i].state == State::done) --left;
      }
      if (!moved && !release(count)) {
        gpu().fault = abi::kLaunchFailed;  // barriers that not all reach
        return;
      }
    }
  }

  void wait(State state) {
    Fiber& mine = *current_;
    mine.state = state;
    stand_in_switch(&mine.place, main_);
  }

  void exchange(const void* mine, void* theirs, unsigned bytes, unsigned from) {
    std::memcpy(current_->given, mine, bytes);
    wait(State::at_wave);
    const std::size_t first = current_->index / kLanes * kLanes;
    const std::size_t other = first + from < count_of_block() ? first + from : current_->index;
    std::memcpy(theirs, fibers_[other].given, bytes);
    wait(State::at_wave);  // nobody gives the next before all have taken this
  }

 private:
  static constexpr std::size_t kLanes = 64, kStack = 128 << 10;
  struct Fiber {
    void* place = nullptr;  ///< of its stack, while it waits; null before it has begun
    char* stack = nullptr;
    State state = State::ready;
    std::size_t index = 0;
    char given[16] = {};
  };

  std::size_t count_of_block() const {
    return std::size_t{place_->block.x} * place_->block.y * place_->block.z;
  }

  /// Most threads wait for nobody, and have the stack of the one before.
  char* free_stack() {
    if (stacks_.empty()) {
      void* const made = ::mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (made == MAP_FAILED) std::abort();
      return static_cast<char*>(made);
    }
    char* const stack = stacks_.back();
    stacks_.pop_back();
    return stack;
  }
  void begin(Fiber& fiber) {
    fiber.stack = free_stack();
    // As stand_in_switch leaves a stack: six registers, and where to go on.
    auto* top = reinterpret_cast<std::uintptr_t*>(fiber.stack + kStack);
    *--top = 0;  // enter() finds the stack as behind a call
    *--top = reinterpret_cast<std::uintptr_t>(&enter);
    for (int i = 0; i < 6; ++i) *--top = 0;
    fiber.place = top;
  }
  void resume(Fiber& fiber) {
    current_ = &fiber;
    if (fiber.place == nullptr) begin(fiber);
    place_->thread = {static_cast<unsigned>(fiber.index % place_->block.x),
                      static_cast<unsigned>(fiber.index / place_->block.x % place_->block.y),
                      static_cast<unsigned>(fiber.index / place_->block.x / place_->block.y)};
    stand_in_switch(&main_, fiber.place);
    if (fiber.state == State::done) stacks_.push_back(fiber.stack);
  }
  static Block*& running() {
    static Block* block = nullptr;
    return block;
  }
  static void enter() {
    Block& block = *running();
    block.kernel_->run(block.arguments_);
    block.wait(State::done);
  }
  /// Lets go whoever waits for nobody any more.
  bool release(std::size_t count) {
    bool any = false;
    for (std::size_t first = 0; first < count; first += kLanes) {
      const std::size_t end = std::min(first + kLanes, count);
      if (all(first, end, State::at_wave)) any |= let_go(first, end);
    }
    return any || (all(0, count, State::at_block) && let_go(0, count));
  }
  bool all(std::size_t first, std::size_t end, State state) const {
    bool some = false;
    for (std::size_t i = first; i < end; ++i) {
      if (fibers_[i].state == State::done) continue;
      if (fibers_[i].state != state) return false;
      some = true;
    }
    return some;
  }
  bool let_go(std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      if (fibers_[i].state != State::done) fibers_[i].state = State::ready;
    return true;
  }

  const KernelEntry* kernel_ = nullptr;
  Place* place_ = nullptr;
  void** arguments_ = nullptr;
  Fiber* current_ = nullptr;
  void* main_ = nullptr;
  std::vector<Fiber> fibers_;
  std::vector<char*> stacks_;  ///< that no fiber has
};

}  // namespace fake
