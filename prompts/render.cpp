// Renders a parsed template with its data.
#include <algorithm>
#include <utility>
#include <vector>

#include <kernelsmith/prompts/template.hpp>

#include "template_node.hpp"

namespace kernelsmith {
namespace {

using detail::TemplateNode;
using Kind = TemplateNode::Kind;

class Renderer {
 public:
  Renderer(const Value& data, const Partials& partials, const RenderLimits& limits)
      : partials_(partials), limits_(limits), context_{&data} {}

  Status render(const Template& source, const std::string& indent) {
    path_.push_back(&source.name());
    Status rendered = render(source.root().children, indent);
    path_.pop_back();
    return rendered;
  }

  std::string take() { return std::move(out_); }

 private:
  Error error(std::string message, const TemplateNode& node, std::string hint) const {
    return fail(ErrorCode::bad_input, std::move(message), *path_.back() + ":" + std::to_string(node.line),
                std::move(hint));
  }

  Status render(const std::vector<TemplateNode>& nodes, const std::string& indent) {
    for (const TemplateNode& node : nodes) {
      if (++steps_ > limits_.steps || out_.size() > limits_.bytes)
        return error("the template renders without an end in sight", node,
                     "look for partials that include one another, and for sections in them");
      if (Status rendered = render(node, indent); !rendered) return rendered;
    }
    return {};
  }

  Status render(const TemplateNode& node, const std::string& indent) {
    switch (node.kind) {
      case Kind::text:
        out_ += node.text;
        return {};
      case Kind::line_start:
        out_ += indent;
        return {};
      case Kind::variable: {
        const Value* value = look_up(node.text);
        if (value && value->text()) out_ += *value->text();
        return {};
      }
      case Kind::section:
        return render_section(node, indent);
      case Kind::inverted: {
        const Value* value = look_up(node.text);
        return value && value->truthy() ? Status{} : render(node.children, indent);
      }
      case Kind::partial:
        return render_partial(node, indent);
    }
    return {};
  }

  Status render_section(const TemplateNode& node, const std::string& indent) {
    const Value* value = look_up(node.text);
    if (!value || !value->truthy()) return {};
    if (!value->list()) return render_within(*value, node, indent);
    for (const Value& element : *value->list())
      if (Status rendered = render_within(element, node, indent); !rendered) return rendered;
    return {};
  }

  Status render_within(const Value& value, const TemplateNode& node, const std::string& indent) {
    if (++steps_ > limits_.steps)
      return error("the template renders without an end in sight", node, "look for sections in sections");
    context_.push_back(&value);
    Status rendered = render(node.children, indent);
    context_.pop_back();
    return rendered;
  }

  Status render_partial(const TemplateNode& node, const std::string& indent) {
    if (!partials_) return {};
    const auto partial = partials_(node.text);
    if (!partial) return partial.error();
    if (!*partial) return {};
    if (path_.size() > limits_.depth)
      return error("partials nest deeper than " + std::to_string(limits_.depth) + ": " + innermost_path() +
                       " > " + node.text,
                   node, "a partial that includes itself needs a section that ends");
    return render(**partial, indent + node.indent);
  }

  std::string innermost_path() const {
    constexpr std::size_t kShown = 3;
    std::string text = "...";
    for (std::size_t i = path_.size() - std::min(kShown, path_.size()); i < path_.size(); ++i)
      text += " > " + *path_[i];
    return text;
  }

  /// A leading dot means that only the innermost value is used. Otherwise the first part of the name is
  /// looked up from the innermost value outwards, and every further part in the value of the previous part.
  const Value* look_up(std::string_view name) const {
    if (name == ".") return context_.back();
    const Value* found = nullptr;
    if (name.starts_with('.')) {
      found = context_.back();
    } else {
      const std::string_view first = name.substr(0, name.find('.'));
      for (auto value = context_.rbegin(); !found && value != context_.rend(); ++value)
        found = (*value)->find(first);
      name.remove_prefix(first.size());
    }
    while (found && !name.empty()) {
      name.remove_prefix(1);
      const std::string_view part = name.substr(0, name.find('.'));
      found = found->find(part);
      name.remove_prefix(part.size());
    }
    return found;
  }

  const Partials& partials_;
  const RenderLimits& limits_;
  std::vector<const Value*> context_;     // innermost last
  std::vector<const std::string*> path_;  // names of the templates, innermost last
  std::size_t steps_ = 0;
  std::string out_;
};

}  // namespace

Result<std::string> render(const Template& source, const Value& data, const Partials& partials,
                           RenderLimits limits) {
  Renderer renderer(data, partials, limits);
  if (Status rendered = renderer.render(source, ""); !rendered) return rendered.error();
  return renderer.take();
}

}  // namespace kernelsmith
