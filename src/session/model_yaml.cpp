#include "model_yaml.hpp"

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith {

void read_model(YamlMap& in, Protocol protocol, ModelSettings& model) {
  in.required("name", model.name);
  if (in.ok() && model.name.empty()) in.refuse("name", "a model needs a name");
  read_some<std::uint64_t>(in, "max_output_tokens", model.max_output_tokens, {1, 100'000'000});
  read_some<double>(in, "temperature", model.temperature, {0, 10});
  read_some<double>(in, "top_p", model.top_p, {0, 1});
  in.optional("reasoning_effort", model.reasoning_effort);
  if (in.ok() && protocol == Protocol::messages && !model.reasoning_effort.empty())
    in.refuse("reasoning_effort", "the protocol messages has none",
              "what the model takes in its place goes into extra_body, such as "
              "'{\"thinking\": {\"type\": \"enabled\", \"budget_tokens\": 4000}}'");
  in.optional("stream", model.stream);
  in.optional("extra_body", model.extra_body);
  if (!in.ok() || model.extra_body.empty()) return;
  ModelCall call;
  call.extra_body = model.extra_body;
  const auto encoded = encode_call(Protocol::chat_completions, call, {});
  if (!encoded) in.refuse("extra_body", encoded.error().message, encoded.error().hint);
}

void write_model(YamlWriter& out, const ModelSettings& model) {
  out.put("name", model.name);
  write_some(out, "max_output_tokens", model.max_output_tokens);
  write_some(out, "temperature", model.temperature);
  write_some(out, "top_p", model.top_p);
  if (!model.reasoning_effort.empty()) out.put("reasoning_effort", model.reasoning_effort);
  out.put("stream", model.stream);
  if (!model.extra_body.empty()) out.put("extra_body", model.extra_body);
}

}  // namespace kernelsmith
