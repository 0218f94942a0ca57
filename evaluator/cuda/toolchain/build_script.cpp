#include "toolchain/build_script.hpp"

namespace kernelsmith::cuda {
namespace {

/// Links one library with the generated call. Undefined symbols are listed but do not fail the link: the
/// planner defines those of the runtime, or they are refused when called.
constexpr const char* kLink =
    "g++ -shared -o host.so unit.o shim.o -Wl,-Bsymbolic-functions -Wl,-z,defs -Wl,-z,lazy "
    "-Wl,--warn-unresolved-symbols "
    "-Wl,--no-demangle >linker.log 2>&1 || { cat linker.log >&2; exit 1; }\n";

}  // namespace

std::string shell_quoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string link_with_shim() { return kLink; }

std::string plain_script(const std::vector<std::string>& command, std::string_view link) {
  std::string line;
  for (const std::string& word : command) line += shell_quoted(word) + " ";
  return line + ">&2 || exit $?\n" + std::string(link);
}

}  // namespace kernelsmith::cuda
