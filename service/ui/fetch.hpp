// A blocking GET request to an evaluation service.
#pragma once

#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/secret.hpp>

namespace kernelsmith::ui {

struct Fetched {
  long status = 0;
  std::string body;
};

/// Follows no redirection, which could send the token elsewhere. Errors: `network` without an answer in
/// seconds, `untrusted` for a certificate, `bad_reply` for an answer of more than some megabytes. `where` is
/// the URL. Thread-safe.
Result<Fetched> fetch(const std::string& url, const Secret& token);

}  // namespace kernelsmith::ui
