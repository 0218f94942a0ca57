#include "template_set.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "templates.hpp"

namespace kernelsmith::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".mustache";
constexpr std::uintmax_t kLargest = std::uintmax_t{1} << 20;

Error unreadable(const fs::path& path, const std::error_code& error) {
  const bool missing = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  const bool denied = error == std::errc::permission_denied;
  return fail(missing  ? ErrorCode::not_found
              : denied ? ErrorCode::permission
                       : ErrorCode::io,
              "cannot be read: " + error.message(), path.string());
}

Result<std::string> text_of(const fs::path& path) {
  std::error_code error;
  if (const auto file = fs::status(path, error); fs::exists(file) && !fs::is_regular_file(file))
    return fail(ErrorCode::bad_input, "this is not a regular file", path.string(), "a template is one");
  const auto size = fs::file_size(path, error);
  if (error) return unreadable(path, error);
  if (size > kLargest) return fail(ErrorCode::bad_input, "a template has at most 1 MiB", path.string());
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad())
    return unreadable(
        path, std::make_error_code(in.is_open() ? std::errc::io_error : std::errc::permission_denied));
  return text;
}

/// The entries of a folder, in the order of their names.
Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(entry->path());
  if (error) return unreadable(folder, error);
  std::ranges::sort(entries);
  return entries;
}

}  // namespace

Result<TemplateSets> TemplateSets::load(const fs::path& folder) {
  TemplateSets sets;
  for (const TemplateFile& file : template_files()) {
    const fs::path path(file.path);
    if (path.extension() != kExtension) continue;
    const Status added = sets.add(file.name, path.stem().string(), file.text, file.name + "/" + file.path);
    if (!added) return added.error();
  }
  if (!folder.empty())
    if (const Status read = sets.read_folder(folder); !read) return read.error();
  return sets;
}

Status TemplateSets::read_folder(const fs::path& folder) {
  const auto sets = entries_of(folder);
  if (!sets) {
    Error error = sets.error();
    error.hint = "proposer.prompts.folder (--prompts) is a folder that holds SET/NAME.mustache";
    return error;
  }
  for (const fs::path& set : *sets) {
    if (set.extension() == kExtension)
      return fail(ErrorCode::bad_input, "a template stands in the folder of its set", set.string(),
                  "move it to " + (folder / kBaseSet / set.filename()).string() +
                      ", or name the folder that holds its set's");
    std::error_code ignored;
    if (!fs::is_directory(set, ignored)) continue;
    const auto files = entries_of(set);
    if (!files) return files.error();
    for (const fs::path& file : *files) {
      if (file.extension() != kExtension) continue;
      const auto text = text_of(file);
      if (!text) return text.error();
      Status added = add(set.filename().string(), file.stem().string(), *text, file.string());
      if (!added) return added;
    }
  }
  return {};
}

Status TemplateSets::add(const std::string& set, const std::string& name, std::string_view text,
                         const std::string& place) {
  auto parsed = Template::parse(text, place);
  if (!parsed) return parsed.error();
  templates_.insert_or_assign({set, name}, std::move(*parsed));
  digests_[{set, name}] = digest_of(text);
  return {};
}

Digest TemplateSets::digest() const {
  DigestBuilder all;
  for (const auto& [place, text] : digests_) all.add(place.first).add(place.second).add(text.hex());
  return all.finish();
}

bool TemplateSets::has_set(std::string_view set) const {
  return std::ranges::any_of(templates_, [&](const auto& entry) { return entry.first.first == set; });
}

std::vector<std::string> TemplateSets::sets() const {
  std::vector<std::string> names;
  for (const auto& [key, parsed] : templates_)
    if (names.empty() || names.back() != key.first) names.push_back(key.first);
  return names;
}

const Template* TemplateSets::find(const std::vector<std::string>& sets, std::string_view name) const {
  for (const std::string& set : sets) {
    const auto at = templates_.find(std::pair(set, std::string(name)));
    if (at != templates_.end()) return &at->second;
  }
  return nullptr;
}

Result<std::string> TemplateSets::render(const std::vector<std::string>& sets, const std::string& name,
                                         const Value& data) const {
  const auto partial = [&](std::string_view wanted) -> Result<const Template*> {
    if (const Template* found = find(sets, wanted)) return found;
    return fail(ErrorCode::not_found, "no set has a template " + std::string(wanted) + kExtension,
                sets.front());
  };
  const auto source = partial(name);
  if (!source) return source.error();
  return kernelsmith::render(**source, data, partial);
}

}  // namespace kernelsmith::detail
