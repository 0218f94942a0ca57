// CudaCompiler: preparations for all candidates, and builds from trusted sources, cached on disk.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include <sys/stat.h>

#include "toolchain/build_script.hpp"
#include "toolchain/compiler_sandbox.hpp"
#include "toolchain/cuda_compiler.hpp"
#include "toolchain/cuda_source.hpp"

namespace kernelsmith::cuda {
namespace {

/// Increase this number when the same key must mean a different binary.
constexpr std::uint64_t kCacheFormat = 2;
constexpr std::uint64_t kMaxShimBytes = 16ULL << 20;

/// Adds the identity of a program, which changes when a compiler is installed again.
void add_identity(DigestBuilder& digest, const std::filesystem::path& program) {
  struct stat status {};
  (void)::stat(program.c_str(), &status);
  digest.add(program.string())
      .add(static_cast<std::uint64_t>(status.st_size))
      .add(static_cast<std::uint64_t>(status.st_mtim.tv_sec))
      .add(static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
}

/// Joins both halves into one text: the image's length, the image, the host library.
std::string packed(const CudaBinary& binary, const std::string& library) {
  const std::uint64_t length = binary.image().size();
  std::string text(sizeof length, '\0');
  std::memcpy(text.data(), &length, sizeof length);
  text.append(reinterpret_cast<const char*>(binary.image().data()), length);
  return text + library;
}

/// Returns null if the text is not such a pair.
CudaBinaryPtr unpacked(const std::string& text, const Toolchain& tools) {
  std::uint64_t length = 0;
  if (text.size() < sizeof length) return nullptr;
  std::memcpy(&length, text.data(), sizeof length);
  if (length > text.size() - sizeof length) return nullptr;
  const auto bytes = std::as_bytes(std::span(text)).subspan(sizeof length, length);
  auto facts = tools.read_image(bytes);
  if (!facts) return nullptr;
  auto binary = CudaBinary::create({bytes.begin(), bytes.end()}, std::move(*facts),
                                   text.substr(sizeof length + length));
  return binary ? *binary : nullptr;
}

}  // namespace

Status CudaCompiler::prepare(const std::stop_token& stop) {
  description_ = tools_.describe(steps());
  for (const std::string& flag : flags_) description_ += " " + flag;
  std::vector<std::string> command = tools_.unit_command(steps());
  script_ = plain_script(command, link_with_shim());
  if (tools_.learn != nullptr)
    if (auto learnt = learn_steps(std::move(command), stop); !learnt) return learnt;
  DigestBuilder tools;
  tools.add(kCacheFormat).add(toolkit_.version).add(arch_).add(script_);
  for (const std::string& flag : flags_) tools.add(flag);
  add_identity(tools, toolkit_.compiler);
  add_identity(tools, "/usr/bin/g++");
  tools_stamp_ = tools.finish();
  DigestBuilder stamp;
  stamp.add(tools_stamp_.hex()).add(shim_source(task_, vendor_));
  stamp.add(task_header(task_, tools_.dialect, OraclePrecision::f64)).add(task_.files.size());
  for (const SourceFile& file : task_.files) stamp.add(file.path).add(file.text);
  stamp_ = stamp.finish();
  return build_shim(stop);
}

/// Replaces the single command by the compiler's own steps, if they are known.
Status CudaCompiler::learn_steps(std::vector<std::string> command, const std::stop_token& stop) {
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  if (auto s = scratch->write(build_files::kUnit, "\n"); !s) return s;
  command.insert(command.begin() + 1, "--dryrun");
  const auto dryrun = run_sandboxed(spec(std::move(command), scratch->path()), stop);
  if (!dryrun) return dryrun.error();
  if (!dryrun->succeeded())
    return fail(ErrorCode::tool_failed, "the compiler refuses its flags (" + description_ + ")", "flags",
                escape_controls(dryrun->err));
  script_ = tools_.learn(dryrun->err, build_folder(scratch->path(), confinement()).string(), link_with_shim())
                .value_or(script_);
  return {};
}

Status CudaCompiler::build_shim(const std::stop_token& stop) {
  const Digest key = DigestBuilder().add(stamp_.hex()).add("shim").finish();
  if (auto kept = cache_.find(key)) {
    shim_ = std::move(*kept);
    return {};
  }
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  if (auto s = scratch->write("shim.cpp", shim_source(task_, vendor_)); !s) return s;
  const auto result =
      run_sandboxed(spec({"/usr/bin/g++", "-std=c++17", "-O2", "-fPIC", "-c",
                          "-I" + toolkit_.include.string(), "-o", build_files::kShim, "shim.cpp"},
                         scratch->path()),
                    stop);
  if (!result) return result.error();
  if (!result->succeeded())
    return fail(ErrorCode::tool_failed, "g++ cannot build the generated call: " + describe(*result), {},
                escape_controls(result->err));
  auto object = scratch->read(build_files::kShim, kMaxShimBytes);
  if (!object) return object.error();
  shim_ = std::move(*object);
  cache_.keep(key, shim_);
  return {};
}

Result<CudaBinaryPtr> CudaCompiler::build(const TrustedSource& trusted, const std::stop_token& stop) const {
  if (auto in_order = check_parameters(task_, trusted); !in_order) return in_order.error();
  const bool wide = trusted.precision != OraclePrecision::declared;
  const Digest key = DigestBuilder()
                         .add(stamp_.hex())
                         .add(wide ? "wide" : "declared")
                         .add(trusted.source.digest().hex())
                         .finish();
  if (const auto kept = cache_.find(key))
    if (auto binary = unpacked(*kept, tools_)) return binary;
  const auto output = build_in(trusted.source, trusted.precision, stop);
  if (!output) {
    // If the unchanged source fails too, double is not the reason.
    if (wide && std::holds_alternative<Rejection>(output.error()))
      if (auto declared = build({trusted.source, trusted.what}, stop); !declared) return declared;
    return does_not_compile(
        trusted, output.error(), " in double",
        "write it with plain float and scalar types, or add an oracle: the same kernel in double");
  }
  std::ifstream file(output->binary->host_library(), std::ios::binary);
  cache_.keep(key, packed(*output->binary, std::string(std::istreambuf_iterator<char>(file), {})));
  return output->binary;
}

Result<std::vector<std::byte>> CudaCompiler::build_kernels(const std::string& kernels,
                                                           const std::stop_token& stop) const {
  const std::string source = tools_.dialect.kernel_prologue + kernels;
  const Digest key = DigestBuilder().add(tools_stamp_.hex()).add("kernels").add(source).finish();
  auto made = cache_.find(key);
  if (!made) {
    auto scratch = ScratchFolder::create();
    if (!scratch) return scratch.error();
    if (auto s = scratch->write("kernels.cu", source); !s) return s.error();
    const auto result = run_sandboxed(
        spec(tools_.image_command(steps(), "kernels.cu", "kernels.image"), scratch->path()), stop);
    if (!result) return result.error();
    if (!result->succeeded())
      return fail(ErrorCode::tool_failed,
                  "the compiler cannot build the judge's own kernels: " + describe(*result), {},
                  escape_controls(result->err));
    auto built = scratch->read("kernels.image", kMaxShimBytes);
    if (!built) return built.error();
    cache_.keep(key, *built);
    made = std::move(*built);
  }
  return tools_.image_in(*made, arch_);
}

}  // namespace kernelsmith::cuda
