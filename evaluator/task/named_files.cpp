#include "named_files.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <utility>

#include <kernelsmith/core/untrusted_files.hpp>

namespace kernelsmith::task {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;

/// One path or a list of them.
void read_paths(YamlMap& in, std::string_view key, std::vector<NamedFile>& out) {
  std::vector<std::string> paths;
  if (in.kind(key) == YamlKind::list) {
    in.required(key, paths);
  } else {
    in.required(key, paths.emplace_back());
  }
  for (std::string& path : paths) out.push_back({std::move(path), in.where(key)});
}

Result<std::vector<SourceFile>> read_all(const std::vector<NamedFile>& named, const TaskFileReader& read) {
  std::vector<SourceFile> files;
  for (const NamedFile& file : named) {
    // Checks the path before opening anything.
    if (const auto path = Source::create({{file.path, ""}}); !path)
      return fail(ErrorCode::bad_input, path.error().message, file.where, path.error().hint);
    auto text = read(file.path);
    if (!text) {
      Error error = text.error();
      error.where = file.where;
      return error;
    }
    files.push_back({file.path, std::move(*text)});
  }
  return files;
}

Status load_source(const std::vector<NamedFile>& named, const TaskFileReader& read, Source& out) {
  if (named.empty()) return {};
  auto files = read_all(named, read);
  if (!files) return files.error();
  for (std::size_t i = 0; i < files->size(); ++i) {
    drop_byte_order_mark((*files)[i].text);
    if (Status readable = check_text((*files)[i].text, named[i].where); !readable) return readable;
  }
  auto source = Source::create(std::move(*files));
  if (!source) return fail(ErrorCode::bad_input, source.error().message, named.front().where);
  out = std::move(*source);
  return {};
}

/// `name` is the path in errors.
Result<std::string> read_regular(const std::filesystem::path& path, const std::string& name) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return fail(ErrorCode::bad_input, "'" + name + "' is not a regular file");
  if (std::filesystem::file_size(path, error) > kMaxFileBytes)
    return fail(ErrorCode::bad_input, "'" + name + "' is larger than 4 MiB");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return fail(errno == EACCES ? ErrorCode::permission : ErrorCode::io, "'" + name + "' cannot be opened");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return fail(ErrorCode::io, "'" + name + "' cannot be read");
  return text;
}

}  // namespace

void read_files(YamlMap& in, NamedFiles& files) {
  const auto optional = [&](std::string_view key, std::vector<NamedFile>& out) {
    if (in.kind(key) != YamlKind::absent) read_paths(in, key, out);
  };
  optional("reference", files.reference);
  optional("baseline", files.baseline);
  optional("seed", files.seed);
  optional("yardstick", files.yardstick);
  optional("oracle", files.oracle);
  optional("inputs", files.inputs);
  optional("also", files.also);
}

Status load_files(const NamedFiles& files, const TaskFileReader& read, Task& task) {
  if (auto s = load_source(files.reference, read, task.reference); !s) return s;
  if (auto s = load_source(files.baseline, read, task.baseline); !s) return s;
  if (auto s = load_source(files.seed, read, task.seed); !s) return s;
  if (auto s = load_source(files.yardstick, read, task.yardstick); !s) return s;
  if (auto s = load_source(files.oracle, read, task.oracle); !s) return s;
  if (auto s = load_source(files.inputs, read, task.inputs); !s) return s;
  auto also = read_all(files.also, read);
  if (!also) return also.error();
  task.files = std::move(*also);
  if (task.baseline.empty()) task.baseline = task.reference;
  return {};
}

Result<std::string> read_below(const std::filesystem::path& folder, const std::string& relative) {
  std::error_code error;
  const auto path = std::filesystem::canonical(folder / relative, error);
  if (error == std::errc::no_such_file_or_directory)
    return fail(ErrorCode::not_found, "the file '" + relative + "' does not exist", {},
                "paths are relative to the task's folder");
  if (error == std::errc::permission_denied)
    return fail(ErrorCode::permission, "the file '" + relative + "' may not be read");
  if (error) return fail(ErrorCode::io, "'" + relative + "': " + error.message());
  const auto inside = std::filesystem::relative(path, std::filesystem::canonical(folder, error), error);
  if (error || inside.empty() || *inside.begin() == "..")
    return fail(ErrorCode::bad_input, "'" + relative + "' leads out of the task's folder");
  return read_regular(path, relative);
}

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return fail(ErrorCode::not_found, "the file '" + path.string() + "' does not exist");
  return read_regular(path, path.string());
}

}  // namespace kernelsmith::task
