// answer_of: a request to an Evaluator, a Proposer or a model, for whoever wants to wait for what comes of
// it.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include <kernelsmith/core/evaluator.hpp>

namespace kernelsmith {

/// Calls start(done) and gives what `done` gets. Whoever waits for it may go on while `done` still returns in
/// another thread: nothing of it is on the waiting one's stack.
template <class T, class Start>
std::future<Result<T>> answer_of(Start start) {
  const auto answer = std::make_shared<std::promise<Result<T>>>();
  auto future = answer->get_future();
  start(Sink<T>([answer](Result<T> given) { answer->set_value(std::move(given)); }));
  return future;
}

}  // namespace kernelsmith
