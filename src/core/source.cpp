#include <algorithm>
#include <set>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {
namespace {

/// What is wrong with a path; empty if nothing is.
std::string_view fault_of(std::string_view path) {
  if (path.empty()) return "is empty";
  if (path.front() == '/') return "is absolute";
  if (path.find('\\') != path.npos) return "contains a backslash";
  if (std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; })) {
    return "contains a control byte";
  }
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == ".") return "has an empty part";
    if (part == "..") return "climbs out of its folder";
    begin = end + 1;
  }
  return {};
}

}  // namespace

Result<Source> Source::create(std::vector<SourceFile> files) {
  std::set<std::string_view> seen;
  for (const SourceFile& file : files) {
    if (const auto fault = fault_of(file.path); !fault.empty()) {
      return fail(ErrorCode::bad_input, "the path " + std::string(fault), file.path,
                  "use a relative path such as kernel.cpp");
    }
    if (!seen.insert(file.path).second) {
      return fail(ErrorCode::bad_input, "the path appears twice in one source", file.path);
    }
  }
  Source source;
  source.files_ = std::move(files);
  return source;
}

const SourceFile* Source::find(std::string_view path) const {
  const auto it = std::ranges::find(files_, path, &SourceFile::path);
  return it == files_.end() ? nullptr : &*it;
}

std::string_view Source::main_text() const {
  return files_.empty() ? std::string_view{} : std::string_view{files_.front().text};
}

std::size_t Source::bytes() const {
  std::size_t total = 0;
  for (const SourceFile& file : files_) total += file.text.size();
  return total;
}

Digest Source::digest() const {
  DigestBuilder builder;
  builder.add(files_.size());
  for (const SourceFile& file : files_) builder.add(file.path).add(file.text);
  return builder.finish();
}

}  // namespace kernelsmith
