// Router: maps a method and a path to a handler.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/service/http_message.hpp>

namespace kernelsmith::http {

/// The server's threads call it, several at once. Work that takes longer than a look-up must move, with the
/// Responder, to another thread. An exception is answered with 500.
using Handler = std::function<void(Request, Responder)>;

/// A handler that answers at once.
Handler answering(std::function<Response(const Request&)> respond);

enum class Access {
  guarded,  ///< clients that ServerOptions::guard admits
  open,     ///< all clients
};

/// A table of routes. A value; the server copies it.
class Router {
 public:
  /// A method, a pattern and their handler.
  struct Route {
    std::string method;
    std::string pattern;  ///< as it was given to add()
    std::vector<std::string> segments;
    Handler handler;
    Access access = Access::guarded;
  };

  /// `pattern` is a path such as "/tasks/{id}/log": a segment in braces matches any one segment that is not
  /// empty. GET also serves HEAD. If several routes match, the one that was added first is used. Throws
  /// std::invalid_argument for a pattern that does not begin with '/', and for one without a handler.
  void add(std::string_view method, std::string_view pattern, Handler handler,
           Access access = Access::guarded);

  /// The route that matches a request.
  struct Match {
    const Route* route = nullptr;  ///< null if nothing matches
    std::map<std::string, std::string> parameters;
    std::vector<std::string> methods;  ///< if only the method does not match: the allowed methods
  };

  /// `segments` are the decoded segments of the path. The route is valid as long as the router.
  Match find(std::string_view method, const std::vector<std::string>& segments) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace kernelsmith::http
