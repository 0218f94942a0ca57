// A model of run.yaml: how it is asked.
#pragma once

#include <optional>
#include <string_view>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/llm/chat_proposer.hpp>

namespace kernelsmith {

/// A key that may be absent.
template <class T>
void read_some(YamlMap& in, std::string_view key, std::optional<T>& out, Range<T> range) {
  if (in.kind(key) == YamlKind::absent) return;
  T value{};
  in.required(key, value, range);
  out = value;
}

template <class T>
void write_some(YamlWriter& out, std::string_view key, const std::optional<T>& value) {
  if (value) out.put(key, *value);
}

void read_model(YamlMap& in, Protocol protocol, ModelSettings& model);
void write_model(YamlWriter& out, const ModelSettings& model);

}  // namespace kernelsmith
