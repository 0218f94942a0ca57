#include <stdexcept>

#include <gmock/gmock.h>

#include <kernelsmith/service/router.hpp>

namespace kernelsmith::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

const Handler kNothing = [](const Request&, const Responder&) {};

Router a_router() {
  Router router;
  router.add("GET", "/", kNothing);
  router.add("GET", "/tasks/all", kNothing);
  router.add("GET", "/tasks/{id}", kNothing);
  router.add("DELETE", "/tasks/{id}", kNothing);
  router.add("GET", "/tasks/{id}/log/{line}", kNothing);
  return router;
}

TEST(Router, TheFirstRouteThatFitsCounts) {
  const Router router = a_router();
  EXPECT_EQ(router.find("GET", {}).route->pattern, "/");
  EXPECT_EQ(router.find("GET", {"tasks", "all"}).route->pattern, "/tasks/all");
  EXPECT_EQ(router.find("GET", {"tasks", "x"}).route->pattern, "/tasks/{id}");
}

TEST(Router, ParametersTakeOneSegmentEach) {
  const Router router = a_router();
  EXPECT_THAT(router.find("GET", {"tasks", "a/b", "log", "7"}).parameters,
              ElementsAre(Pair("id", "a/b"), Pair("line", "7")));
  EXPECT_EQ(router.find("GET", {"tasks", ""}).route, nullptr);
  EXPECT_EQ(router.find("GET", {"tasks", "a", "log"}).route, nullptr);
}

TEST(Router, ThePathsMethodsAreTold) {
  const auto match = a_router().find("PUT", {"tasks", "all"});
  EXPECT_EQ(match.route, nullptr);
  EXPECT_THAT(match.methods, ElementsAre("DELETE", "GET", "HEAD"));
  EXPECT_THAT(a_router().find("GET", {"nowhere"}).methods, ElementsAre());
}

TEST(Router, ARouteThatCannotBeIsRefused) {
  Router router;
  EXPECT_THROW(router.add("GET", "tasks", kNothing), std::invalid_argument);
  EXPECT_THROW(router.add("GET", "/tasks", {}), std::invalid_argument);
}

}  // namespace
}  // namespace kernelsmith::http
