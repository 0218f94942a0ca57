// Router: which handler serves a method and a path.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/service/http_message.hpp>

namespace kernelsmith::http {

/// Called on one of the server's threads, by several at once: what takes longer than a look-up belongs on a
/// thread of its own, with the Responder. What it throws is answered with 500.
using Handler = std::function<void(Request, Responder)>;

/// A handler that has its answer at once.
Handler answering(std::function<Response(const Request&)> respond);

enum class Access {
  guarded,  ///< only whom ServerOptions::guard admits
  open,     ///< whoever asks
};

/// A table of routes. A value; the server copies it.
class Router {
 public:
  /// A method and a pattern, and who answers them.
  struct Route {
    std::string method;
    std::string pattern;  ///< as it was given
    std::vector<std::string> segments;
    Handler handler;
    Access access = Access::guarded;
  };

  /// `pattern` is a path such as "/tasks/{id}/log": a segment in braces takes any one segment that is not
  /// empty. GET serves HEAD too. If several routes fit, the first one added counts. Throws
  /// std::invalid_argument for a pattern that does not begin with '/', and for one without a handler.
  void add(std::string_view method, std::string_view pattern, Handler handler,
           Access access = Access::guarded);

  /// The route that fits a request.
  struct Match {
    const Route* route = nullptr;  ///< null if nothing fits
    std::map<std::string, std::string> parameters;
    std::vector<std::string> methods;  ///< if only the method does not fit: those that would
  };

  /// `segments` are the path's, decoded. The route is valid as long as the router.
  Match find(std::string_view method, const std::vector<std::string>& segments) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace kernelsmith::http
