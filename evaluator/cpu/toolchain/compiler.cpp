#include "toolchain/compiler.hpp"

#include <utility>

#include <unistd.h>

#include <kernelsmith/evaluator/wide_literals.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

#include "runner/protocol.hpp"
#include "signature.hpp"
#include "toolchain/link_line.hpp"
#include "toolchain/usual_headers.hpp"

namespace kernelsmith::cpu {
namespace {

constexpr std::uint64_t kCompileMemory = 2ULL << 30;
/// Seconds of wall time that a compilation may take for each allowed second of CPU time. Waiting for a
/// processor is not the candidate's fault.
constexpr double kWallPerCpu = 5;
/// A compiler may wait for its disk or a processor, but never this long on a usable machine.
constexpr double kStillS = 30;
constexpr std::uint64_t kMaxPrecompiledBytes = 256ULL << 20;
constexpr const char* kShim = "shim";
constexpr const char* kGeneratorShim = "inputs_shim";
/// The shell's exit status if the linker failed.
constexpr int kLinkerFailed = 77;

bool is_cpp(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension();
  return extension == ".cpp" || extension == ".cc" || extension == ".cxx";
}

/// The program's absolute path, looked up as in a shell; empty if it is missing.
std::filesystem::path find_program(const std::string& name) {
  if (name.find('/') == name.npos) return find_tool(name).value_or("");
  return ::access(name.c_str(), X_OK) == 0 ? name : "";
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

Result<CpuBinaryPtr> CpuBinary::create(const std::string& object) {
  auto folder = ScratchFolder::create();
  if (!folder) return folder.error();
  if (auto s = folder->write("kernel.so", object); !s) return s.error();
  return CpuBinaryPtr(new CpuBinary(std::move(*folder), digest_of(object)));
}

Result<std::shared_ptr<const CpuCompiler>> CpuCompiler::create(const Task& task, const CpuOptions& options) {
  std::shared_ptr<CpuCompiler> self(new CpuCompiler);
  self->compiler_ = find_program(options.compiler);
  if (self->compiler_.empty())
    return fail(ErrorCode::tool_missing, "the C++ compiler '" + options.compiler + "' is not installed", {},
                options.compiler == "g++"
                    ? "apt-get install g++"
                    : "install it, or name another compiler (evaluator.compiler; g++ is the default)");
  self->flags_ = options.flags;
  self->flags_.insert(self->flags_.end(), task.flags.begin(), task.flags.end());
  self->task_ = task;
  self->timeout_s_ = options.compile_timeout_s;
  self->confinement_ = options.unsandboxed ? Confinement::unsandboxed : Confinement::sandboxed;
  if (auto s = self->write_headers(task); !s) return s.error();
  if (auto s = self->learn_version(options.stop); !s) return s.error();
  if (auto s = self->build_shim(kShim, shim_source(task), options.stop); !s) return s.error();
  if (!task.inputs.empty())
    if (auto s = self->build_shim(kGeneratorShim, generator_shim_source(task), options.stop); !s)
      return s.error();
  CpuCompiler* const raw = self.get();
  self->precompiled_ = std::make_unique<PrecompiledHeaders>(
      [raw](const ScratchFolder& folder, const std::string& header, const std::string& target) {
        return raw->precompile(folder, header, target);
      });
  self->link_command_ =
      std::async(std::launch::async, [raw, stop = options.stop] { return raw->learn_to_link(stop); }).share();
  return std::shared_ptr<const CpuCompiler>(std::move(self));
}

Status CpuCompiler::write_headers(const Task& task) {
  auto headers = ScratchFolder::create();
  if (!headers) return headers.error();
  headers_ = std::make_unique<ScratchFolder>(std::move(*headers));
  for (const SourceFile& file : task.files)
    if (auto s = headers_->write(file.path, file.text); !s) return s.error();
  return headers_->write("task.hpp", task_header(task, OraclePrecision::declared));
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
  spec.limits.still_s = kStillS;
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

CpuCompiler::Arguments CpuCompiler::link_arguments(const Arguments& compiling, const Arguments& inputs,
                                                   bool generator) const {
  Arguments arguments = compiling;
  // The C library may have a function with the entry's name, which would be found first.
  arguments.insert(arguments.end(),
                   {"-shared", "-Wl,-Bsymbolic-functions", "-Wl,-z,defs", "-o", "kernel.so",
                    (headers_->path() / (std::string(generator ? kGeneratorShim : kShim) + ".o")).string()});
  arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  return arguments;
}

std::optional<CpuCompiler::Arguments> CpuCompiler::learn_to_link(const std::stop_token& stop) const {
  auto scratch = ScratchFolder::create();
  if (!scratch || !scratch->write("kernel.o", "")) return std::nullopt;
  Arguments arguments = link_arguments(flags_, {"kernel.o"}, false);
  arguments.insert(arguments.end(), {"-fPIC", "-###"});
  const auto dry_run = run_driver(std::move(arguments), *scratch, stop);
  if (!dry_run || !dry_run->succeeded()) return std::nullopt;
  auto command = link_line(dry_run->err);
  if (!command) return std::nullopt;
  // Gold links in half the time. It is used if it is installed and supports all of the driver's arguments. It
  // reads only small parts of the libraries.
  const Arguments gold = {"ld.gold", "--no-map-whole-files"};
  Arguments trial = *command;
  std::erase(trial, "kernel.o");
  trial.insert(trial.begin(), "--unresolved-symbols=ignore-all");
  trial.insert(trial.begin(), gold.begin(), gold.end());
  const auto linked = run_sandboxed(spec({"/bin/sh", "-c", command_of(trial)}, scratch->path()), stop);
  const Arguments linker = linked && linked->succeeded() ? gold : Arguments{"ld"};
  command->insert(command->begin(), linker.begin(), linker.end());
  return command;
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
                               command_of(compile) + "|| exit $?\n" + command_of(*link_command_.get()) +
                                   "|| exit " + std::to_string(kLinkerFailed)},
                              scratch.path());
  if (header) building.read_only.push_back({header->parent_path(), header->parent_path()});
  return run_sandboxed(building, stop);
}

Judged<CompileOutput> CpuCompiler::compile(const Source& source, const std::stop_token& stop) const {
  return compile(source, {.precompiled = true}, stop);
}

Judged<CompileOutput> CpuCompiler::compile(const Source& source, const Manner& manner,
                                           const std::stop_token& stop) const {
  if (std::string exchanged = exchanged_parameters(task_, source, manner.generator); !exchanged.empty())
    return reject(Stage::static_check, RejectionCode::forbidden_construct, std::move(exchanged));
  auto scratch = ScratchFolder::create();
  if (!scratch) return Failure(scratch.error());
  Arguments compiling = flags_;
  // A source that reads the date becomes a different program in the next build.
  compiling.insert(compiling.end(),
                   {"-fPIC", "-fmax-errors=8", "-fdiagnostics-color=never", "-Werror=date-time"});
  if (manner.precision != OraclePrecision::declared) {
    if (auto s = scratch->write("wide/task.hpp", task_header(task_, manner.precision, source)); !s)
      return Failure(s.error());
    for (const SourceFile& file : task_.files)
      if (auto s = scratch->write("wide/" + file.path, with_wide_literals(file.text, manner.precision)); !s)
        return Failure(s.error());
    compiling.emplace_back("-Iwide");
  }
  compiling.push_back("-I" + headers_->path().string());
  Arguments files;
  for (const SourceFile& file : source.files()) {
    if (auto s = scratch->write("source/" + file.path, with_wide_literals(file.text, manner.precision)); !s)
      return Failure(s.error());
    if (is_cpp(file.path)) files.push_back("source/" + file.path);
  }
  if (files.empty())
    return reject(Stage::compile, RejectionCode::compile_failed,
                  "the candidate has no file that ends in .cpp, .cc or .cxx");

  if (files.size() == 1 && !manner.generator && link_command_.get()) {
    // Headers are precompiled only for a single file: another file could shadow the generated header, and
    // change the meaning of the headers after it.
    std::optional<std::filesystem::path> header;
    if (manner.precompiled && source.files().size() == 1)
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
  const auto result = run_driver(link_arguments(compiling, files, manner.generator), *scratch, stop);
  if (!result) return Failure(result.error());
  std::string log = escape_controls(result->err);
  if (!result->succeeded()) return why_it_failed(*result, log, task_.entry);
  return keep(*scratch, std::move(log));
}

Judged<CompileOutput> CpuCompiler::keep(const ScratchFolder& scratch, std::string log) const {
  const auto object = scratch.read("kernel.so", runner::kMaxObjectBytes);
  if (!object)
    return reject(Stage::compile, RejectionCode::compile_failed,
                  "the compiler left no shared object\n" + log);
  auto binary = CpuBinary::create(*object);
  if (!binary) return Failure(binary.error());
  return CompileOutput{std::move(*binary), std::move(log)};
}

}  // namespace kernelsmith::cpu
