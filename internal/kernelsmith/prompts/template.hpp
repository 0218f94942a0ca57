// Template: Mustache as in the published specification (variables, sections, inverted sections, comments,
// partials, set delimiters), without lambdas. Nothing is escaped, because prompts are plain text. Values are
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
  /// that has no end or another section's end, a name that contains white space, or sections that are nested
  /// deeper than 64.
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

/// Limits of one rendering. They are needed because users write templates, and a partial may include itself.
struct RenderLimits {
  std::size_t depth = 32;                     ///< how deep partials may be nested
  std::size_t steps = 1'000'000;              ///< number of tags and pieces of text
  std::size_t bytes = std::size_t{16} << 20;  ///< bytes of the result
};

/// Renders the template with the values of `data`. An unknown name stands for an empty text. Errors:
/// `bad_input` with name:line if a limit is exceeded, and those of `partials`.
Result<std::string> render(const Template& source, const Value& data, const Partials& partials = {},
                           RenderLimits limits = {});

}  // namespace kernelsmith
