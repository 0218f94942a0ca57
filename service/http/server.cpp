// The HTTP server: it accepts connections and hands their requests to the router.
#include <algorithm>
#include <thread>
#include <unordered_map>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/service/http_server.hpp>

#include "connection.hpp"

namespace kernelsmith::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// This many connections above max_connections get an answer that says so; others are closed without one.
constexpr std::size_t kRefusedAtOnce = 64;
/// The pause before accepting connections again after this process ran out of descriptors.
constexpr std::chrono::milliseconds kPause{100};

std::string text_of(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

Error cannot_listen(const error_code& error, const ServerOptions& options) {
  const std::string where = options.host + ":" + std::to_string(options.port);
  if (error == asio::error::address_in_use)
    return fail(ErrorCode::busy, "another program listens on this port", where,
                "choose another port, or 0 for a free one");
  if (error == boost::system::errc::permission_denied)
    return fail(ErrorCode::permission, "this user may not listen on this port", where,
                "choose one above 1023");
  if (error == boost::system::errc::address_not_available)
    return fail(ErrorCode::invalid_argument, "this machine does not have that address", where,
                "127.0.0.1 is for this machine alone, 0.0.0.0 for every network it is in");
  return fail(ErrorCode::io, "cannot listen: " + error.message(), where);
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(Shared shared)
      : shared_(std::make_shared<const Shared>(std::move(shared))),
        io_(static_cast<int>(std::max(shared_->options.threads, 1U))),
        acceptor_(asio::make_strand(io_)) {}

  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status listen(const tcp::endpoint& endpoint) {
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (!error) endpoint_ = acceptor_.local_endpoint(error);
    if (error) return cannot_listen(error, shared_->options);
    asio::co_spawn(acceptor_.get_executor(), accept(), asio::detached);
    for (unsigned i = 0; i < std::max(shared_->options.threads, 1U); ++i)
      threads_.emplace_back([this] { io_.run(); });
    return {};
  }

  const tcp::endpoint& endpoint() const { return endpoint_; }

  void stop() {
    const MutexLock once(stop_mutex_);
    if (threads_.empty()) return;
    MutexLock lock(mutex_);
    stopping_ = true;
    asio::post(acceptor_.get_executor(), [this] {
      error_code ignored;
      acceptor_.close(ignored);
    });
    for (const auto& [id, connection] : connections_) connection->stop();
    changed_.wait_for(lock, shared_->options.stop_grace,
                      [this]() KERNELSMITH_REQUIRES(mutex_) { return connections_.empty(); });
    connections_.clear();
    lock.unlock();
    io_.stop();
    threads_.clear();
  }

 private:
  asio::awaitable<void> accept() {
    asio::steady_timer pause(acceptor_.get_executor());
    constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
    while (acceptor_.is_open()) {
      const Strand strand = asio::make_strand(io_);
      auto [error, socket] = co_await acceptor_.async_accept(strand, kTuple);
      if (!error) {
        take(std::move(socket), strand);
      } else if (acceptor_.is_open()) {
        pause.expires_after(kPause);
        co_await pause.async_wait(kTuple);
      }
    }
  }

  void take(tcp::socket socket, const Strand& strand) {
    const MutexLock lock(mutex_);
    const std::size_t most = shared_->options.max_connections;
    if (stopping_ || connections_.size() >= most + kRefusedAtOnce) return;
    const bool refused = connections_.size() >= most;
    auto connection = std::make_shared<Connection>(std::move(socket), strand, shared_);
    const std::uint64_t id = ++last_id_;
    connections_.emplace(id, connection);
    connection->start(refused, [this, id] { forget(id); });
  }

  void forget(std::uint64_t id) {
    const MutexLock lock(mutex_);
    connections_.erase(id);
    if (connections_.empty()) changed_.notify_all();
  }

  const std::shared_ptr<const Shared> shared_;
  Mutex stop_mutex_;
  Mutex mutex_;
  Condition changed_;
  bool stopping_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  std::uint64_t last_id_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  tcp::endpoint endpoint_;
  asio::io_context io_;  ///< after members that its coroutines use
  tcp::acceptor acceptor_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Connection>> connections_ KERNELSMITH_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;
};

Result<std::unique_ptr<Server>> Server::start(Router router, ServerOptions options) {
  asio::io_context resolving;
  tcp::resolver resolver(resolving);
  error_code error;
  const auto found =
      resolver.resolve(options.host, std::to_string(options.port), tcp::resolver::passive, error);
  if (error || found.empty())
    return fail(ErrorCode::invalid_argument, "no address has this name: " + error.message(), options.host,
                "give an address of this machine, such as 127.0.0.1");
  const tcp::endpoint endpoint = found.begin()->endpoint();
  auto impl =
      std::make_unique<Impl>(Shared{std::move(router), std::move(options), endpoint.address().is_loopback()});
  if (const Status listening = impl->listen(endpoint); !listening) return listening.error();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;
void Server::stop() { impl_->stop(); }
std::uint16_t Server::port() const { return impl_->endpoint().port(); }
std::string Server::url() const { return "http://" + text_of(impl_->endpoint()); }

}  // namespace kernelsmith::http
