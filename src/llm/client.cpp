// The queue of calls, their retries and the client's thread.
#include <algorithm>
#include <csignal>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <sys/resource.h>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/llm/client.hpp>

#include "attempt.hpp"
#include "transport.hpp"

namespace kernelsmith {
namespace {

using Clock = std::chrono::steady_clock;
using llm::AttemptEnd;
using llm::AttemptRun;

/// A call needs a socket, and the rest of the process a few more.
void raise_descriptor_limit(unsigned calls) {
  constexpr rlim_t kOthers = 256;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, calls + kOthers);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);  // refused: calls beyond it fail as `network` and are retried
}

/// Tokens as the pacing counts them: four bytes each, and the output limit.
double estimated_tokens(const ModelCall& call, const ModelTraits& traits) {
  constexpr double kBytesPerToken = 4;
  std::size_t bytes = 0;
  for (const Message& message : call.messages) bytes += message.text.size();
  const auto output = call.max_output_tokens.value_or(traits.default_token_limit);
  return static_cast<double>(bytes) / kBytesPerToken + static_cast<double>(output);
}

/// A call from start() to its answer. Used on the client's thread.
struct LiveCall {
  LiveCall(boost::asio::io_context& context, std::uint64_t seed, std::uint64_t number)
      : rng(seed, number, Purpose::retry), pause(context) {}

  std::string body;
  bool stream = true;
  double tokens = 0;
  Sink<ModelReply> done;
  LostCallSink lost;
  Rng rng;
  boost::asio::steady_timer pause;
  unsigned failed = 0;
  std::uint64_t paced_as = 0;
  std::shared_ptr<AttemptRun> attempt;
  std::optional<std::stop_callback<std::function<void()>>> stopped;
};
using LiveCallPtr = std::shared_ptr<LiveCall>;

}  // namespace

class ModelClient::Impl {
 public:
  Impl(Endpoint endpoint, ClientOptions options)
      : endpoint_(std::move(endpoint)),
        options_(std::move(options)),
        pacer_(options_.pacing, Clock::now()),
        next_slot_(context_) {
    raise_descriptor_limit(options_.pacing.concurrency);
    thread_ = std::thread([this] { serve(); });
  }

  ~Impl() {
    {
      MutexLock lock(mutex_);
      idle_.wait(lock, [this]() KERNELSMITH_REQUIRES(mutex_) { return unanswered_ == 0; });
    }
    context_.stop();
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void start(ModelCall call, std::stop_token stop, Sink<ModelReply> done, LostCallSink lost) {
    {
      const MutexLock lock(mutex_);
      ++unanswered_;
    }
    boost::asio::post(context_, [this, call = std::move(call), stop = std::move(stop), done = std::move(done),
                                 lost = std::move(lost)] { begin(call, stop, done, lost); });
  }

 private:
  static constexpr std::chrono::seconds kWorthTelling{10};

  /// The thread. It takes no signals: closing a connection that the server has closed raises SIGPIPE.
  void serve() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    transport_.emplace(context_, options_.pacing.concurrency);
    context_.run();
    transport_.reset();
  }

  void begin(const ModelCall& call, const std::stop_token& stop, const Sink<ModelReply>& done,
             const LostCallSink& lost) {
    auto live = std::make_shared<LiveCall>(context_, options_.seed, ++calls_);
    live->done = done;
    live->lost = lost;
    live_.insert(live);
    if (stop.stop_requested()) return answer(live, fail(ErrorCode::cancelled, "stopped before it was sent"));
    const ModelTraits traits = traits_of(endpoint_.protocol, call.model);
    auto body = encode_call(endpoint_.protocol, call, traits);
    if (!body) return answer(live, body.error());
    live->body = std::move(*body);
    live->stream = call.stream;
    live->tokens = estimated_tokens(call, traits);
    queue_.push_back(live);
    // The callback may run on any thread, and after the call's end.
    live->stopped.emplace(stop, [this, weak = std::weak_ptr(live)] {
      boost::asio::post(context_, [this, weak] {
        if (const auto stopped = weak.lock(); stopped && live_.contains(stopped)) cancel(stopped);
      });
    });
    pump();
  }

