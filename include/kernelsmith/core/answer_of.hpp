// answer_of: waits for the answer of an Evaluator, a Proposer or a model.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include <kernelsmith/core/evaluator.hpp>

namespace kernelsmith {

/// Calls start(done) and returns the argument of `done`. At that time `done` may still be running its last
/// lines in another thread. Therefore `done` uses nothing on the waiting thread's stack.
template <class T, class Start>
std::future<Result<T>> answer_of(Start start) {
  const auto answer = std::make_shared<std::promise<Result<T>>>();
  auto future = answer->get_future();
  start(Sink<T>([answer](Result<T> given) { answer->set_value(std::move(given)); }));
  return future;
}

}  // namespace kernelsmith
