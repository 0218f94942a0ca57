// The server of the page: its files, its answers, and the headers that keep foreign text harmless.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/service/http_server.hpp>
#include <kernelsmith/service/ui.hpp>

#include "followed_run.hpp"
#include "followed_service.hpp"
#include "page_files.hpp"
#include "poller.hpp"

namespace kernelsmith::ui {
namespace {

using http::Request;
using http::Responder;
using http::Response;

// Only this server's files are loaded, and the page has no inline script, so that foreign text is harmless.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri "
    "'none'; "
    "form-action 'none'; frame-ancestors 'none'";

std::string type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/javascript; charset=utf-8";
}

Response with_rules(Response response) {
  for (const auto& [name, value] :
       {std::pair{"Content-Security-Policy", kPolicy}, std::pair{"X-Content-Type-Options", "nosniff"},
        std::pair{"Referrer-Policy", "no-referrer"}, std::pair{"Cross-Origin-Resource-Policy", "same-origin"},
        std::pair{"Cache-Control", "no-store"}})
    response.headers.emplace_back(name, value);
  return response;
}

Response answer_of(Result<std::string> body) {
  if (body) return with_rules({.body = std::move(*body)});
  const bool missing = body.error().code == ErrorCode::not_found;
  return with_rules(http::error_response(missing ? 404 : 503, describe(body.error())));
}

std::optional<ProgramId> program_in(const Request& request) {
  const auto number = number_in<std::uint64_t>(request.parameters.at("id"));
  return number ? std::optional(ProgramId{*number}) : std::nullopt;
}

void add_files(http::Router& router) {
  for (const PageFile& file : page_files()) {
    const auto serve = http::answering([&file](const Request&) {
      return with_rules({.body = std::string(file.text), .content_type = type_of(file.name)});
    });
    router.add("GET", "/" + std::string(file.name), serve);
    if (file.name == "index.html") router.add("GET", "/", serve);
  }
}

void add_events(http::Router& router, const std::shared_ptr<Poller>& poller) {
  router.add("GET", "/api/events", [poller](const Request&, const Responder& responder) {
    poller->add_listener(responder.stream());
  });
}

/// Routes that only runs have. `run` is used only on the poller's thread.
void add_run(http::Router& router, const std::shared_ptr<Poller>& poller,
             const std::shared_ptr<FollowedRun>& run) {
  router.add("GET", "/api/run",
             [poller](const Request&, const Responder& responder) { poller->send_summary(responder); });
  router.add("GET", "/api/programs/{id}", [poller, run](const Request& request, const Responder& responder) {
    const auto id = program_in(request);
    if (!id) {
      responder.send(with_rules(http::error_response(400, "a program's number is a whole number")));
      return;
    }
    poller->post([run, responder, id = *id] { responder.send(answer_of(run->program(id))); });
  });
}

void add_service(http::Router& router, const std::shared_ptr<Poller>& poller) {
  router.add("GET", "/api/service",
             [poller](const Request&, const Responder& responder) { poller->send_summary(responder); });
}

}  // namespace

struct Page::Impl {
  std::shared_ptr<Poller> poller;
  std::unique_ptr<http::Server> server;  ///< ends first, and with it the streams that the poller writes to

  static Result<std::unique_ptr<Impl>> serve(http::Router router, std::shared_ptr<Poller> poller,
                                             std::uint16_t port) {
    add_files(router);
    add_events(router, poller);
    http::ServerOptions options;
    options.port = port;
    options.threads = 1;
    auto server = http::Server::start(std::move(router), std::move(options));
    if (!server) return server.error();
    return std::make_unique<Impl>(Impl{std::move(poller), std::move(*server)});
  }
};

Page::Page(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Page::~Page() = default;

Result<std::unique_ptr<Page>> Page::of_run(const std::filesystem::path& folder, Registry registry,
                                           std::uint16_t port) {
  const auto run = std::make_shared<FollowedRun>(folder, std::move(registry));
  auto first = run->look();
  if (!first) return first.error();
  const auto poller = std::make_shared<Poller>([run] { return run->look(); }, std::move(**first), Cadence{});
  http::Router router;
  add_run(router, poller, run);
  auto impl = Impl::serve(std::move(router), poller, port);
  if (!impl) return impl.error();
  return std::unique_ptr<Page>(new Page(std::move(*impl)));
}

Result<std::unique_ptr<Page>> Page::of_service(ServiceAddress service, std::uint16_t port) {
  auto followed = FollowedService::at(std::move(service));
  if (!followed) return followed.error();
  const std::shared_ptr<FollowedService> one = std::move(*followed);
  auto first = one->look();
  if (!first) return first.error();
  constexpr Cadence kCadence{.pause = std::chrono::milliseconds(2000)};
  const auto poller = std::make_shared<Poller>([one] { return one->look(); }, std::move(**first), kCadence);
  http::Router router;
  add_service(router, poller);
  auto impl = Impl::serve(std::move(router), poller, port);
  if (!impl) return impl.error();
  return std::unique_ptr<Page>(new Page(std::move(*impl)));
}

std::string Page::url() const { return impl_->server->url() + "/"; }

}  // namespace kernelsmith::ui
