// Sets single values of a document that somebody else wrote. Texts that were quoted stay quoted.
#include <yaml-cpp/yaml.h>

#include <kernelsmith/config/yaml_edit.hpp>

namespace kernelsmith {
namespace {

constexpr const char* kQuotedTag = "!";  // yaml-cpp's tag of quoted texts

void write(YAML::Emitter& out, const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map:
      out << YAML::BeginMap;
      for (const auto& entry : node) {
        out << YAML::Key << entry.first.Scalar() << YAML::Value;
        write(out, entry.second);
      }
      out << YAML::EndMap;
      break;
    case YAML::NodeType::Sequence:
      out << YAML::Flow << YAML::BeginSeq;
      for (const auto& item : node) write(out, item);
      out << YAML::EndSeq;
      break;
    case YAML::NodeType::Scalar:
      if (node.Tag() == kQuotedTag) out << YAML::DoubleQuoted;
      out << node.Scalar();
      break;
    default:
      out << YAML::Null;
  }
}

/// The node at the path; missing mappings are created.
YAML::Node at(YAML::Node node, const std::vector<std::string>& path) {
  for (const std::string& key : path) {
    if (!node.IsMap()) node = YAML::Node(YAML::NodeType::Map);
    node.reset(node[key]);
  }
  return node;
}

template <typename Change>
Result<std::string> changed(std::string_view text, const std::vector<std::string>& path,
                            const Change& change) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsMap()) return fail(ErrorCode::bad_input, "the document is not a mapping");
    change(at(root, path));
    YAML::Emitter out;
    write(out, root);
    return std::string(out.c_str()) + '\n';
  } catch (const YAML::Exception& wrong) {
    return fail(ErrorCode::bad_input, std::string("the document is not YAML: ") + wrong.what());
  }
}

}  // namespace

Result<std::string> yaml_with(std::string_view text, const std::vector<std::string>& path,
                              const std::string& value) {
  return changed(text, path, [&](YAML::Node node) { node = value; });
}

Result<std::string> yaml_with_item(std::string_view text, const std::vector<std::string>& path,
                                   const std::string& item) {
  return changed(text, path, [&](YAML::Node node) {
    if (node.IsScalar()) node = std::vector<std::string>{node.Scalar()};
    node.push_back(item);
  });
}

}  // namespace kernelsmith
