// FollowedService: an evaluation service as a page shows it, fetched by this process, because a browser must
// not have the token.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <kernelsmith/service/ui.hpp>

#include "service_summary.hpp"

namespace kernelsmith::ui {

/// Not thread-safe.
class FollowedService {
 public:
  /// Errors: `invalid_argument` for an address that is no URL of a service.
  static Result<std::unique_ptr<FollowedService>> at(ServiceAddress service);

  /// What the service reports about itself; it always has something new, the time. Errors: fetch()'s,
  /// `permission` for a token that the service does not take, `bad_reply` for an answer that no service
  /// gives.
  Result<std::optional<std::string>> look();

 private:
  explicit FollowedService(ServiceAddress service) : service_(std::move(service)) {}

  ServiceAddress service_;
  ServiceHistory history_;
};

}  // namespace kernelsmith::ui