  /// Sends what may be sent now.
  void pump() {
    while (!queue_.empty()) {
      const auto now = Clock::now();
      if (now < spent_until_) {
        const LiveCallPtr call = std::move(queue_.front());
        queue_.pop_front();
        turn_away(call, std::chrono::ceil<std::chrono::seconds>(spent_until_ - now));
        continue;
      }
      const auto wait = pacer_.wait_for(queue_.front()->tokens, now);
      if (!wait) return;  // the end of another call pumps again
      if (*wait > std::chrono::milliseconds{0}) {
        tell_of_wait(*wait);
        next_slot_.expires_at(now + *wait);
        next_slot_.async_wait([this](const boost::system::error_code& error) {
          if (!error) pump();
        });
        return;
      }
      const LiveCallPtr call = std::move(queue_.front());
      queue_.pop_front();
      send(call);
    }
  }

  void tell_of_wait(std::chrono::milliseconds wait) {
    const auto until = Clock::now() + wait;
    if (wait < kWorthTelling || !options_.notice || until <= told_until_ + kWorthTelling) return;
    told_until_ = until;
    options_.notice(
        {Notice::Level::warning, "the next call goes out in " + std::to_string(wait.count() / 1000) +
                                     " s: proposer.requests_per_minute, tokens_per_minute and the "
                                     "server's pauses allow none before"});
  }

  void send(const LiveCallPtr& call) {
    call->paced_as = pacer_.begun(call->tokens, Clock::now());
    call->attempt = std::make_shared<AttemptRun>(
        context_, *transport_, endpoint_, options_.limits, call->stream,
        [this, weak = std::weak_ptr(call)](AttemptEnd end) { ended(weak.lock(), std::move(end)); });
    call->attempt->start(call->body);
  }

  void ended(const LiveCallPtr& call, AttemptEnd end) {
    call->attempt.reset();
    pacer_.ended(call->paced_as, pace_of(end));
    note_answer(end.reply);
    tell_lost(call, end.lost);
    if (end.pause) hold(*end.pause);
    if (end.reply) {
      tell_of_reasoning(*end.reply);
      answer(call, std::move(*end.reply));
    } else {
      failed(call, end.reply.error());
    }
    pump();
  }

  /// Once: it is the same with every reply if a server takes the answer for reasoning.
  void tell_of_reasoning(const ModelReply& reply) {
    if (told_of_reasoning_ || !options_.notice || !is_only_reasoning(reply)) return;
    told_of_reasoning_ = true;
    options_.notice(
        {Notice::Level::warning,
         "a reply has no text, all of it is called reasoning (reasoning_content): if that holds a "
         "complete program, it is taken. The server's reasoning parser may not fit the model"});
  }

  static void tell_lost(const LiveCallPtr& call, const std::optional<LostCall>& lost) {
    if (lost && call->lost) call->lost(*lost);
  }

  /// A server that has refused every call so far would have refused what is broken off now.
  bool may_be_billed(const AttemptRun& attempt) const { return attempt.accepted() || !refuses_; }

  void note_answer(const Attempt<ModelReply>& reply) {
    if (reply) {
      refuses_ = false;
      answered_ = true;
      return;
    }
    const CallFailure& failure = reply.error();
    const ErrorCode code = failure.error.code;
    const bool refused = code == ErrorCode::permission || code == ErrorCode::not_found ||
                         code == ErrorCode::invalid_argument ||
                         (code == ErrorCode::rate_limited && !failure.transient);
    refuses_ = refuses_ || (refused && !answered_);
  }

  /// The server's rate limits leave nothing for so long. A pause that no call would wait for by itself ends
  /// those that come within it.
  void hold(std::chrono::milliseconds pause) {
    const auto until = Clock::now() + pause;
    if (pause > options_.retry.longest_asked_pause) {
      spent_until_ = std::max(spent_until_, until);
      return;
    }
    pacer_.hold_until(until);
    if (pause < kWorthTelling || !options_.notice || until <= told_until_ + kWorthTelling) return;
    told_until_ = until;
    options_.notice({Notice::Level::warning, "the server's rate limits are used up: no call goes out for " +
                                                 std::to_string(pause.count() / 1000) + " s"});
  }

