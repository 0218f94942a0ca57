// CpuCompiler: builds from trusted sources, cached on disk.
#include <fstream>
#include <string>
#include <utility>
#include <variant>

#include <sys/stat.h>

#include "runner/protocol.hpp"
#include "signature.hpp"
#include "toolchain/compiler.hpp"

namespace kernelsmith::cpu {
namespace {

/// Increase this number if the same key must mean a different object.
constexpr std::uint64_t kCacheFormat = 2;
constexpr const char* kNameACompiler = "name a C++ compiler (evaluator.compiler; g++ is the default)";

/// The meaning of -march=native here: several machines can share a cache on disk.
std::string processor_features() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string features;
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();)
    if (line.starts_with("model") || line.starts_with("cpu family") || line.starts_with("flags") ||
        line.starts_with("Features") || line.starts_with("CPU part"))
      features += line + "\n";
  return features;
}

/// The identity of a program; reinstalling a compiler changes its identity.
Digest identity_of(const std::filesystem::path& program) {
  struct stat status {};
  ::stat(program.c_str(), &status);
  DigestBuilder digest;
  digest.add(kCacheFormat).add(program.string());
  for (const auto number :
       {static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(status.st_ino),
        static_cast<std::uint64_t>(status.st_mtim.tv_sec),
        static_cast<std::uint64_t>(status.st_mtim.tv_nsec)})
    digest.add(number);
  return digest.finish();
}

}  // namespace

Status CpuCompiler::learn_version(const std::stop_token& stop) {
  const Digest identity = identity_of(compiler_);
  std::string version = cache_.find(identity).value_or("");
  if (version.empty()) {
    auto asked = ask_version(stop);
    if (!asked) return asked.error();
    version = std::move(*asked);
    cache_.keep(identity, version);
  }
  description_ = compiler_.filename().string() + " " + version;
  DigestBuilder stamp;
  stamp.add(identity.hex()).add(version).add(processor_features());
  for (const std::string& flag : flags_) {
    description_ += " " + flag;
    stamp.add(flag);
  }
  stamp.add(task_header(task_, OraclePrecision::declared)).add(shim_source(task_)).add(task_.files.size());
  for (const SourceFile& file : task_.files) stamp.add(file.path).add(file.text);
  stamp_ = stamp.finish();
  return {};
}

Result<std::string> CpuCompiler::ask_version(const std::stop_token& stop) const {
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  const auto answer = run_driver({"-dumpfullversion", "-dumpversion"}, *scratch, stop);
  if (!answer) return answer.error();
  return answer->out.substr(0, answer->out.find('\n'));
}

Status CpuCompiler::build_shim(const std::string& name, const std::string& source,
                               const std::stop_token& stop) const {
  const Digest key = DigestBuilder().add(stamp_.hex()).add(name).add(source).finish();
  if (const auto kept = cache_.find(key)) return headers_->write(name + ".o", *kept);
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  if (auto s = scratch->write("shim.cpp", source); !s) return s.error();
  const auto result =
      run_driver({"-O2", "-fPIC", "-std=c++20", "-c", "-o", "shim.o", "shim.cpp"}, *scratch, stop);
  if (!result) return result.error();
  if (!result->succeeded())
    return fail(ErrorCode::tool_failed,
                compiler_.string() + " cannot build the generated call: " + describe(*result), {},
                escape_controls(result->err));
  const auto object = scratch->read("shim.o", runner::kMaxObjectBytes);
  if (!object && object.error().code == ErrorCode::not_found)
    return fail(ErrorCode::tool_failed, compiler_.string() + " succeeded but compiled nothing", {},
                kNameACompiler);
  if (!object) return object.error();
  cache_.keep(key, *object);
  return headers_->write(name + ".o", *object);
}

Result<CpuBinaryPtr> CpuCompiler::build(const TrustedSource& trusted, const std::stop_token& stop) const {
  if (auto in_order = check_parameters(task_, trusted); !in_order) return in_order.error();
  const bool wide = trusted.precision != OraclePrecision::declared;
  const Digest key = DigestBuilder()
                         .add(stamp_.hex())
                         .add(trusted.generator ? "generator" : "kernel")
                         .add(static_cast<std::uint64_t>(trusted.precision))
                         .add(trusted.source.digest().hex())
                         .finish();
  if (const auto kept = cache_.find(key)) return CpuBinary::create(*kept);
  const auto output = compile(trusted.source, Manner{trusted.precision, trusted.generator, false}, stop);
  if (!output) {
    // If the unchanged source fails too, the wider type is not the reason.
    if (wide && std::holds_alternative<Rejection>(output.error()))
      if (auto plain = build({trusted.source, trusted.what}, stop); !plain) return plain;
    return does_not_compile(trusted, output.error(), " in a wider type",
                            "write it with plain float, or add an oracle: the same function over double");
  }
  std::ifstream file(output->binary->object(), std::ios::binary);
  cache_.keep(key, std::string(std::istreambuf_iterator<char>(file), {}));
  return output->binary;
}

Result<CpuBinaryPtr> CpuCompiler::link_all_libraries(const std::stop_token& stop) const {
  const Digest key = DigestBuilder().add(stamp_.hex()).add("libraries").finish();
  if (const auto kept = cache_.find(key)) return CpuBinary::create(*kept);
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  if (auto s = scratch->write("nothing.cpp", ""); !s) return s.error();
  Arguments arguments = {"-Wl,--no-as-needed"};
  arguments.insert(arguments.end(), flags_.begin(), flags_.end());
  arguments.insert(arguments.end(), {"-fPIC", "-shared", "-o", "kernel.so", "nothing.cpp"});
  const auto result = run_driver(std::move(arguments), *scratch, stop);
  if (!result) return result.error();
  const auto object = scratch->read("kernel.so", runner::kMaxObjectBytes);
  if (!object)
    return fail(ErrorCode::tool_failed,
                compiler_.string() + " cannot link an empty object: " + describe(*result), {},
                escape_controls(result->err));
  cache_.keep(key, *object);
  return CpuBinary::create(*object);
}

}  // namespace kernelsmith::cpu
