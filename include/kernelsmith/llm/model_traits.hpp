// Differences between models: the names of parameters, and parameters that some models refuse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <kernelsmith/llm/model_call.hpp>

namespace kernelsmith {

/// The traits of one model with one protocol. A value.
struct ModelTraits {
  std::string token_limit_field;            ///< the name of the output limit in the body
  std::uint64_t default_token_limit = 0;    ///< the limit if the call sets none; if 0, no limit is sent
  bool takes_sampling = true;               ///< accepts temperature and top_p; a reasoning model refuses them
  bool takes_effort = false;                ///< accepts reasoning_effort
  std::string_view system_role = "system";  ///< "developer" for OpenAI's reasoning models
};

/// Looks a model up in the built-in table, in which the first match wins. Models that are not in it get the
/// protocol's default traits. `model` may carry a gateway's prefix ("openai/o3"), which is ignored.
ModelTraits traits_of(Protocol protocol, std::string_view model);

}  // namespace kernelsmith
