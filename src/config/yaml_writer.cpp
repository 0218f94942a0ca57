// Writes YAML as a person would: block style, short numbers, and quotes only if they are needed.
#include <cmath>
#include <stdexcept>

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/yaml.h>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith {
namespace {

std::string shortest(double value) {
  if (!std::isfinite(value)) throw std::invalid_argument("YamlWriter: a number that is not finite");
  return number_text(value);
}

}  // namespace

struct YamlWriter::Impl {
  YAML::Emitter out;

  YAML::Emitter& at(std::string_view key) { return out << YAML::Key << std::string(key) << YAML::Value; }
};

YamlWriter::YamlWriter() : impl_(std::make_unique<Impl>()) { impl_->out << YAML::BeginMap; }
YamlWriter::~YamlWriter() = default;

void YamlWriter::comment(std::string_view text) { impl_->out << YAML::Comment(std::string(text)); }

void YamlWriter::put(std::string_view key, std::string_view value) { impl_->at(key) << std::string(value); }
void YamlWriter::put(std::string_view key, bool value) { impl_->at(key) << value; }
void YamlWriter::put(std::string_view key, double value) { impl_->at(key) << shortest(value); }
void YamlWriter::put(std::string_view key, std::int64_t value) { impl_->at(key) << value; }
void YamlWriter::put(std::string_view key, std::uint64_t value) { impl_->at(key) << value; }

void YamlWriter::put(std::string_view key, const std::vector<std::string>& values) {
  impl_->at(key) << YAML::Flow << YAML::BeginSeq;
  for (const std::string& value : values) impl_->out << value;
  impl_->out << YAML::EndSeq;
}

void YamlWriter::put(std::string_view key, const std::vector<double>& values) {
  impl_->at(key) << YAML::Flow << YAML::BeginSeq;
  for (const double value : values) impl_->out << shortest(value);
  impl_->out << YAML::EndSeq;
}

void YamlWriter::put(std::string_view key, const std::map<std::string, std::int64_t>& values) {
  impl_->at(key) << YAML::Flow << YAML::BeginMap;
  for (const auto& [name, value] : values) impl_->at(name) << value;
  impl_->out << YAML::EndMap;
}

void YamlWriter::map(std::string_view key, const std::function<void(YamlWriter&)>& body) {
  impl_->at(key);
  begin_map();
  body(*this);
  end_map();
}

void YamlWriter::begin_list(std::string_view key) { impl_->at(key) << YAML::BeginSeq; }
void YamlWriter::end_list() { impl_->out << YAML::EndSeq; }
void YamlWriter::begin_map() { impl_->out << YAML::BeginMap; }
void YamlWriter::end_map() { impl_->out << YAML::EndMap; }

std::string YamlWriter::finish() {
  end_map();
  return std::string(impl_->out.c_str(), impl_->out.size()) + "\n";
}

}  // namespace kernelsmith
