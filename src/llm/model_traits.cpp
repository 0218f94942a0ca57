// The table of differences between models.
#include <array>

#include <kernelsmith/llm/model_traits.hpp>

namespace kernelsmith {
namespace {

/// A family of models, by the beginning of their names.
struct Family {
  std::string_view prefix;
  bool reasons = false;           ///< whether it refuses sampling parameters and accepts an effort
  bool names_completion = false;  ///< whether the output limit is called max_completion_tokens
};

/// The families that differ from the default of Chat Completions. The first match counts.
constexpr std::array kFamilies{
    Family{"gpt-5-chat", false, true}, Family{"gpt-5", true, true}, Family{"gpt-4.1", false, true},
    Family{"gpt-4o", false, true},     Family{"o1", true, true},    Family{"o3", true, true},
    Family{"o4", true, true},
};

Family family_of(std::string_view model) {
  if (const auto slash = model.rfind('/'); slash != model.npos) model.remove_prefix(slash + 1);
  for (const Family& family : kFamilies)
    if (model.starts_with(family.prefix)) return family;
  return {};
}

/// The default output limit for Anthropic's protocol, which requires a limit in each call.
constexpr std::uint64_t kMessagesTokenLimit = 8192;

}  // namespace

ModelTraits traits_of(Protocol protocol, std::string_view model) {
  const Family family = family_of(model);
  const bool is_known =
      !family.prefix.empty();  // a user who sets an effort for another model knows that it accepts one
  ModelTraits traits;
  switch (protocol) {
    case Protocol::chat_completions:
      traits.token_limit_field = family.names_completion ? "max_completion_tokens" : "max_tokens";
      traits.takes_sampling = !family.reasons;
      traits.takes_effort = family.reasons || !is_known;
      if (family.reasons) traits.system_role = "developer";
      break;
    case Protocol::responses:
      traits.token_limit_field = "max_output_tokens";
      traits.takes_sampling = !family.reasons;
      traits.takes_effort = family.reasons || !is_known;
      break;
    case Protocol::messages:
      traits.token_limit_field = "max_tokens";
      traits.default_token_limit = kMessagesTokenLimit;
      break;
  }
  return traits;
}

}  // namespace kernelsmith
