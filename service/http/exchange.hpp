// Exchange: connects a request's handler, which runs on any thread, with its connection, which runs on a
// strand.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/service/http_message.hpp>

namespace kernelsmith::http {

/// The handler's side gives an answer, or begins a stream and adds to it; the connection's side is woken and
/// takes it. Each side learns when the other has ended. Thread-safe.
class Exchange {
 public:
  /// `wake` is called with the lock held, whenever there is something to take, until detach().
  explicit Exchange(std::function<void()> wake) : wake_(std::move(wake)) {}

  // The handler's side.
  bool answer(Response response);
  bool begin_stream();
  bool push(std::string_view bytes);
  void end_stream();
  bool is_closed() const;

  // The connection's side.
  struct Taken {
    std::optional<Response> response;
    bool streaming = false;
    std::string bytes;  ///< of the stream
    bool ended = false;
  };
  Taken take();
  void detach();

 private:
  void wake() const KERNELSMITH_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::function<void()> wake_ KERNELSMITH_GUARDED_BY(mutex_);  ///< empty once the connection is gone
  std::optional<Response> response_ KERNELSMITH_GUARDED_BY(mutex_);
  bool answered_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  bool streaming_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  bool ended_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  std::string bytes_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::http
