// The page of a run, or of an evaluation service: live in the browser, or a run's as a file. It reads and
// never writes, and serves this machine alone. docs/ui.md is for its users.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/secret.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::ui {

/// An evaluation service that a page follows.
struct ServiceAddress {
  std::string url;  ///< such as "http://127.0.0.1:8000"
  Secret token;     ///< sent as a bearer token, and never to a browser; may be empty
};

/// Serves the page on 127.0.0.1 from its making until its end. Thread-safe.
///
/// Only while a browser listens is the run or the service looked at: once a second if the look is short,
/// and never for more than a quarter of the time.
class Page {
 public:
  /// Follows a run folder, whether it is being written or not. Port 0 is a free one. Errors: view_run's for a
  /// folder that is no run, and `busy` for a port in use.
  static Result<std::unique_ptr<Page>> of_run(const std::filesystem::path& folder, Registry registry,
                                              std::uint16_t port);

  /// Follows a service. Errors: `invalid_argument` for an address that is no URL, `network` if nothing
  /// answers there, `permission` if it wants another token, `bad_reply` if it is no evaluation service,
  /// and `busy` for a port in use.
  static Result<std::unique_ptr<Page>> of_service(ServiceAddress service, std::uint16_t port);

  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  /// "http://127.0.0.1:PORT/".
  std::string url() const;

 private:
  struct Impl;
  explicit Page(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The page of a run as it stands, as one HTML file that loads nothing: `kernelsmith report`. Equal views
/// have equal pages. Reads the view's store. Errors: the journal's.
Result<std::string> report_page(const RunView& view);

}  // namespace kernelsmith::ui
