#include "vendors/clang/clang_tools.hpp"

#include <span>
#include <system_error>

#include <unistd.h>

#include <kernelsmith/sandbox/try_tool.hpp>

namespace kernelsmith::cuda {

std::vector<std::string> clang_command(std::vector<std::string> front, const BuildSteps& steps,
                                       const std::string& from, const std::string& to) {
  std::vector<std::string> command = std::move(front);
  command.push_back("--offload-arch=" + steps.arch);
  command.insert(command.end(), steps.flags.begin(), steps.flags.end());
  // A source that reads the date is refused, because it becomes a different program in the next build.
  command.insert(command.end(),
                 {"-fPIC", "-Werror=date-time", "-I.", "-Isource", "-Itask", "-c", "-o", to, from});
  return command;
}

Result<std::vector<std::byte>> image_in_build(const ScratchFolder& folder, const CodeObjectFormat& format,
                                              const std::string& arch) {
  constexpr std::uint64_t kMostBytes = 64ULL << 20;
  const auto object = folder.read(build_files::kObject, kMostBytes);
  if (!object) return object.error();
  return find_image(std::as_bytes(std::span(*object)), format, arch);
}

namespace {

/// What the compiler prints about its version.
Result<std::string> clang_version(const std::filesystem::path& program, const char* hint) {
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  const auto answer = try_tool({program.string(), "--version"}, scratch->path(), false);
  if (const std::string fault = fault_of(answer); !fault.empty())
    return fail(ErrorCode::tool_failed, "the compiler does not run: " + fault, program.string(), hint);
  constexpr std::string_view kBefore = "version";
  const std::string& text = answer->out;
  const auto at = text.find(kBefore);
  const auto begin = at == text.npos ? at : text.find_first_of("0123456789", at);
  if (begin == text.npos)
    return fail(ErrorCode::tool_failed, "the compiler does not print its version", program.string(), hint);
  return text.substr(begin, text.find_first_not_of("0123456789.-+", begin) - begin);
}

}  // namespace

Result<Toolkit> clang_toolkit(const std::filesystem::path& folder, const char* program, const char* api,
                              const char* hint) {
  std::error_code unresolved;
  Toolkit toolkit;
  toolkit.root = std::filesystem::canonical(folder, unresolved);
  toolkit.compiler = toolkit.root / program;
  toolkit.include = toolkit.root / "include";
  if (unresolved || ::access(toolkit.compiler.c_str(), X_OK) != 0)
    return fail(ErrorCode::tool_missing, "there is no " + std::string(api) + " compiler (" + program + ")",
                folder.string(), hint);
  auto version = clang_version(toolkit.compiler, hint);
  if (!version) return version.error();
  toolkit.version = std::move(*version);
  return toolkit;
}

std::vector<BehaviourLevels> wave_behaviour() {
  constexpr double kSmall = 16385, kHalf = 32769, kMost = 65537;
  return {{"shared_bytes", {0, 1, kSmall, kHalf, kMost}}, {"registers", {0, 33, 65, 129, 513}}};
}

}  // namespace kernelsmith::cuda
