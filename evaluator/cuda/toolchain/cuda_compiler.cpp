#include "toolchain/cuda_compiler.hpp"

#include <algorithm>
#include <utility>

#include <kernelsmith/evaluator/wide_literals.hpp>

#include "toolchain/build_script.hpp"
#include "toolchain/compiler_sandbox.hpp"
#include "toolchain/cuda_source.hpp"
#include "toolchain/diagnostics.hpp"

namespace kernelsmith::cuda {
namespace {

bool ends_with(const std::string& path, std::initializer_list<std::string_view> extensions) {
  return std::ranges::any_of(extensions, [&](std::string_view e) { return path.ends_with(e); });
}

/// The translation unit: the generated header, and the candidate's files in their order.
std::string unit_of(const Source& source) {
  std::string unit = std::string("#include \"") + build_files::kHeader + "\"\n";
  for (const SourceFile& file : source.files())
    if (ends_with(file.path, {".cu", ".cpp", ".cc", ".cxx"}))
      unit += std::string("#include \"") + kSourceFolder + file.path + "\"\n";
  return unit;
}

bool has_code(const Source& source) {
  return std::ranges::any_of(source.files(), [](const SourceFile& file) {
    return ends_with(file.path, {".cu", ".cpp", ".cc", ".cxx"});
  });
}

}  // namespace

CudaCompiler::CudaCompiler(Task task, CompilerOptions options, Toolkit toolkit)
    : task_(std::move(task)),
      options_(std::move(options)),
      vendor_(*options_.vendor),
      tools_(vendor_.toolchain),
      arch_(options_.arch.value_or(vendor_.device.usual_arch)),
      flags_(options_.flags ? *options_.flags : tools_.usual_flags()),
      toolkit_(std::move(toolkit)),
      cache_(BuildCache::of_environment()) {
  flags_.insert(flags_.end(), task_.flags.begin(), task_.flags.end());
}

Result<std::shared_ptr<const CudaCompiler>> CudaCompiler::create(const Task& task,
                                                                 const CompilerOptions& options,
                                                                 const std::stop_token& stop) {
  auto toolkit = options.vendor->toolchain.find(options.toolkit);
  if (!toolkit) return toolkit.error();
  std::shared_ptr<CudaCompiler> self(new CudaCompiler(task, options, std::move(*toolkit)));
  if (auto s = self->prepare(stop); !s) return s.error();
  return std::shared_ptr<const CudaCompiler>(std::move(self));
}

Confinement CudaCompiler::confinement() const {
  return options_.unsandboxed ? Confinement::unsandboxed : Confinement::sandboxed;
}

SandboxSpec CudaCompiler::spec(std::vector<std::string> argv, const std::filesystem::path& scratch) const {
  return compiler_sandbox(toolkit_, std::move(argv), scratch, confinement(), options_.timeout_s);
}

Status CudaCompiler::write_inputs(const ScratchFolder& scratch, const Source& source,
                                  OraclePrecision precision) const {
  const std::string folder = kSourceFolder;
  std::vector<SourceFile> files = {
      {build_files::kUnit, unit_of(source)},
      {build_files::kHeader, task_header(task_, tools_.dialect, precision, source)},
      {build_files::kShim, shim_}};
  if (tools_.build_inputs != nullptr)
    for (SourceFile& file : tools_.build_inputs()) files.push_back(std::move(file));
  const auto add = [&](const std::string& to, const SourceFile& file) {
    files.push_back({to + file.path, with_wide_literals(file.text, precision)});
  };
  for (const SourceFile& file : task_.files) add("task/", file);
  for (const SourceFile& file : source.files()) add(folder, file);
  for (const SourceFile& file : files)
    if (auto s = scratch.write(file.path, file.text); !s) return s;
  return {};
}

Judged<CudaCompileOutput> CudaCompiler::compile(const Source& source, const std::stop_token& stop) const {
  if (!has_code(source))
    return reject(Stage::compile, RejectionCode::compile_failed,
                  "the candidate has no file that ends in .cu or .cpp");
  if (std::string exchanged = exchanged_parameters(task_, source); !exchanged.empty())
    return reject(Stage::static_check, RejectionCode::forbidden_construct, std::move(exchanged));
  return build_in(source, OraclePrecision::declared, stop);
}

Judged<CudaCompileOutput> CudaCompiler::build_in(const Source& source, OraclePrecision precision,
                                                 const std::stop_token& stop) const {
  auto scratch = ScratchFolder::create();
  if (!scratch) return Failure(scratch.error());
  if (auto s = write_inputs(*scratch, source, precision); !s) return Failure(s.error());
  const auto result = run_sandboxed(spec({"/bin/sh", "-c", script_}, scratch->path()), stop);
  if (!result) return Failure(result.error());
  if (!result->succeeded()) return why_it_failed(*result);
  return collect(*scratch, result->err);
}

Judged<CudaCompileOutput> CudaCompiler::collect(const ScratchFolder& scratch, const std::string& log) const {
  const auto linker_log = scratch.read(build_files::kLinkerLog, kMaxLogBytes);
  const auto library = scratch.read(build_files::kHostLibrary, kMaxResultBytes);
  if (!library || !linker_log)
    return reject(Stage::compile, RejectionCode::compile_limit,
                  "the compiled kernel is missing or too large");
  std::vector<std::string> missing = missing_symbols(*linker_log);
  if (std::ranges::find(missing, task_.entry) != missing.end())
    return reject(
        Stage::compile, RejectionCode::entry_missing,
        "the host function " + task_.entry + " is not defined with this signature:\n" + wanted_signature());
  std::erase_if(missing, [&](const std::string& name) { return is_runtime_symbol(name, vendor_.names); });
  if (!missing.empty()) {
    std::string names;
    for (const std::string& name : missing) names += "\n" + plan::readable_name(name);
    return reject(Stage::compile, RejectionCode::compile_failed,
                  "functions that are used and not defined:" + escape_controls(names));
  }
  auto image = tools_.image_of(scratch, arch_);
  if (!image)
    return reject(Stage::compile, RejectionCode::compile_limit,
                  "the compiled kernel is missing or too large: " + escape_controls(image.error().message));
  auto facts = tools_.read_image(*image);
  if (!facts)
    return reject(Stage::compile, RejectionCode::compile_failed, escape_controls(facts.error().message));
  auto binary = CudaBinary::create(std::move(*image), std::move(*facts), *library);
  if (!binary) return Failure(binary.error());
  return CudaCompileOutput{std::move(*binary), warnings_of(log)};
}

std::string CudaCompiler::wanted_signature() const {
  const std::string header = task_header(task_, tools_.dialect, OraclePrecision::declared);
  return header.substr(header.find("extern \"C\" void " + task_.entry + "("));
}

Failure CudaCompiler::why_it_failed(const SandboxResult& result) const {
  if (ran_out_of_limits(result))
    return reject(Stage::compile, RejectionCode::compile_limit,
                  "the compiler ran out of its limits of time, memory or file size (" + describe(result) +
                      ")\n" + errors_of(result.err));
  std::string errors = advice_on(result.err) + errors_of(result.err);
  if (errors.empty()) errors = "the compiler failed: " + describe(result);
  // The candidate may declare the entry differently than the generated header, which comes first.
  if (errors.find(task_.entry) != errors.npos) errors += "the entry's signature:\n" + wanted_signature();
  return reject(Stage::compile, RejectionCode::compile_failed, std::move(errors));
}

}  // namespace kernelsmith::cuda
