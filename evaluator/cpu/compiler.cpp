#include "compiler.hpp"

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "link_line.hpp"
#include "protocol.hpp"
#include "usual_headers.hpp"

namespace kernelsmith {
namespace {

constexpr std::uint64_t kCompileMemory = 2ULL << 30;
/// What a compilation may take of wall time for each second that it may take of CPU time: a compiler that
/// waits for a processor is not the candidate's fault.
constexpr double kWallPerCpu = 5;
constexpr std::uint64_t kMaxPrecompiledBytes = 256ULL << 20;
/// Of the shell, where it was the linker that failed.
constexpr int kLinkerFailed = 77;

bool is_cpp(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension();
  return extension == ".cpp" || extension == ".cc" || extension == ".cxx";
}

/// The program's absolute path, looked up like a shell would.
std::filesystem::path find_program(const std::string& name) {
  if (name.find('/') != name.npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* const variable = std::getenv("PATH");
  std::string_view path = variable != nullptr ? variable : "/usr/bin:/bin";
  while (!path.empty()) {
    const std::size_t colon = path.find(':');
    auto candidate = std::filesystem::path(path.substr(0, colon)) / name;
    if (candidate.is_absolute() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    path.remove_prefix(colon == path.npos ? path.size() : colon + 1);
  }
  return {};
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "' ";
}

std::string command_of(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += quoted(word);
  return command;
}

Failure why_it_failed(const SandboxResult& result, const std::string& log, const std::string& entry) {
  const auto says = [&](const std::string& words) { return log.find(words) != log.npos; };
  if (result.kind == ExitKind::wall_limit || result.kind == ExitKind::memory_limit ||
      result.kind == ExitKind::output_limit || says("out of memory") || says("virtual memory exhausted") ||
      says("Killed signal terminated program"))
    return reject(Stage::compile, RejectionCode::compile_limit,
                  "the compiler ran out of its limits (" + describe(result) + ")\n" + log);
  if (says("undefined reference to `" + entry + "'"))
    return reject(Stage::compile, RejectionCode::entry_missing,
                  "no function " + entry + " with C linkage and the signature of task.hpp is defined");
  return reject(Stage::compile, RejectionCode::compile_failed,
                log.empty() ? "the compiler failed: " + describe(result) : log);
}

}  // namespace

std::filesystem::path CpuBinary::object() const { return folder_.path() / "kernel.so"; }

Result<std::shared_ptr<const CpuCompiler>> CpuCompiler::create(const Task& task, const CpuOptions& options) {
  std::shared_ptr<CpuCompiler> self(new CpuCompiler);
  self->compiler_ = find_program(options.compiler);
  if (self->compiler_.empty())
    return fail(ErrorCode::tool_missing, "the C++ compiler '" + options.compiler + "' is not installed", {},
                options.compiler == "g++"
                    ? "apt-get install g++"
                    : "name one that is there (evaluator.compiler; g++ is the default)");
  self->flags_ = options.flags;
  self->flags_.insert(self->flags_.end(), task.flags.begin(), task.flags.end());
  self->task_ = task;
  self->timeout_s_ = options.compile_timeout_s;
  self->confinement_ = options.unsandboxed ? Confinement::unsandboxed : Confinement::sandboxed;

  auto headers = ScratchFolder::create();
  if (!headers) return headers.error();
  self->headers_ = std::make_unique<ScratchFolder>(std::move(*headers));
  for (const SourceFile& file : task.files)
    if (auto s = self->headers_->write(file.path, file.text); !s) return s.error();
  if (auto s = self->headers_->write("task.hpp", task_header(task, Precision::declared)); !s)
    return s.error();
  if (auto s = self->headers_->write("shim.cpp", shim_source(task)); !s) return s.error();
  if (auto s = self->build_shim(); !s) return s.error();
  if (auto s = self->learn_to_link(); !s) return s.error();
  self->precompiled_ = std::make_unique<PrecompiledHeaders>(
      [raw = self.get()](const ScratchFolder& folder, const std::string& header, const std::string& target) {
        return raw->precompile(folder, header, target);
      });

  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  const auto version = self->run_driver({"-dumpfullversion"}, *scratch);
  if (!version) return version.error();
  self->description_ =
      self->compiler_.filename().string() + " " + version->out.substr(0, version->out.find('\n'));
  for (const std::string& flag : self->flags_) self->description_ += " " + flag;
  return std::shared_ptr<const CpuCompiler>(std::move(self));
}

SandboxSpec CpuCompiler::spec(Arguments argv, const std::filesystem::path& scratch) const {
  SandboxSpec spec;
  spec.argv = std::move(argv);
  spec.environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TMPDIR", "/tmp"}};
  add_toolchain(spec);
  spec.read_only.push_back({headers_->path(), headers_->path()});
  spec.read_write.push_back({scratch, scratch});
  spec.working_directory = scratch;
  spec.limits.cpu_s = timeout_s_;
  spec.limits.wall_s = kWallPerCpu * timeout_s_;
  spec.limits.memory_bytes = kCompileMemory;
  spec.limits.file_bytes = runner::kMaxObjectBytes;
  spec.profile = SandboxProfile::toolchain;
  spec.confinement = confinement_;
  return spec;
}

Result<SandboxResult> CpuCompiler::run_driver(Arguments arguments, const ScratchFolder& scratch,
                                              std::stop_token stop) const {
  arguments.insert(arguments.begin(), compiler_.string());
  return run_sandboxed(spec(std::move(arguments), scratch.path()), std::move(stop));
}

Status CpuCompiler::build_shim() {
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  const auto result = run_driver(
      {"-O2", "-fPIC", "-std=c++20", "-c", "-o", "shim.o", (headers_->path() / "shim.cpp").string()},
      *scratch);
  if (!result) return result.error();
  if (!result->succeeded())
    return fail(ErrorCode::tool_failed,
                compiler_.string() + " cannot build the generated call: " + describe(*result), {},
                escape_controls(result->err));
  const auto object = scratch->read("shim.o", runner::kMaxObjectBytes);
  if (!object && object.error().code == ErrorCode::not_found)
    return fail(ErrorCode::tool_failed, compiler_.string() + " ended well and compiled nothing", {},
                "name a C++ compiler (evaluator.compiler; g++ is the default)");
  if (!object) return object.error();
  return headers_->write("shim.o", *object);
}

CpuCompiler::Arguments CpuCompiler::link_arguments(const Arguments& compiling,
                                                   const Arguments& inputs) const {
  Arguments arguments = compiling;
  // An entry may have the name of a function of the C library, which would be found first.
  arguments.insert(arguments.end(), {"-shared", "-Wl,-Bsymbolic-functions", "-Wl,-z,defs", "-o", "kernel.so",
                                     (headers_->path() / "shim.o").string()});
  arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  return arguments;
}

Status CpuCompiler::learn_to_link() {
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  if (auto s = scratch->write("kernel.o", ""); !s) return s;
  Arguments arguments = link_arguments(flags_, {"kernel.o"});
  arguments.insert(arguments.end(), {"-fPIC", "-###"});
  const auto dry_run = run_driver(std::move(arguments), *scratch);
  if (!dry_run) return dry_run.error();
  if (!dry_run->succeeded()) return {};
  link_command_ = link_line(dry_run->err);
  if (!link_command_) return {};
  // Gold takes half of the time, where it is there and knows all that the driver would say. Of the libraries,
  // which it would map whole, it reads little.
  const Arguments gold = {"ld.gold", "--no-map-whole-files"};
  Arguments trial = *link_command_;
  std::erase(trial, "kernel.o");
  trial.insert(trial.begin(), "--unresolved-symbols=ignore-all");
  trial.insert(trial.begin(), gold.begin(), gold.end());
  const auto linked = run_sandboxed(spec({"/bin/sh", "-c", command_of(trial)}, scratch->path()));
  if (!linked) return linked.error();
  const Arguments linker = linked->succeeded() ? gold : Arguments{"ld"};
  link_command_->insert(link_command_->begin(), linker.begin(), linker.end());
  return {};
}

bool CpuCompiler::precompile(const ScratchFolder& folder, const std::string& header,
                             const std::string& target) const {
  Arguments argv = {compiler_.string()};
  argv.insert(argv.end(), flags_.begin(), flags_.end());
  argv.insert(argv.end(),
              {"-fPIC", "-I" + headers_->path().string(), "-x", "c++-header", header, "-o", target});
  SandboxSpec building = spec(std::move(argv), folder.path());
  building.limits.file_bytes = kMaxPrecompiledBytes;
  const auto result = run_sandboxed(building);
  return result && result->succeeded();
}

Result<SandboxResult> CpuCompiler::build_quickly(const Arguments& compiling, const std::string& file,
                                                 const std::optional<std::filesystem::path>& header,
                                                 const ScratchFolder& scratch,
                                                 const std::stop_token& stop) const {
  Arguments compile = {compiler_.string(), "-pipe", "-c", "-o", "kernel.o"};
  compile.insert(compile.end(), compiling.begin(), compiling.end());
  if (header) compile.insert(compile.end(), {"-include", header->string()});
  compile.push_back(file);
  SandboxSpec building = spec({"/bin/sh", "-c",
                               command_of(compile) + "|| exit $?\n" + command_of(*link_command_) +
                                   "|| exit " + std::to_string(kLinkerFailed)},
                              scratch.path());
  if (header) building.read_only.push_back({header->parent_path(), header->parent_path()});
  return run_sandboxed(building, stop);
}

Judged<CompileOutput> CpuCompiler::compile(const Source& source, Precision precision,
                                           const std::stop_token& stop) const {
  auto scratch = ScratchFolder::create();
  if (!scratch) return Failure(scratch.error());
  Arguments compiling = flags_;
  // A source that reads the date is another program in the next build.
  compiling.insert(compiling.end(),
                   {"-fPIC", "-fmax-errors=8", "-fdiagnostics-color=never", "-Werror=date-time"});
  if (precision == Precision::promoted) {
    if (auto s = scratch->write("promoted/task.hpp", task_header(task_, precision, source)); !s)
      return Failure(s.error());
    compiling.emplace_back("-Ipromoted");
  }
  compiling.push_back("-I" + headers_->path().string());
  Arguments files;
  for (const SourceFile& file : source.files()) {
    if (auto s = scratch->write("source/" + file.path, file.text); !s) return Failure(s.error());
    if (is_cpp(file.path)) files.push_back("source/" + file.path);
  }
  if (files.empty())
    return reject(Stage::compile, RejectionCode::compile_failed,
                  "the candidate has no file that ends in .cpp, .cc or .cxx");

  if (files.size() == 1 && link_command_) {
    // A file beside it could shadow the generated header and change what the next ones mean.
    std::optional<std::filesystem::path> header;
    if (source.files().size() == 1)
      header = precompiled_->find(leading_usual_headers(source.files().front().text));
    const auto result = build_quickly(compiling, files.front(), header, *scratch, stop);
    if (!result) return Failure(result.error());
    std::string log = escape_controls(result->err);
    if (result->succeeded()) return keep(*scratch, std::move(log));
    const bool reads_differently =
        result->code == kLinkerFailed || (header && log.find(PrecompiledHeaders::kName) != log.npos);
    if (result->kind != ExitKind::exited || !reads_differently)
      return why_it_failed(*result, log, task_.entry);
  }
  const auto result = run_driver(link_arguments(compiling, files), *scratch, stop);
  if (!result) return Failure(result.error());
  std::string log = escape_controls(result->err);
  if (!result->succeeded()) return why_it_failed(*result, log, task_.entry);
  return keep(*scratch, std::move(log));
}

Result<CpuBinaryPtr> CpuCompiler::link_all_libraries() const {
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  if (auto s = scratch->write("nothing.cpp", ""); !s) return s.error();
  Arguments arguments = {"-Wl,--no-as-needed"};
  arguments.insert(arguments.end(), flags_.begin(), flags_.end());
  arguments.insert(arguments.end(), {"-fPIC", "-shared", "-o", "kernel.so", "nothing.cpp"});
  const auto result = run_driver(std::move(arguments), *scratch);
  if (!result) return result.error();
  auto kept = keep(*scratch, escape_controls(result->err));
  if (kept) return std::move(kept->binary);
  const Failure failure = kept.error();
  if (const Error* error = std::get_if<Error>(&failure)) return *error;
  return fail(ErrorCode::tool_failed,
              compiler_.string() + " cannot link an empty object: " + describe(*result), {},
              std::get<Rejection>(failure).diagnostics);
}

Judged<CompileOutput> CpuCompiler::keep(const ScratchFolder& scratch, std::string log) const {
  const auto object = scratch.read("kernel.so", runner::kMaxObjectBytes);
  if (!object)
    return reject(Stage::compile, RejectionCode::compile_failed,
                  "the compiler left no shared object\n" + log);
  // A folder of its own: what else the compiler left stays behind.
  auto kept = ScratchFolder::create();
  if (!kept) return Failure(kept.error());
  if (auto s = kept->write("kernel.so", *object); !s) return Failure(s.error());
  return CompileOutput{std::make_shared<CpuBinary>(std::move(*kept), digest_of(*object)), std::move(log)};
}

}  // namespace kernelsmith
