// FollowedService: an evaluation service that a page shows. This process queries the service, because a
// browser must not have the token.
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
  /// Errors: `invalid_argument` for an address that is not a URL of a service.
  static Result<std::unique_ptr<FollowedService>> at(ServiceAddress service);

  /// The service's report about itself, which always changes because of the time. Errors: fetch()'s,
  /// `permission` for a wrong token, `bad_reply` for an invalid answer.
  Result<std::optional<std::string>> look();

 private:
  explicit FollowedService(ServiceAddress service) : service_(std::move(service)) {}

  ServiceAddress service_;
  ServiceHistory history_;
};

}  // namespace kernelsmith::ui
