#include "fleet_url.hpp"

#include <kernelsmith/core/secret.hpp>
#include <kernelsmith/session/task_folder.hpp>

namespace kernelsmith {
namespace {

constexpr std::string_view kFile = "file:";

Result<Secret> url_in_file(const std::string& path) {
  auto text = read_text_file(path);
  if (!text) return text.error();
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r' || text->back() == ' '))
    text->pop_back();
  return Secret(std::move(*text));
}

}  // namespace

bool is_kept_elsewhere(std::string_view nats) {
  return nats.starts_with(kFile) || nats.find("${") != nats.npos;
}

Result<FleetServer> read_fleet_url(const std::string& nats) {
  const auto url = nats.starts_with(kFile) ? url_in_file(nats.substr(kFile.size())) : expand_variables(nats);
  if (!url) return url.error();
  return parse_fleet_server(url->reveal());
}

}  // namespace kernelsmith
