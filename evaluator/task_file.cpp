#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <kernelsmith/config/nearest_name.hpp>
#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/evaluator/expression.hpp>
#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

#include "foreign_names.hpp"
#include "identifiers.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxTensors = 64;
constexpr std::size_t kMaxShapes = 64;
constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;

/// A file that the task names, and where it does.
struct NamedFile {
  std::string path;
  std::string where;
};

struct NamedFiles {
  std::vector<NamedFile> reference, baseline, seed, yardstick, oracle, also;
};

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

void read_files(YamlMap& in, NamedFiles& files) {
  const auto optional = [&](std::string_view key, std::vector<NamedFile>& out) {
    if (in.kind(key) != YamlKind::absent) read_paths(in, key, out);
  };
  optional("reference", files.reference);
  optional("baseline", files.baseline);
  optional("seed", files.seed);
  optional("yardstick", files.yardstick);
  optional("oracle", files.oracle);
  optional("also", files.also);
}

void require_identifier(YamlMap& in, std::string_view key, std::string_view name) {
  if (in.ok() && !is_identifier(name))
    in.refuse(key, "'" + std::string(name) + "' is no C++ identifier",
              "letters, digits and _, not beginning with a digit, no keyword");
}

void read_sizes(YamlMap& in, Sizes& sizes) {
  in.optional("sizes", sizes, Range<std::int64_t>{1, kMaxSize});
  for (const auto& size : sizes) require_identifier(in, "sizes", size.first);
}

void read_specials(YamlMap& in, TensorSpec& tensor) {
  constexpr std::array<std::string_view, 4> kKnown = {"nan", "inf", "denormals", "large"};
  std::vector<std::string> names;
  in.optional("specials", names);
  for (const std::string& name : names) {
    if (std::ranges::find(kKnown, name) == kKnown.end())
      in.refuse("specials", "unknown special value '" + name + "'", name_hint(name, kKnown));
    tensor.specials.nan |= name == "nan";
    tensor.specials.infinities |= name == "inf";
    tensor.specials.denormals |= name == "denormals";
    tensor.specials.large |= name == "large";
  }
  if (!in.ok() || !tensor.specials.any()) return;
  if (tensor.role == TensorRole::out)
    return in.refuse("specials", "only what the entry reads can hold special values, and '" + tensor.name +
                                     "' has the role 'out'");
  const bool real = tensor.dtype == Dtype::f64 || tensor.dtype == Dtype::f32 || tensor.dtype == Dtype::f16 ||
                    tensor.dtype == Dtype::bf16;
  if (!real) return in.refuse("specials", "a tensor of integers has no special values");
  if (tensor.constant) in.refuse("specials", "a constant tensor would show the same ones in every call");
}

void read_tensor(YamlMap& in, const Sizes& sizes, std::vector<TensorSpec>& tensors) {
  TensorSpec tensor;
  in.only({"name", "role", "dtype", "shape", "init", "constant", "specials"});
  in.required("name", tensor.name);
  in.required("role", tensor.role, choices({TensorRole::in, TensorRole::out, TensorRole::inout}),
              role_meant_by);
  // Those of the backend `cpu`, which is the only one with tensors.
  in.required("dtype", tensor.dtype,
              choices({Dtype::f64, Dtype::f32, Dtype::i64, Dtype::i32, Dtype::i8, Dtype::u8}),
              dtype_meant_by);
  in.required("shape", tensor.shape);
  in.optional("init", tensor.init,
              choices({TensorInit::normal, TensorInit::uniform, TensorInit::positive, TensorInit::integer,
                       TensorInit::zeros}),
              init_meant_by);
  in.optional("constant", tensor.constant);
  read_specials(in, tensor);
  require_identifier(in, "name", tensor.name);
  if (!in.ok()) return;

  const auto taken = [&](const TensorSpec& other) { return other.name == tensor.name; };
  if (std::ranges::any_of(tensors, taken) || sizes.contains(tensor.name))
    return in.refuse("name", "'" + tensor.name + "' is taken by another tensor or size");
  if (tensor.constant && tensor.role != TensorRole::in)
    return in.refuse("constant", "only a tensor of role 'in' can be constant");
  if (tensors.size() == kMaxTensors) return in.refuse("name", "more than 64 tensors");
  if (const auto extent = extent_of(tensor, sizes); !extent)
    return in.refuse("shape", extent.error().message, extent.error().hint);
  tensors.push_back(std::move(tensor));
}

