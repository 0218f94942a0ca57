// What models differ in: names of parameters, and what some of them refuse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <kernelsmith/llm/model_call.hpp>

namespace kernelsmith {

/// What is known of one model behind one protocol. A value.
struct ModelTraits {
  std::string token_limit_field;            ///< the name of the output limit in the body
  std::uint64_t default_token_limit = 0;    ///< sent if the call sets none; 0: nothing is sent
  bool takes_sampling = true;               ///< temperature and top_p; a reasoning model refuses them
  bool takes_effort = false;                ///< reasoning_effort, if the call has one
  std::string_view system_role = "system";  ///< "developer" for OpenAI's reasoning models
};

/// The built-in table, first match wins; a model that is not in it gets the protocol's plain traits. `model`
/// may carry a gateway's prefix ("openai/o3"), which is ignored.
ModelTraits traits_of(Protocol protocol, std::string_view model);

}  // namespace kernelsmith
