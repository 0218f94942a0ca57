// The YAML reader: every key is asked for as every type; texts that were read are written and read back.
#include <cstdint>
#include <cstdlib>

#include <kernelsmith/config/yaml.hpp>

namespace {

using namespace kernelsmith;

void read_all(YamlMap& in) {
  for (const std::string& key : in.keys()) {
    (void)in.where(key);
    if (in.kind(key) == YamlKind::map) in.optional_map(key, read_all);
    if (in.kind(key) == YamlKind::scalar) {
      std::string text;
      in.required(key, text);
    }
    if (in.kind(key) == YamlKind::list) in.optional_maps(key, read_all);
  }
}

template <class T>
void read_as(std::string_view document) {
  T value{};
  (void)read_yaml(document, "f", [&](YamlMap& in) {
    for (const std::string& key : in.keys()) in.required(key, value);
  });
}

void check_text_reads_back(std::string_view text) {
  std::vector<std::string> texts;
  const Status status = read_yaml(text, "f", [&](YamlMap& in) {
    for (const std::string& key : in.keys()) in.required(key, texts.emplace_back());
  });
  if (!status) return;
  YamlWriter out;
  out.put("texts", texts);
  std::vector<std::string> again;
  if (!read_yaml(out.finish(), "f", [&](YamlMap& in) { in.required("texts", again); })) std::abort();
  if (again != texts) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)read_yaml(text, "f", read_all);
  read_as<bool>(text);
  read_as<double>(text);
  read_as<std::int64_t>(text);
  read_as<std::vector<std::string>>(text);
  read_as<std::map<std::string, std::int64_t>>(text);
  check_text_reads_back(text);
  return 0;
}