/// Sizes that differ from the defaults, filled up with these.
void read_shape(YamlMap& in, const Task& task, std::vector<Sizes>& shapes) {
  Sizes sizes = task.sizes;
  for (const std::string& key : in.keys()) {
    const auto size = sizes.find(key);
    if (size == sizes.end()) {
      std::vector<std::string_view> known;
      for (const auto& named : sizes) known.push_back(named.first);
      in.kind(key);
      return in.refuse(key, "unknown size '" + key + "'", name_hint(key, known));
    }
    in.required(key, size->second, Range<std::int64_t>{1, kMaxSize});
  }
  if (!in.ok()) return;
  const std::vector<std::string> keys = in.keys();
  const std::string first = keys.empty() ? "" : keys.front();
  if (shapes.size() == kMaxShapes) return in.refuse(first, "more than 64 shapes");
  if (const auto extents = extents_of(task, sizes); !extents)
    return in.refuse(first, extents.error().message, extents.error().hint);
  shapes.push_back(std::move(sizes));
}

void read_tolerance(YamlMap& in, Tolerance& tolerance) {
  const Choices<std::string> policies = {{"auto", "auto"}, {"exact", "exact"}, {"normwise", "normwise"}};
  in.optional("policy", tolerance.policy, policies);
  in.optional("allow", tolerance.allow);
  constexpr std::array<std::string_view, 4> kKnown = {"tf32", "bf16_accumulate", "f16_accumulate",
                                                      "reassociate"};
  for (const std::string& name : tolerance.allow)
    if (std::ranges::find(kKnown, name) == kKnown.end())
      in.refuse("allow", "unknown allowance '" + name + "'", name_hint(name, kKnown));
  if (in.ok() && tolerance.policy == "exact" && !tolerance.allow.empty())
    in.refuse("allow", "the policy 'exact' compares bit for bit and allows nothing", "leave out 'allow'");
}

void read_declared(YamlMap& in, const Task& task, Declared& declared) {
  in.optional("bytes", declared.bytes);
  in.optional("operations", declared.operations);
  in.optional("operations_are_minimal", declared.operations_are_minimal);
  const auto check = [&](std::string_view key, const std::string& expression) {
    if (!in.ok() || expression.empty()) return;
    for (const Sizes& sizes : task.timed)
      if (const auto value = evaluate_expression(expression, sizes); !value)
        return in.refuse(key, value.error().message, value.error().hint);
  };
  check("bytes", declared.bytes);
  check("operations", declared.operations);
}

/// What a task with an entry needs, beyond its types.
void require_kernel(YamlMap& in, const Task& task, const NamedFiles& files) {
  require_identifier(in, "entry", task.entry);
  if (files.reference.empty() && in.ok())
    in.refuse("files", "no reference is named", "files: {reference: reference.cpp}");
  const auto written = [](const TensorSpec& tensor) { return tensor.role != TensorRole::in; };
  if (in.ok() && std::ranges::none_of(task.tensors, written))
    in.refuse("tensors", "no tensor has the role 'out' or 'inout': the entry would have no result");
  if (in.ok() && !task.command.empty())
    in.refuse("command", "only tasks of the backend 'command' run a program of their own");
}

void read_kernel(YamlMap& in, Task& task, const NamedFiles& files) {
  const Choices<CacheState> caches = {{"cold", CacheState::cold}, {"warm", CacheState::warm}};
  in.required("entry", task.entry);
  read_sizes(in, task.sizes);
  in.required_maps("tensors", [&](YamlMap& tensor) { read_tensor(tensor, task.sizes, task.tensors); });
  in.optional_maps("timed", [&](YamlMap& shape) { read_shape(shape, task, task.timed); });
  if (task.timed.empty()) task.timed.push_back(task.sizes);
  in.optional_maps("check", [&](YamlMap& shape) { read_shape(shape, task, task.check); });
  in.optional_map("tolerance", [&](YamlMap& tolerance) { read_tolerance(tolerance, task.tolerance); });
  in.optional_map("declared", [&](YamlMap& declared) { read_declared(declared, task, task.declared); });
  in.optional("cache", task.cache, caches);
  in.optional("flags", task.flags);
  require_kernel(in, task, files);
}

/// Run folders are named after the task, and terminals show it.
void require_plain_name(YamlMap& in, std::string_view key, const std::string& name) {
  constexpr std::size_t kLongest = 100;
  const bool plain = name.size() <= kLongest && name.find('/') == name.npos && !name.starts_with('-') &&
                     !name.starts_with('.') && Source::create({{name, ""}});
  if (in.ok() && !plain)
    in.refuse(key, "the name cannot be that of a folder",
              "at most 100 bytes without / and control bytes, not beginning with - or .");
}

void read_version(YamlMap& in) {
  int version = 0;
  in.required("version", version);
  if (in.ok() && version != 1)
    in.refuse("version", "task version " + std::to_string(version) + " is not known",
              "this kernelsmith reads version 1");
}