  void turn_away(const LiveCallPtr& call, std::chrono::seconds left) {
    answer(call,
           fail(ErrorCode::rate_limited,
                "the server's rate limits are used up for another " + std::to_string(left.count()) + " s",
                endpoint_.base_url, "go on later, or ask the provider for larger limits"));
  }

  static Pacer::End pace_of(const AttemptEnd& end) {
    if (end.reply) return Pacer::End::success;
    const CallFailure& failure = end.reply.error();
    if (!failure.overloaded) return Pacer::End::other;
    return failure.retry_after || end.hinted ? Pacer::End::hinted : Pacer::End::overloaded;
  }

  void failed(const LiveCallPtr& call, CallFailure failure) {
    ++call->failed;
    failure.error = llm::without_key(std::move(failure.error), endpoint_);
    if (failure.error.where.empty()) failure.error.where = endpoint_.base_url;
    const auto pause = options_.retry.pause(call->failed, failure, call->rng);
    if (!pause) return answer(call, options_.retry.final_error(call->failed, failure));
    // A server that names a pause means the key, not the call.
    if (failure.overloaded && failure.retry_after) pacer_.hold_until(Clock::now() + *failure.retry_after);
    if (options_.notice)
      options_.notice({Notice::Level::info,
                       describe(failure.error) + "; again in " + std::to_string(pause->count()) + " ms"});
    call->pause.expires_after(*pause);
    call->pause.async_wait([this, call](const boost::system::error_code& error) {
      if (error || !live_.contains(call)) return;
      queue_.push_front(call);
      pump();
    });
  }

  void cancel(const LiveCallPtr& call) {
    std::erase(queue_, call);
    if (call->attempt) {
      if (auto whole = call->attempt->take_whole()) {
        call->attempt.reset();
        pacer_.ended(call->paced_as, Pacer::End::success);
        answer(call, std::move(*whole));
        return pump();
      }
      if (may_be_billed(*call->attempt)) tell_lost(call, call->attempt->lost_now());
      call->attempt.reset();
      pacer_.ended(call->paced_as, Pacer::End::other);
    }
    answer(call, fail(ErrorCode::cancelled, "the call was stopped"));
    pump();
  }

  void answer(const LiveCallPtr& call, Result<ModelReply> result) {
    live_.erase(call);
    call->pause.cancel();
    call->stopped.reset();
    std::exchange(call->done, nullptr)(std::move(result));
    const MutexLock lock(mutex_);
    if (--unanswered_ == 0) idle_.notify_all();
  }

  const Endpoint endpoint_;
  const ClientOptions options_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  std::optional<llm::Transport> transport_;  ///< while the thread runs
  Pacer pacer_;
  boost::asio::steady_timer next_slot_;
  std::set<LiveCallPtr> live_;
  std::deque<LiveCallPtr> queue_;
  std::uint64_t calls_ = 0;
  Clock::time_point spent_until_;  ///< calls are turned away, as the server's rate limits say
  Clock::time_point told_until_;   ///< the user knows of the pause until then
  bool answered_ = false;          ///< a call
  bool told_of_reasoning_ = false;
  bool refuses_ = false;  ///< the server refused a call, and has answered none

  Mutex mutex_;
  Condition idle_;
  std::size_t unanswered_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

std::uint64_t fresh_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

Result<std::shared_ptr<ModelClient>> ModelClient::create(Endpoint endpoint, ClientOptions options) {
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  if (const Status ok = check_endpoint(endpoint); !ok) return ok.error();
  return std::shared_ptr<ModelClient>(
      new ModelClient(std::make_unique<Impl>(std::move(endpoint), std::move(options))));
}

ModelClient::ModelClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ModelClient::~ModelClient() = default;

void ModelClient::start(ModelCall call, std::stop_token stop, Sink<ModelReply> done, LostCallSink lost) {
  impl_->start(std::move(call), std::move(stop), std::move(done), std::move(lost));
}

}  // namespace kernelsmith
