#include <kernelsmith/config/section.hpp>

namespace kernelsmith {
namespace {

/// The text after the key; empty for an empty value.
template <class T>
std::string yaml_of(const T& value) {
  if constexpr (requires { value.empty(); })
    if (value.empty()) return {};
  YamlWriter out;
  out.put("x", value);
  std::string text = out.finish().substr(3);  // without the key
  text.pop_back();
  return text;
}

}  // namespace

template <class T, class... Limits>
bool Section::one(std::string_view key, T& value, std::string_view takes, std::string_view meaning,
                  const Limits&... limits) {
  if (out_) out_->put(key, value);
  if (texts_) tell(key, takes, yaml_of(value), meaning);
  if (!given(key)) return false;
  in_->required(key, value, limits...);
  return note(key);
}

bool Section::operator()(std::string_view key, bool& value, std::string_view meaning) {
  return one(key, value, "true or false", meaning);
}

bool Section::operator()(std::string_view key, std::string& value, std::string_view meaning) {
  return one(key, value, "a text", meaning);
}

bool Section::operator()(std::string_view key, std::filesystem::path& value, std::string_view meaning) {
  std::string text = value.string();
  const bool given = one(key, text, "a path", meaning);
  if (given) value = text;
  return given;
}

bool Section::operator()(std::string_view key, std::vector<std::string>& value, std::string_view meaning) {
  return one(key, value, "a list of texts", meaning);
}

bool Section::operator()(std::string_view key, std::vector<double>& value, std::string_view meaning) {
  return one(key, value, "a list of numbers", meaning);
}

bool Section::number(std::string_view key, double& value, Range<double> range, std::string_view meaning) {
  return one(key, value, words_of(range), meaning, range);
}

bool Section::number(std::string_view key, std::int64_t& value, Range<std::int64_t> range,
                     std::string_view meaning) {
  return one(key, value, words_of(range), meaning, range);
}

bool Section::number(std::string_view key, std::uint64_t& value, Range<std::uint64_t> range,
                     std::string_view meaning) {
  return one(key, value, words_of(range), meaning, range);
}

bool Section::word(std::string_view key, std::size_t& chosen, const std::vector<std::string_view>& names,
                   std::string_view meaning, const Meaning& meant) {
  if (out_) out_->put(key, names[chosen]);
  if (texts_) {
    std::string list;
    for (const std::string_view name : names) list += (list.empty() ? "`" : ", `") + std::string(name) + "`";
    tell(key, list, std::string(names[chosen]), meaning);
  }
  if (!given(key)) return false;
  Choices<std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) places.emplace_back(names[i], i);
  in_->required(key, chosen, places, meant);
  return note(key);
}

bool Section::kept_path(std::string_view key, std::string& value, std::string_view meaning) {
  if (!out_ || value.empty()) return one(key, value, "a path", meaning);
  std::string absolute = std::filesystem::absolute(value).lexically_normal().string();
  return one(key, absolute, {}, {});
}

void Section::map(std::string_view key, const Body& body) {
  if (out_)
    out_->map(key, [&](YamlWriter& out) {
      Section section(out);
      body(section);
    });
  if (texts_) {
    Section section = within(std::string(key));
    body(section);
  }
  if (in_)
    in_->optional_map(key, [&](YamlMap& in) {
      Section section = within(std::string(key), in);
      body(section);
    });
}

void Section::other(std::string_view key, std::string_view takes, std::string_view usual,
                    std::string_view meaning, const std::function<void(YamlMap&)>& read,
                    const std::function<void(YamlWriter&)>& write) {
  if (out_) write(*out_);
  if (texts_) tell(key, takes, std::string(usual), meaning);
  if (!given(key)) return;
  read(*in_);
  note(key);
}

bool Section::note(std::string_view key) {
  if (said_) said_->insert(path_.substr(said_below_) + std::string(key));
  return in_->ok();
}

void Section::tell(std::string_view key, std::string_view takes, std::string usual,
                   std::string_view meaning) {
  texts_->push_back(
      {path_ + std::string(key), kind_, std::string(takes), std::move(usual), std::string(meaning)});
}

Section Section::within(const std::string& key) const {
  Section section = *this;
  section.path_ += key + ".";
  return section;
}

Section Section::within(const std::string& key, YamlMap& in) const {
  Section section = within(key);
  section.in_ = &in;
  return section;
}

}  // namespace kernelsmith
