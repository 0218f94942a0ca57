// Template: Mustache, after the published specification (variables, sections, inverted sections, comments,
// partials, set delimiters), without lambdas and without escaping, because prompts are plain text. Values are
// never parsed as templates.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/prompts/value.hpp>

namespace kernelsmith {

namespace detail {
struct TemplateNode;
}

/// A parsed template. Immutable; copies share it; safe to share between threads.
class Template {
 public:
  /// `name` appears in errors. Errors: `bad_input` with name:line for a tag that is not closed, a section
  /// without an end or with the end of another, a name with white space in it, or sections nested more than
  /// 64 deep.
  static Result<Template> parse(std::string_view text, std::string name);

  const std::string& name() const { return name_; }
  const detail::TemplateNode& root() const { return *root_; }

 private:
  Template(std::string name, std::shared_ptr<const detail::TemplateNode> root)
      : name_(std::move(name)), root_(std::move(root)) {}
  std::string name_;
  std::shared_ptr<const detail::TemplateNode> root_;
};

/// Finds the template for `{{> name}}`, which must live as long as the rendering. A null pointer renders as
/// nothing; an Error ends the rendering.
using Partials = std::function<Result<const Template*>(std::string_view name)>;

/// Bounds of one rendering: templates come from users, and a partial may include itself.
struct RenderLimits {
  std::size_t depth = 32;                     ///< partials inside partials
  std::size_t steps = 1'000'000;              ///< tags and pieces of text
  std::size_t bytes = std::size_t{16} << 20;  ///< bytes of the result
};

/// Renders the template with the values of `data`. An unknown name is an empty text. Errors: `bad_input` with
/// name:line if a limit is exceeded; those of `partials`.
Result<std::string> render(const Template& source, const Value& data, const Partials& partials = {},
                           RenderLimits limits = {});

}  // namespace kernelsmith