void read_backend(YamlMap& in, std::string& backend) {
  constexpr std::array<std::string_view, 3> kLater = {"cuda", "torch", "maca"};
  const Choices<std::string> backends = {{"cpu", "cpu"}, {"command", "command"}};
  std::string name;
  in.required("backend", name);
  if (std::ranges::find(kLater, name) != kLater.end())
    in.refuse("backend", "the backend '" + name + "' is not built yet", "there are cpu and command");
  in.required("backend", backend, backends);
}

void read_root(YamlMap& in, Task& task, NamedFiles& files) {
  read_version(in);
  read_backend(in, task.backend);
  if (task.backend == "command")
    in.only({"version", "name", "backend", "description", "threads", "nondeterministic", "timeout_s", "files",
             "command"});
  else
    in.only({"version", "name", "backend", "description", "threads", "nondeterministic", "timeout_s", "files",
             "command", "entry", "sizes", "tensors", "timed", "check", "tolerance", "declared", "cache",
             "flags"});
  in.required("name", task.name);
  require_plain_name(in, "name", task.name);
  in.optional("description", task.description);
  in.optional("threads", task.threads, Range<int>{1, 1024});
  in.optional("nondeterministic", task.nondeterministic);
  in.optional("timeout_s", task.timeout_s, Range<double>{0.01, 86400});
  in.optional_map("files", [&](YamlMap& named) { read_files(named, files); });
  if (!in.ok()) return;
  if (task.backend == "command") {
    in.required("command", task.command);
    if (in.ok() && task.command.empty()) in.refuse("command", "the list is empty");
  } else {
    in.optional("command", task.command);
    read_kernel(in, task, files);
  }
}

Result<std::vector<SourceFile>> read_all(const std::vector<NamedFile>& named, const TaskFileReader& read) {
  std::vector<SourceFile> files;
  for (const NamedFile& file : named) {
    // Checked as a path before anything is opened.
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
  auto source = Source::create(std::move(*files));
  if (!source) return fail(ErrorCode::bad_input, source.error().message, named.front().where);
  out = std::move(*source);
  return {};
}

Status load_files(const NamedFiles& files, const TaskFileReader& read, Task& task) {
  if (auto s = load_source(files.reference, read, task.reference); !s) return s;
  if (auto s = load_source(files.baseline, read, task.baseline); !s) return s;
  if (auto s = load_source(files.seed, read, task.seed); !s) return s;
  if (auto s = load_source(files.yardstick, read, task.yardstick); !s) return s;
  if (auto s = load_source(files.oracle, read, task.oracle); !s) return s;
  auto also = read_all(files.also, read);
  if (!also) return also.error();
  task.files = std::move(*also);
  if (task.baseline.empty()) task.baseline = task.reference;
  return {};
}

/// Reads a regular file below `folder`; a link that leads out of it is refused like a path that does.
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
  if (!std::filesystem::is_regular_file(path, error))
    return fail(ErrorCode::bad_input, "'" + relative + "' is no regular file");
  if (std::filesystem::file_size(path, error) > kMaxFileBytes)
    return fail(ErrorCode::bad_input, "'" + relative + "' is larger than 4 MiB");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return fail(errno == EACCES ? ErrorCode::permission : ErrorCode::io,
                "'" + relative + "' cannot be opened");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return fail(ErrorCode::io, "'" + relative + "' cannot be read");
  return text;
}

}  // namespace

Result<Task> parse_task(std::string_view yaml, std::string_view name, const TaskFileReader& read) {
  Task task;
  NamedFiles files;
  const auto status = read_yaml(yaml, std::string(name), [&](YamlMap& in) { read_root(in, task, files); });
  if (!status) return status.error();
  if (const auto loaded = load_files(files, read, task); !loaded) return loaded.error();
  task.digest = task_digest(task);
  return task;
}

Result<Task> load_task(const std::filesystem::path& path) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  const auto file = is_folder ? path / "task.yaml" : path;
  if (!is_folder && path.extension() != ".yaml" && path.extension() != ".yml" &&
      std::filesystem::exists(path, error))
    return fail(ErrorCode::bad_input, "this is no task", path.string(),
                "give a folder with a task.yaml, or that file; `kernelsmith init` makes one");
  auto folder = file.parent_path();
  if (folder.empty()) folder = ".";
  const auto yaml = read_below(folder, file.filename().string());
  if (!yaml) {
    Error failed = yaml.error();
    failed.where = file.string();
    if (failed.code == ErrorCode::not_found)
      failed.hint = "give a folder with a task.yaml; `kernelsmith init` makes one";
    return failed;
  }
  return parse_task(*yaml, file.string(),
                    [&](const std::string& named) { return read_below(folder, named); });
}

}  // namespace kernelsmith
