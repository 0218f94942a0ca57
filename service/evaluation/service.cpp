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

class EvaluationService::Impl {
 public:
  explicit Impl(const ServiceOptions& options) : parts_(options) {}

  Status listen(http::ServerOptions options) {
    options.on_served = [this](const http::Served& served) { parts_.http.add(served); };
    auto server = http::Server::start(service::routes(parts_), std::move(options));
    if (!server) return server.error();
    server_ = std::move(*server);
    return {};
  }

  std::string url() const { return server_->url(); }
  const std::map<std::string, std::string>& hardware() const { return parts_.hardware; }

  void drain(const std::stop_token& stop) {
    const service::Counts before = parts_.table.counts();
    const bool idle = before.processing == 0 && before.all_pending() == 0;
    parts_.table.drain(stop);
    if (idle) return;
    pause_for(kLastLook, stop);
  }

 private:
  service::Parts parts_;
  std::unique_ptr<http::Server> server_;  ///< last: its handlers use the parts
};

Result<std::unique_ptr<EvaluationService>> EvaluationService::start(ServiceOptions options) {
  if (const Status ok = check_names(options); !ok) return ok.error();
  options.workers = std::max(options.workers, 1U);
  http::ServerOptions http = std::move(options.http);
  auto impl = std::make_unique<Impl>(options);
  if (const Status listening = impl->listen(std::move(http)); !listening) return listening.error();
  return std::unique_ptr<EvaluationService>(new EvaluationService(std::move(impl)));
}

EvaluationService::EvaluationService(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EvaluationService::~EvaluationService() = default;
std::string EvaluationService::url() const { return impl_->url(); }
const std::map<std::string, std::string>& EvaluationService::hardware() const { return impl_->hardware(); }
void EvaluationService::drain(const std::stop_token& stop) { impl_->drain(stop); }

}  // namespace kernelsmith
