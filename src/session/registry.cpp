// Adds backends to a registry.
#include <utility>

#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/share_programs.hpp>

#include "providers.hpp"

namespace kernelsmith {
namespace {

MakeEvaluatorProvider on_a_fleet_if_named(MakeEvaluatorProvider make) {
  return [make = std::move(make)] { return with_fleet(make()); };
}

}  // namespace

void add_backend(Registry& registry, BackendRegistration backend) {
  const std::string name = backend.description.name;
  registry.evaluators[name] = on_a_fleet_if_named(std::move(backend.make));
  registry.sharing_evaluators.erase(name);
  if (backend.make_sharing)
    registry.sharing_evaluators[name] = [make = std::move(backend.make_sharing)] {
      return on_a_fleet_if_named(make());
    };
  registry.backends[name] = std::move(backend.description);
}

void tell_of_waiting(Registry& registry, const std::function<void(const std::string&)>& tell) {
  for (auto& [name, make] : registry.evaluators)
    make = [make = std::move(make), tell] {
      auto provider = make();
      provider->tell_of_waiting(tell);
      return provider;
    };
}

void share_programs(Registry& registry, const std::function<void(const std::string&)>& tell) {
  for (const auto& [name, make_sharing] : registry.sharing_evaluators)
    registry.evaluators[name] = make_sharing();
  tell_of_waiting(registry, tell);
}

}  // namespace kernelsmith
