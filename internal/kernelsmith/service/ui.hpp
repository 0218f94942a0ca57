// The page of a run or of an evaluation service, live in the browser; the page of a run also as a file. It is
// read-only and serves only this machine. docs/ui.md is for its users.
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

/// The address of an evaluation service to follow.
struct ServiceAddress {
  std::string url;  ///< such as "http://127.0.0.1:8000"
  Secret token;     ///< bearer token, never sent to a browser; may be empty
};

/// Serves the page on 127.0.0.1 for the lifetime of this object. Thread-safe.
///
/// The run or service is polled only while a browser is connected: once a second, or less often, so that
/// polling takes at most a quarter of the time.
class Page {
 public:
  /// Follows a run folder, whether the run is active or not. With port 0, a free port is used. Errors:
  /// view_run's for a folder that is not a run, and `busy` for a port in use.
  static Result<std::unique_ptr<Page>> of_run(const std::filesystem::path& folder, Registry registry,
                                              std::uint16_t port);

  /// Follows a service. Errors: `invalid_argument` for an address that is not a URL, `network` if nothing
  /// answers, `permission` for a wrong token, `bad_reply` if it is not an evaluation service, and `busy` for
  /// a port in use.
  static Result<std::unique_ptr<Page>> of_service(ServiceAddress service, std::uint16_t port);

  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  /// The page's URL, such as "http://127.0.0.1:PORT/".
  std::string url() const;

 private:
  struct Impl;
  explicit Page(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The current page of a run as one HTML file without external resources, for `kernelsmith report`. Equal
/// views have equal pages. Reads the view's store. Errors: the journal's.
Result<std::string> report_page(const RunView& view);

}  // namespace kernelsmith::ui
