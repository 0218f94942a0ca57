#include "reader_support.hpp"

#include <string>

#include "identifiers.hpp"

namespace kernelsmith::task {

void refuse_foreign_keys(YamlMap& in, const Meaning& meaning) {
  for (const std::string& key : in.keys())
    if (const auto ours = meaning(key))
      in.refuse(key, "unknown key '" + key + "'", "did you mean " + std::string(*ours) + "?");
}

void require_identifier(YamlMap& in, std::string_view key, std::string_view name) {
  if (in.ok() && !is_identifier(name))
    in.refuse(key, "'" + std::string(name) + "' is not a C++ identifier",
              "letters, digits and _, not beginning with a digit, not a keyword");
}

}  // namespace kernelsmith::task
