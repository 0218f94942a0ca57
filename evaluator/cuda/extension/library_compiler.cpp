#include <algorithm>
#include <utility>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/evaluator/cuda/library_compiler.hpp>
#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "toolchain/build_script.hpp"
#include "toolchain/compiler_sandbox.hpp"
#include "toolchain/diagnostics.hpp"
#include "vendors/nvidia/learnt_script.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith {
namespace {

using namespace cuda;

/// The folder of the original files, for #include "...". Messages omit it from names.
const std::string kSources = kSourceFolder;
/// For g++ 12 and newer: local variables start as zeros, including padding, and returned objects are local
/// variables. Otherwise a partly filled structure that is passed to a kernel would contain old bytes of the
/// stack, which differ in each planning.
constexpr const char* kZeros = "-ftrivial-auto-var-init=zero";
constexpr const char* kNoElision = "-fno-elide-constructors";
/// Each candidate may have other flags, so the number of kept scripts is limited.
constexpr std::size_t kMostScripts = 64;

bool is_cuda(const SourceFile& file) { return file.path.ends_with(".cu"); }
bool is_unit(const SourceFile& file) { return is_cuda(file) || file.path.ends_with(".cpp"); }

/// The folder for the compilers' output of file number `index`.
std::string folder_of(std::size_t index) { return "unit" + std::to_string(index) + "/"; }

/// Makes the names of static kernels of several files unique.
std::string module_id(std::size_t index) { return kModuleIdText + std::to_string(index); }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += shell_quoted(word) + " ";
  return text;
}

Failure failure_of(const SandboxResult& result) {
  std::string errors = errors_of(result.err);
  if (ran_out_of_limits(result))
    return reject(Stage::compile, RejectionCode::compile_limit,
                  "the compiler ran out of its limits of time, memory or file size (" + describe(result) +
                      ")\n" + errors);
  if (const auto missing = missing_symbols(result.err); !missing.empty()) {
    errors = "functions that are used and not defined:";
    for (const std::string& name : missing) errors += "\n" + escape_controls(plan::readable_name(name));
  }
  if (errors.empty()) errors = "the compiler failed: " + describe(result);
  return reject(Stage::compile, RejectionCode::compile_failed, std::move(errors));
}

}  // namespace

Digest LibraryJob::digest() const {
  DigestBuilder digest;
  digest.add(static_cast<std::uint64_t>(arch)).add(files.size());
  for (const SourceFile& file : files) digest.add(file.path).add(file.text);
  for (const auto& list : {flags, device_flags}) {
    digest.add(list.size());
    for (const std::string& flag : list) digest.add(flag);
  }
  for (const auto& folder : include) digest.add(folder.string());
  return digest.finish();
}

std::size_t BuiltLibrary::bytes() const {
  std::size_t all = host.size();
  for (const std::string& cubin : device) all += cubin.size();
  return all;
}

/// A LibraryCompiler's options, resolved for this machine.
struct LibraryCompiler::Parts {
  LibraryOptions options;
  Toolkit toolkit;
  Confinement confinement = Confinement::sandboxed;

  SandboxSpec spec(std::vector<std::string> argv, const std::filesystem::path& scratch,
                   const LibraryJob& job) const {
    SandboxSpec spec = compiler_sandbox(toolkit, std::move(argv), scratch, confinement, options.timeout_s);
    spec.read_only.push_back({options.include, options.include});
    spec.read_only.push_back({options.runtime, options.runtime});
    for (const auto& folder : job.include) spec.read_only.push_back({folder, folder});
    return spec;
  }

  std::vector<std::string> common_flags(const LibraryJob& job) const {
    std::vector<std::string> flags = job.flags;
    flags.push_back("-I../" + kSources);
    flags.push_back("-I" + options.include.string());
    for (const auto& folder : job.include) flags.push_back("-I" + folder.string());
    flags.emplace_back("-w");
    return flags;
  }

