#include "extension/extension_job.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::torch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostUnits = 256, kMostFlags = 256, kMostFlagBytes = 1024, kMostNameBytes = 256;

Failure forged_job(const std::string& what) {
  return reject(Stage::integrity, RejectionCode::protocol_forged,
                "the planner asks for an extension " + what + ": only the planner may write to its channel");
}

/// The list of texts at `key`; empty if it is not such a list, or exceeds its limits.
std::optional<std::vector<std::string>> texts_at(const Json& object, const char* key) {
  const Json& list = member(object, key);
  std::vector<std::string> texts;
  if (list.is_null()) return texts;
  if (!list.is_array() || list.size() > kMostFlags) return std::nullopt;
  for (const Json& each : list) {
    if (!each.is_string() || each.get_ref<const std::string&>().size() > kMostFlagBytes) return std::nullopt;
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

/// Whether `path` names a file in the build's folder or below.
bool is_plain_path(const std::string& path) {
  if (path.empty() || path.size() > kMostNameBytes || !fs::path(path).is_relative()) return false;
  const bool printable = std::ranges::all_of(path, [](unsigned char c) { return std::isprint(c) != 0; });
  return printable && std::ranges::none_of(fs::path(path), [](const fs::path& part) {
           return part.empty() || part == ".." || part == ".";
         });
}

bool read_units(const Json& build, std::vector<SourceFile>& files) {
  const Json& units = member(build, "units");
  if (!units.is_array() || units.empty() || units.size() > kMostUnits) return false;
  std::set<std::string> names;
  for (const Json& unit : units) {
    const Json &name = member(unit, "name"), &text = member(unit, "text");
    if (!name.is_string() || !text.is_string() || !is_plain_path(name.get<std::string>())) return false;
    files.push_back({name.get<std::string>(), text.get<std::string>()});
    if (!names.insert(files.back().path).second) return false;
  }
  return true;
}

bool is_standard(const std::string& name) {
  return name.size() == 5 && name.starts_with("c++") &&
         std::ranges::all_of(name.substr(3), [](unsigned char c) { return std::isalnum(c) != 0; });
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

/// Folders that every compiler's sandbox shows.
const std::vector<fs::path> kSystem = {"/usr/include", "/usr/local"};

bool is_shown(const fs::path& folder, const std::vector<fs::path>& shown) {
  return std::ranges::any_of(shown, [&](const fs::path& each) {
    std::error_code unresolved;
    const auto real = fs::canonical(each, unresolved);
    return !unresolved && is_inside(folder, real);
  });
}

/// A relative folder is the candidate's own: its headers are sent as files.
void add_folder(const std::string& named, const std::vector<fs::path>& shown, ExtensionJob& job) {
  if (!fs::path(named).is_absolute()) return;
  std::error_code unresolved;
  const auto folder = fs::canonical(named, unresolved);
  const bool seen = !unresolved && fs::is_directory(folder, unresolved) &&
                    (is_shown(folder, shown) || is_shown(folder, kSystem));
  if (!seen)
    job.unseen.push_back(named);
  else if (std::ranges::find(job.job.include, folder) == job.job.include.end())
    job.job.include.push_back(folder);
}

}  // namespace

Judged<ExtensionJob> read_job(const Json& build, int arch, const std::vector<fs::path>& shown) {
  ExtensionJob job;
  job.key = text_at(build, "key");
  job.name = text_at(build, "name");
  if (job.key.empty() || job.key.size() > kMostNameBytes || job.name.size() > kMostNameBytes)
    return forged_job("without a name");
  if (member(build, "arch") != arch) return forged_job("for another GPU");
  job.job.arch = arch;
  if (!read_units(build, job.job.files)) return forged_job("whose files cannot be read");
  const Json& flags = member(build, "flags");
  const auto defines = texts_at(flags, "defines"), folders = texts_at(flags, "include"),
             nvcc = texts_at(flags, "nvcc");
  const std::string standard = member(flags, "std").is_null() ? "c++17" : text_at(flags, "std");
  if (!defines || !folders || !nvcc || !is_standard(standard))
    return forged_job("whose flags cannot be read");
  job.job.flags.push_back("-std=" + standard);
  for (const std::string& define : *defines) job.job.flags.push_back("-D" + define);
  job.job.device_flags = *nvcc;
  if (member(flags, "fast_math") == true) job.job.device_flags.emplace_back("--use_fast_math");
  job.job.include = shown;
  for (const std::string& folder : *folders) add_folder(folder, shown, job);
  return job;
}

std::string with_unseen(const std::string& error, const ExtensionJob& job) {
  if (job.unseen.empty()) return error;
  std::string told = error + "\nNot visible in the compiler's sandbox:";
  for (const std::string& folder : job.unseen) told += " -I" + escape_controls(folder);
  return told + " (a task shows folders by toolchain: {include: [...]})";
}

}  // namespace kernelsmith::torch
