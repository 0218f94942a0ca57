#include "poller.hpp"

#include <algorithm>
#include <utility>

#include <kernelsmith/session/run_json.hpp>

namespace kernelsmith::ui {

Poller::Poller(Look look, std::string first, Cadence cadence)
    : look_(std::move(look)),
      cadence_(cadence),
      summary_(std::move(first)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

void Poller::send_summary(http::Responder responder) {
  post([this, responder = std::move(responder)] {
    look_if_due();
    responder.send(trouble_ ? http::error_response(503, describe(*trouble_))
                            : http::Response{.body = summary_});
  });
}

void Poller::add_listener(http::EventStream stream) {
  post([this, stream = std::move(stream)]() mutable {
    look_if_due();
    stream.send("summary", summary_);
    if (trouble_) stream.send("trouble", error_json(*trouble_));
    listeners_.push_back(std::move(stream));
  });
}

void Poller::work(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { jobs_.wake(); });
  while (!stop.stop_requested()) {
    if (const auto job = listeners_.empty() ? jobs_.take() : jobs_.take(next_look_))
      (*job)();
    else if (!stop.stop_requested())
      look_if_due();
    std::erase_if(listeners_, [](const http::EventStream& stream) { return stream.closed(); });
  }
}

void Poller::look_if_due() {
  const auto begin = std::chrono::steady_clock::now();
  if (begin < next_look_) return;
  auto seen = look_();
  const auto end = std::chrono::steady_clock::now();
  next_look_ = end + std::max<Moment::duration>(cadence_.pause, cadence_.rest * (end - begin));
  if (!seen) {
    if (trouble_ == seen.error()) return;
    trouble_ = seen.error();
    return tell("trouble", error_json(*trouble_));
  }
  const bool recovered = std::exchange(trouble_, std::nullopt).has_value();
  if (*seen) summary_ = std::move(**seen);
  if (*seen || recovered) tell("summary", summary_);
}

void Poller::tell(const char* event, const std::string& data) {
  for (const http::EventStream& listener : listeners_) listener.send(event, data);
}

}  // namespace kernelsmith::ui