  /// Host code runs once, in the planner, so the fast compilation of -O0 is best.
  std::vector<std::string> nvcc_command(const LibraryJob& job) const {
    // Since Hopper the arch-specific instructions are in the "a" targets.
    const std::string arch = std::to_string(job.arch) + (job.arch >= 90 ? "a" : "");
    std::vector<std::string> command = {toolkit.compiler.string(), "-gencode",
                                        "arch=compute_" + arch + ",code=sm_" + arch};
    for (const auto& flags : {job.device_flags, common_flags(job)})
      command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {"--expt-relaxed-constexpr", "-Xcompiler",
                                   "-fPIC,-O0,-w," + std::string(kZeros) + "," + kNoElision, "--keep",
                                   "--keep-dir", ".", "-c", "-o", build_files::kObject, build_files::kUnit});
    return command;
  }

  std::string host_command(const LibraryJob& job) const {
    std::vector<std::string> command = {"/usr/bin/g++"};
    const auto flags = common_flags(job);
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {"-I" + (toolkit.root / "include").string(), "-O0", "-fPIC", kZeros,
                                   kNoElision, "-c", "-o", build_files::kObject, "unit.cpp"});
    return joined(command) + ">&2\n";
  }

  /// Compiles all files at once, and prints the compilers' output in the order of the files.
  std::string whole_script(const LibraryJob& job) const {
    std::string begin, wait, tell, objects;
    for (std::size_t i = 0; i < job.files.size(); ++i) {
      if (!is_unit(job.files[i])) continue;
      const std::string log = folder_of(i) + "log", number = std::to_string(i);
      begin +=
          "(cd " + folder_of(i) + " && exec /bin/sh build.sh) >" + log + " 2>&1 & job" + number + "=$!\n";
      wait += "wait $job" + number + " || status=$?\n";
      tell += "cat " + log + " >&2\n";
      objects += folder_of(i) + build_files::kObject + " ";
    }
    return "status=0\n" + begin + wait + tell + "[ $status = 0 ] || exit $status\nexec g++ -shared -o " +
           std::string(build_files::kHostLibrary) + " " + objects + shell_quoted(options.runtime.string()) +
           " -Wl,-Bsymbolic-functions -Wl,-z,defs -Wl,--no-demangle >&2\n";
  }

  Status write_files(const ScratchFolder& scratch, const LibraryJob& job, const std::string& script) const {
    for (std::size_t i = 0; i < job.files.size(); ++i) {
      const SourceFile& file = job.files[i];
      std::vector<SourceFile> files = {{kSources + file.path, file.text}};
      const std::string folder = folder_of(i);
      if (is_cuda(file)) {
        files.push_back({folder + build_files::kUnit, file.text});
        files.push_back({folder + build_files::kModuleId, module_id(i)});
        files.push_back({folder + build_files::kFatbin, kFatbinText});
        files.push_back({folder + "build.sh", script});
      } else if (is_unit(file)) {
        files.push_back({folder + "unit.cpp", file.text});
        files.push_back({folder + "build.sh", host_command(job)});
      }
      for (const SourceFile& each : files)
        if (auto written = scratch.write(each.path, each.text); !written) return written;
    }
    return {};
  }

  static Judged<BuiltLibrary> collect(const ScratchFolder& scratch, const LibraryJob& job) {
    const auto host = scratch.read(build_files::kHostLibrary, kMaxResultBytes);
    bool whole = host.has_value();
    BuiltLibrary built;
    for (std::size_t i = 0; whole && i < job.files.size(); ++i) {
      if (!is_cuda(job.files[i])) continue;
      auto cubin = scratch.read(folder_of(i) + build_files::kCubin, kMaxResultBytes);
      whole = cubin.has_value();
      if (whole) built.device.push_back(std::move(*cubin));
    }
    if (!whole)
      return reject(Stage::compile, RejectionCode::compile_limit,
                    "the compiled library is missing or too large");
    built.host = *host;
    return built;
  }
};

LibraryCompiler::LibraryCompiler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LibraryCompiler::~LibraryCompiler() = default;

Result<std::shared_ptr<LibraryCompiler>> LibraryCompiler::create(LibraryOptions options) {
  auto toolkit = find_toolkit();
  if (!toolkit) return toolkit.error();
  auto parts = std::make_unique<Parts>();
  parts->confinement = options.unsandboxed ? Confinement::unsandboxed : Confinement::sandboxed;
  parts->options = std::move(options);
  parts->toolkit = std::move(*toolkit);
  return std::shared_ptr<LibraryCompiler>(new LibraryCompiler(std::move(parts)));
}

std::string LibraryCompiler::description() const { return "nvcc " + parts_->toolkit.version; }

/// The build steps of a .cu file, determined once for each set of flags.
Judged<std::string> LibraryCompiler::script_for(const LibraryJob& job, const std::stop_token& stop) {
  std::vector<std::string> command = parts_->nvcc_command(job);
  const std::string key = joined(command);
  {
    const MutexLock lock(mutex_);
    if (const auto found = scripts_.find(key); found != scripts_.end()) return found->second;
  }
  const std::string plain = plain_script(command, "");
  auto scratch = ScratchFolder::create();
  if (!scratch) return Failure(scratch.error());
  if (auto written = scratch->write(build_files::kUnit, "\n"); !written) return Failure(written.error());
  command.insert(command.begin() + 1, "--dryrun");
  const auto dryrun = run_sandboxed(parts_->spec(std::move(command), scratch->path(), job), stop);
  if (!dryrun) return Failure(dryrun.error());
  // The candidate chooses the flags, so a failure is its fault.
  if (!dryrun->succeeded()) return failure_of(*dryrun);
  const auto folder = build_folder(scratch->path(), parts_->confinement);
  const std::string script = learnt_script(dryrun->err, folder.string(), "").value_or(plain);
  const MutexLock lock(mutex_);
  if (scripts_.size() >= kMostScripts) scripts_.clear();
  return scripts_.insert_or_assign(key, script).first->second;
}

Judged<BuiltLibrary> LibraryCompiler::build(const LibraryJob& job, const std::stop_token& stop) {
  std::string script;
  if (std::ranges::any_of(job.files, is_cuda)) {
    auto learnt = script_for(job, stop);
    if (!learnt) return learnt.error();
    script = std::move(*learnt);
  }
  auto scratch = ScratchFolder::create();
  if (!scratch) return Failure(scratch.error());
  if (auto written = parts_->write_files(*scratch, job, script); !written) return Failure(written.error());
  const auto result =
      run_sandboxed(parts_->spec({"/bin/sh", "-c", parts_->whole_script(job)}, scratch->path(), job), stop);
  if (!result) return Failure(result.error());
  if (!result->succeeded()) return failure_of(*result);
  return Parts::collect(*scratch, job);
}

}  // namespace kernelsmith
