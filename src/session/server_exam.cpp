// A dry run's checks of a server of models.
#include <algorithm>
#include <string_view>

#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/llm/probe.hpp>

#include "model_support.hpp"

namespace kernelsmith {
namespace {

using Verdict = DryCheck::Verdict;

constexpr std::chrono::milliseconds kLongestProbe{30'000};  // a list of models arrives at once

DryCheck check_of_key(const Endpoint& server, const ServerProbe& probe) {
  if (server.key.empty())
    return {"key", Verdict::unknown, "none is set; only a call shows whether the server needs one", {}};
  if (probe.key_checked)
    return {"key", Verdict::ok, "the server accepted it, and answers nothing without it", {}};
  return {"key", Verdict::unknown, "one is set; only a call shows whether the server accepts it", {}};
}

DryCheck check_of_model(const std::string& model, const ServerProbe& probe) {
  const std::string name = "\"" + model + "\"";
  if (!probe.models)
    return {"model",
            Verdict::unknown,
            name + ": the server has no list of its models; only a call shows whether it has this one",
            {}};
  if (std::ranges::find(*probe.models, model) != probe.models->end())
    return {"model", Verdict::ok, name + " is on the server's list", {}};
  const std::vector<std::string_view> names(probe.models->begin(), probe.models->end());
  const auto near = nearest_name(model, names);
  return {"model",
          Verdict::unknown,
          name + " is not on the server's list of " + std::to_string(names.size()) +
              (near ? "; did you mean " + std::string(*near) + "? Some" : "; some") +
              " take other names too; only a call shows that",
          {}};
}

}  // namespace

std::vector<DryCheck> examine_server(const Endpoint& server, CallLimits limits,
                                     const std::vector<std::string>& models, const std::stop_token& stop) {
  limits.first_token = std::min(limits.first_token, kLongestProbe);
  const auto probe = probe_server(server, limits, stop);
  if (!probe) return {{"server", Verdict::failed, "", probe.error()}};
  const bool encrypted = server.base_url.starts_with("https:");
  const char* const how = encrypted ? " answers, and its certificate was accepted" : " answers";
  std::vector<DryCheck> checks{{"server", Verdict::ok, server.base_url + how, {}},
                               check_of_key(server, *probe)};
  for (const std::string& model : models) checks.push_back(check_of_model(model, *probe));
  return checks;
}

}  // namespace kernelsmith
