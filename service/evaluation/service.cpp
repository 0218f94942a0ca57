// EvaluationService: the endpoints, the job table and the server, put together.
#include <algorithm>
#include <set>
#include <utility>

#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/service/evaluation_service.hpp>

#include "endpoints.hpp"

namespace kernelsmith {
namespace {

/// The time for clients that poll once a second to fetch the last results.
constexpr std::chrono::milliseconds kLastLook{2500};

Status check_names(const ServiceOptions& options) {
  std::set<std::string> names;
  for (const auto& task : options.tasks)
    if (!names.insert(task->name).second)
      return fail(ErrorCode::invalid_argument, "two tasks have the name '" + task->name + "'", "--task",
                  "change `name` in one task.yaml: requests name the task");
  return {};
}

}  // namespace

struct EvaluationService::Impl {
  explicit Impl(const ServiceOptions& options) : parts(options) {}

  service::Parts parts;
  std::unique_ptr<http::Server> server;  ///< last: its handlers use the parts
};

Result<std::unique_ptr<EvaluationService>> EvaluationService::start(ServiceOptions options) {
  if (const Status ok = check_names(options); !ok) return ok.error();
  options.workers = std::max(options.workers, 1U);
  http::ServerOptions http = std::move(options.http);
  auto impl = std::make_unique<Impl>(options);
  http.on_served = [&counts = impl->parts.http](const http::Served& served) { counts.add(served); };
  auto server = http::Server::start(service::routes(impl->parts), std::move(http));
  if (!server) return server.error();
  impl->server = std::move(*server);
  return std::unique_ptr<EvaluationService>(new EvaluationService(std::move(impl)));
}

EvaluationService::EvaluationService(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EvaluationService::~EvaluationService() = default;
std::string EvaluationService::url() const { return impl_->server->url(); }
const std::map<std::string, std::string>& EvaluationService::hardware() const {
  return impl_->parts.hardware;
}

void EvaluationService::drain(const std::stop_token& stop) {
  const service::Counts before = impl_->parts.table.counts();
  const bool idle = before.processing == 0 && before.all_pending() == 0;
  impl_->parts.table.drain(stop);
  if (!idle) pause_for(kLastLook, stop);
}

}  // namespace kernelsmith
