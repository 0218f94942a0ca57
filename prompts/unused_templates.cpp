#include <algorithm>
#include <regex>
#include <set>
#include <system_error>

#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/prompts/unused_templates.hpp>

#include "templates.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".mustache";
constexpr std::size_t kLargest = std::size_t{1} << 20;

void add_partials(const std::string& text, std::set<std::string>& names) {
  static const std::regex partial(R"(\{\{>\s*([^\s}]+)\s*\}\})");
  for (std::sregex_iterator at(text.begin(), text.end(), partial), end; at != end; ++at)
    names.insert((*at)[1]);
}

/// The files SET/NAME.mustache of the folder, in order.
Result<std::vector<fs::path>> templates_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator set(folder, error), end; !error && set != end; set.increment(error)) {
    std::error_code ignored;
    for (const auto& file : fs::directory_iterator(*set, ignored))
      if (file.path().extension() == kExtension) files.push_back(file.path());
  }
  if (error) return system_error("cannot read", folder, error.value());
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<std::string>> unused_templates(const fs::path& folder, const std::string& set) {
  if (folder.empty()) return std::vector<std::string>{};
  const auto files = templates_in(folder);
  if (!files) return files.error();
  if (files->empty())
    return std::vector{folder.string() + " holds no template: they are SET/NAME.mustache in it"};
  std::set<std::string> names = {"system", "user"}, sets = {set};
  for (const detail::TemplateFile& file : detail::template_files()) {
    sets.emplace(file.name);
    add_partials(std::string(file.text), names);
  }
  for (const fs::path& file : *files)
    if (const auto text = read_regular_file(fs::weakly_canonical(file), kLargest)) add_partials(*text, names);
  std::vector<std::string> unused;
  for (const fs::path& file : *files) {
    const std::string its_set = file.parent_path().filename().string();
    if (!sets.contains(its_set))
      unused.push_back(file.string() + " is not used: the set is " + set + ", and " + its_set +
                       " is not the set of an operator");
    else if (!names.contains(file.stem().string()))
      unused.push_back(file.string() + " is not used: no template has the partial " + file.stem().string());
  }
  return unused;
}

}  // namespace kernelsmith
