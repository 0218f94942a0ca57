#include <algorithm>
#include <stdexcept>
#include <utility>

#include <kernelsmith/service/router.hpp>

namespace kernelsmith::http {
namespace {

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

std::vector<std::string> segments_of(std::string_view pattern) {
  if (!pattern.starts_with('/')) throw std::invalid_argument("a route's pattern begins with '/'");
  std::vector<std::string> segments;
  pattern.remove_prefix(1);
  while (!pattern.empty()) {
    const std::size_t end = std::min(pattern.find('/'), pattern.size());
    segments.emplace_back(pattern.substr(0, end));
    pattern.remove_prefix(std::min(end + 1, pattern.size()));
  }
  return segments;
}

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  return std::ranges::equal(pattern, path, [](const std::string& wanted, const std::string& segment) {
    return is_parameter(wanted) ? !segment.empty() : wanted == segment;
  });
}

std::map<std::string, std::string> parameters_of(const std::vector<std::string>& pattern,
                                                 const std::vector<std::string>& path) {
  std::map<std::string, std::string> parameters;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (is_parameter(pattern[i])) parameters[pattern[i].substr(1, pattern[i].size() - 2)] = path[i];
  return parameters;
}

}  // namespace

Handler answering(std::function<Response(const Request&)> respond) {
  return [respond = std::move(respond)](const Request& request, const Responder& responder) {
    responder.send(respond(request));
  };
}

void Router::add(std::string_view method, std::string_view pattern, Handler handler, Access access) {
  if (!handler) throw std::invalid_argument("a route has a handler");
  routes_.push_back(
      {std::string(method), std::string(pattern), segments_of(pattern), std::move(handler), access});
}

Router::Match Router::find(std::string_view method, const std::vector<std::string>& segments) const {
  Match match;
  for (const Route& route : routes_) {
    if (!fits(route.segments, segments)) continue;
    if (route.method == method) return {&route, parameters_of(route.segments, segments), {}};
    match.methods.push_back(route.method);
    if (route.method == "GET") match.methods.emplace_back("HEAD");
  }
  std::ranges::sort(match.methods);
  match.methods.erase(std::unique(match.methods.begin(), match.methods.end()), match.methods.end());
  return match;
}

}  // namespace kernelsmith::http
