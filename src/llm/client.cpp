// The queue of calls, their retries and the client's thread.
#include <algorithm>
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
#include "reply_form.hpp"
#include "transport.hpp"

namespace kernelsmith {
namespace {

using Clock = std::chrono::steady_clock;
using llm::AttemptEnd;
using llm::AttemptRun;

/// Raises the limit of descriptors: each call needs a socket, and the rest of the process a few more.
void raise_descriptor_limit(unsigned calls) {
  constexpr rlim_t kOthers = 256;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, calls + kOthers);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);  // if this fails, excess calls fail as `network` and are retried
}

/// The tokens that the pacing counts for a call: one for every four bytes, and the output limit.
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

  ModelCall call;
  std::string body;    ///< the encoded `call`
  bool other = false;  ///< whether `call` requests another form of reply than the caller did
  double tokens = 0;
  Sink<ModelReply> done;
  LostCallSink lost;
  Rng rng;
  boost::asio::steady_timer pause;
  unsigned failed = 0;
  std::optional<Error> last;  ///< the error of the latest failed attempt
  std::uint64_t paced_as = 0;
  Clock::time_point sent;
  std::shared_ptr<AttemptRun> attempt;
  std::stop_token ending;
  std::optional<std::stop_callback<std::function<void()>>> stopped, ended;
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

  void start(ModelCall call, std::stop_token stop, Sink<ModelReply> done, LostCallSink lost,
             std::stop_token ending) {
    {
      const MutexLock lock(mutex_);
      ++unanswered_;
    }
    boost::asio::post(context_, [this, call = std::move(call), stop = std::move(stop), done = std::move(done),
                                 lost = std::move(lost), ending = std::move(ending)]() mutable {
      begin(std::move(call), stop, std::move(done), std::move(lost), ending);
    });
  }

 private:
  static constexpr std::chrono::seconds kWorthTelling{10};

  /// The client's thread. It blocks signals, because closing a connection that the server has closed raises
  /// SIGPIPE.
  void serve() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    transport_.emplace(context_, options_.pacing.concurrency);
    context_.run();
    transport_.reset();
  }

  void begin(ModelCall call, const std::stop_token& stop, Sink<ModelReply> done, LostCallSink lost,
             const std::stop_token& ending) {
    auto live = std::make_shared<LiveCall>(context_, options_.seed, ++calls_);
    live->call = std::move(call);
    live->done = std::move(done);
    live->lost = std::move(lost);
    live->ending = ending;
    live_.insert(live);
    if (stop.stop_requested() || ending.stop_requested())
      return answer(live, fail(ErrorCode::cancelled, "stopped before it was sent"));
    if (const Status encoded = encode(*live); !encoded) return answer(live, encoded.error());
    live->tokens = estimated_tokens(live->call, traits_of(endpoint_.protocol, live->call.model));
    queue_.push_back(live);
    live->stopped.emplace(stop, posted(live, &Impl::cancel));
    live->ended.emplace(ending, posted(live, &Impl::finish));
    pump();
  }

  /// A callback for a stop token, which may call it on any thread, even after the call's end.
  std::function<void()> posted(const LiveCallPtr& live, void (Impl::*what)(const LiveCallPtr&)) {
    return [this, what, weak = std::weak_ptr(live)] {
      boost::asio::post(context_, [this, what, weak] {
        if (const auto call = weak.lock(); call && live_.contains(call)) (this->*what)(call);
      });
    };
  }

  Status encode(LiveCall& live) const {
    auto body = encode_call(endpoint_.protocol, live.call, traits_of(endpoint_.protocol, live.call.model));
    if (!body) return body.error();
    live.body = std::move(*body);
    return {};
  }

  /// Sends the calls that may be sent now.
  void pump() {
    while (!queue_.empty() && !trying_) {
      const auto now = Clock::now();
      if (unreadable_) {
        answer(first(), *unreadable_);
        continue;
      }
      if (now < spent_until_) {
        turn_away(first(), std::chrono::ceil<std::chrono::seconds>(spent_until_ - now));
        continue;
      }
      const auto wait = pacer_.wait_for(queue_.front()->tokens, now);
      if (!wait) return;  // the end of another call continues here
      if (*wait > std::chrono::milliseconds{0}) {
        tell_of_pause(*wait, "the next call goes out in " + std::to_string(wait->count() / 1000) +
                                 " s: proposer.requests_per_minute, tokens_per_minute and the server's "
                                 "pauses allow none before");
        next_slot_.expires_at(now + *wait);
        next_slot_.async_wait([this](const boost::system::error_code& error) {
          if (!error) pump();
        });
        return;
      }
      send(first());
    }
  }

  LiveCallPtr first() {
    LiveCallPtr call = std::move(queue_.front());
    queue_.pop_front();
    return call;
  }

  /// Reports a pause, but each pause only once.
  void tell_of_pause(std::chrono::milliseconds pause, const std::string& words) {
    const auto until = Clock::now() + pause;
    if (pause < kWorthTelling || until <= told_until_ + kWorthTelling) return;
    told_until_ = until;
    tell(words);
  }

  void send(const LiveCallPtr& call) {
    if (call->other != form_.is_other()) {
      call->other = form_.is_other();
      call->call.stream = !call->call.stream;
      if (const Status encoded = encode(*call); !encoded) return answer(call, encoded.error());
    }
    if (form_.is_trying()) trying_ = call;
    call->sent = Clock::now();
    call->paced_as = pacer_.begun(call->tokens, call->sent);
    call->attempt = std::make_shared<AttemptRun>(
        context_, *transport_, endpoint_, options_.limits, call->call.stream,
        [this, weak = std::weak_ptr(call)](AttemptEnd end) { ended(weak.lock(), std::move(end)); });
    call->attempt->start(call->body);
  }

  void ended(const LiveCallPtr& call, AttemptEnd end) {
    let_go(call, pace_of(end));
    note_answer(end.reply);
    tell_lost(call, end.lost);
    if (end.pause) hold(*end.pause);
    if (end.reply) {
      slowest_ = std::max(slowest_, std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - call->sent));
      tell_of_reasoning(*end.reply);
      if (form_.read(call->other))
        tell("the server's " + form_name(!call->call.stream) + " cannot be read, but its " +
             form_name(call->call.stream) +
             " can: every call asks for those from now on (proposer.models: stream)");
      answer(call, std::move(*end.reply));
    } else {
      failed(call, end.reply.error());
    }
    pump();
  }

  void let_go(const LiveCallPtr& call, Pacer::End how) {
    call->attempt.reset();
    if (trying_ == call) trying_.reset();
    pacer_.ended(call->paced_as, how);
  }

  static std::string form_name(bool streamed) { return streamed ? "streams" : "plain replies"; }

  void tell(const std::string& warning) const {
    if (options_.notice) options_.notice({Notice::Level::warning, warning});
  }

  /// Reports a reply that is only reasoning, but only once: a server that mistakes answers for reasoning does
  /// so with every reply.
  void tell_of_reasoning(const ModelReply& reply) {
    if (told_of_reasoning_ || !is_only_reasoning(reply)) return;
    told_of_reasoning_ = true;
    tell(
        "a reply has no text, only reasoning (reasoning_content): if the reasoning holds a "
        "complete program, that is used. The server's reasoning parser may not fit the model");
  }

  static void tell_lost(const LiveCallPtr& call, const std::optional<LostCall>& lost) {
    if (lost && call->lost) call->lost(*lost);
  }

  /// Whether the server may bill an aborted attempt. A server that has refused every call so far would have
  /// refused this one too.
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

  /// Sends no call for this pause, which the server's rate limits require. If the pause is longer than calls
  /// may wait, calls during the pause fail at once.
  void hold(std::chrono::milliseconds pause) {
    const auto until = Clock::now() + pause;
    if (pause > options_.retry.longest_asked_pause) {
      spent_until_ = std::max(spent_until_, until);
      return;
    }
    pacer_.hold_until(until);
    tell_of_pause(pause, "the server's rate limits are used up: no call goes out for " +
                             std::to_string(pause.count() / 1000) + " s");
  }

  void turn_away(const LiveCallPtr& call, std::chrono::seconds left) {
    answer(call,
           fail(ErrorCode::rate_limited,
                "the server's rate limits are used up for another " + std::to_string(left.count()) + " s",
                endpoint_.base_url, "continue later, or ask the provider for larger limits"));
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
    call->last = options_.retry.final_error(call->failed, failure);
    const bool is_unreadable = failure.transient && failure.error.code == ErrorCode::bad_reply;
    if (is_unreadable && note_unreadable(call) == llm::ReplyForm::Next::none)
      return answer(call, *unreadable_);
    if (!pause || call->ending.stop_requested()) return answer(call, *call->last);
    // A pause that a server requests applies to the key, not to the call.
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

  llm::ReplyForm::Next note_unreadable(const LiveCallPtr& call) {
    const auto next = form_.unreadable(call->other);
    const std::string so_many = std::to_string(llm::ReplyForm::kMostInARow) + " replies in a row ";
    if (next == llm::ReplyForm::Next::other)
      tell(so_many + "could not be read, so the next call asks for " + form_name(!call->call.stream) +
           " in place of " + form_name(call->call.stream) + ": " + call->last->message);
    if (next == llm::ReplyForm::Next::none) {
      unreadable_ = *call->last;
      unreadable_->message = "neither streams nor plain replies of this server can be read (" + so_many +
                             "in one form, then the other one): " + unreadable_->message;
      if (unreadable_->hint.empty())
        unreadable_->hint = "check the base URL and proposer.protocol; resume asks the server again";
    }
    return next;
  }

  /// Ends a call once nothing new is asked. The reply to a call under way may still take twice the time of
  /// the slowest reply so far to begin.
  void finish(const LiveCallPtr& call) {
    if (call->attempt) return call->attempt->hurry(2 * slowest_);
    std::erase(queue_, call);
    answer(call, call->last ? *call->last : fail(ErrorCode::cancelled, "stopped before it was sent"));
  }

  void cancel(const LiveCallPtr& call) {
    std::erase(queue_, call);
    if (call->attempt) {
      if (auto whole = call->attempt->take_whole()) {
        let_go(call, Pacer::End::success);
        answer(call, std::move(*whole));
        return pump();
      }
      if (may_be_billed(*call->attempt)) tell_lost(call, call->attempt->lost_now());
      let_go(call, Pacer::End::other);
    }
    answer(call, fail(ErrorCode::cancelled, "the call was stopped"));
    pump();
  }

  void answer(const LiveCallPtr& call, Result<ModelReply> result) {
    live_.erase(call);
    call->pause.cancel();
    call->stopped.reset();
    call->ended.reset();
    std::exchange(call->done, nullptr)(std::move(result));
    const MutexLock lock(mutex_);
    if (--unanswered_ == 0) idle_.notify_all();
  }

  const Endpoint endpoint_;
  const ClientOptions options_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  std::optional<llm::Transport> transport_;  ///< exists while the thread runs
  Pacer pacer_;
  boost::asio::steady_timer next_slot_;
  std::set<LiveCallPtr> live_;
  std::deque<LiveCallPtr> queue_;
  std::uint64_t calls_ = 0;
  llm::ReplyForm form_;
  LiveCallPtr trying_;                    ///< the call that tries the other form
  std::optional<Error> unreadable_;       ///< set if neither form can be read; nothing more is sent then
  std::chrono::milliseconds slowest_{0};  ///< longest time of a reply so far
  Clock::time_point spent_until_;         ///< until then calls fail because of the server's rate limits
  Clock::time_point told_until_;          ///< end of the latest pause that was reported
  bool answered_ = false;                 ///< whether the server has answered a call
  bool told_of_reasoning_ = false;
  bool refuses_ = false;  ///< whether the server has refused calls and answered none

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

void ModelClient::start(ModelCall call, std::stop_token stop, Sink<ModelReply> done, LostCallSink lost,
                        std::stop_token ending) {
  impl_->start(std::move(call), std::move(stop), std::move(done), std::move(lost), std::move(ending));
}

}  // namespace kernelsmith
