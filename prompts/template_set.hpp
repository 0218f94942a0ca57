// All templates for prompts: the built-in ones and the user's. The user's take precedence.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/prompts/template.hpp>

namespace kernelsmith::detail {

/// All other sets take templates that they lack from this set.
inline constexpr const char* kBaseSet = "kernel-smith";

/// Templates by set and name. Immutable once loaded.
class TemplateSets {
 public:
  /// `folder` may be empty. Its files SET/NAME.mustache replace built-in ones; other files are ignored.
  static Result<TemplateSets> load(const std::filesystem::path& folder);

  bool has_set(std::string_view set) const;
  std::vector<std::string> sets() const;

  /// The digest of all texts and of their places in the sets.
  Digest digest() const;

  /// The template in the first of `sets` that has it, or null.
  const Template* find(const std::vector<std::string>& sets, std::string_view name) const;

  /// Renders the template with `data`. Its partials are found in the same way. Errors: `not_found` for a
  /// partial that no set has.
  Result<std::string> render(const std::vector<std::string>& sets, const std::string& name,
                             const Value& data) const;

 private:
  Status read_folder(const std::filesystem::path& folder);
  Status add(const std::string& set, const std::string& name, std::string_view text,
             const std::string& place);

  std::map<std::pair<std::string, std::string>, Template, std::less<>> templates_;
  std::map<std::pair<std::string, std::string>, Digest> digests_;
};

}  // namespace kernelsmith::detail
