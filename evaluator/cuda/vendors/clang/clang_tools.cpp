#include "vendors/clang/clang_tools.hpp"

#include <span>

#include <kernelsmith/sandbox/try_tool.hpp>

#include "toolchain/build_script.hpp"

namespace kernelsmith::cuda {

std::vector<std::string> clang_command(std::vector<std::string> front, const BuildSteps& steps,
                                       const std::string& from, const std::string& to) {
  std::vector<std::string> command = std::move(front);
  command.push_back("--offload-arch=" + steps.arch);
  command.insert(command.end(), steps.flags.begin(), steps.flags.end());
  // A source that reads the date is another program in the next build.
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

}  // namespace kernelsmith::cuda
