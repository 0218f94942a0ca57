#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/session/kernelbench.hpp>
#include <kernelsmith/session/task_folder.hpp>

namespace kernelsmith {
namespace {

constexpr std::size_t kLongestName = 100;

/// Whether a line of `text` begins with `what`: a problem's definitions are not indented.
bool defines(std::string_view text, std::string_view what) {
  return std::ranges::any_of(lines_of(text),
                             [what](std::string_view line) { return line.starts_with(what); });
}

}  // namespace

std::string clean_name(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') c = '_';
  while (!name.empty() && (name.back() == '_' || name.back() == '.')) name.pop_back();
  const std::size_t begin = std::min(name.find_first_not_of("-._"), name.size());
  name = name.substr(begin, kLongestName);
  return name.empty() ? "problem" : name;
}

std::string problem_name(const std::filesystem::path& file) { return clean_name(file.stem().string()); }

Status check_problem(std::string_view text, const std::string& where, const std::string& entry_point) {
  for (const std::string& what :
       {"class " + entry_point + "(", std::string("def get_inputs("), std::string("def get_init_inputs(")})
    if (!defines(text, what))
      return fail(ErrorCode::bad_input, "this is not a KernelBench problem: it has no `" + what + "...`",
                  where, "a problem defines class Model(nn.Module), get_inputs() and get_init_inputs()");
  return {};
}

std::string problem_yaml(const std::string& name, const TorchSettings& torch) {
  return "# What is to be made faster: reference.py. docs/formats.md explains every key.\nversion: "
         "1\nname: " +
         name + R"(
backend: torch
files:
  reference: reference.py     # Model, get_inputs() and get_init_inputs(), as KernelBench has them
  # seed: seed.py             # a ModelNew to start from; without one a model writes the first (run --model NAME)
torch:
  precision: )" +
         torch.precision +
         R"(             # the precision of products: fp32, tf32, bf16 or fp16
  baseline: )" +
         torch.baseline +
         R"(             # the speedup 1.0x: the reference as it is (eager), or compiled (compile: torch.compile)
  policy: )" +
         torch.policy +
         R"(         # own_kernels: a candidate must launch its own kernel; any: it need not
  cast: )" +
         (torch.cast ? "true" : "false") +
         R"(                  # whether both modules are cast to fp32 after they are made, as in KernelBench's harness
# tolerance: {rtol: 1e-3, atol: 1e-4}   # replaces the tolerance that follows from the precision
)";
}

Result<std::vector<SourceFile>> files_of_problem(const std::filesystem::path& file) {
  auto text = read_text_file(file);
  if (!text) return text.error();
  if (const Status whole = check_problem(*text, file.string()); !whole) return whole.error();
  return std::vector<SourceFile>{{"task.yaml", problem_yaml(problem_name(file), {.cast = true})},
                                 {"reference.py", std::move(*text)}};
}

}  // namespace kernelsmith
