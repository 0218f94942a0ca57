// Solutions that people published for an arena, as candidates of a torch task.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>

#include "arena_schema.hpp"

namespace kernelsmith::arena {

/// A solution.json of FlashInfer-Bench or SOL-ExecBench.
struct Solution {
  std::string name, definition, author;
  std::string entry_file = {}, entry = {};  ///< the function that is called, and the file that has it
  bool fills_outputs = true;  ///< gets tensors for its outputs after the inputs, and writes into them
  bool is_extension = false;  ///< C++ and CUDA, bound by PyTorch; else Python
  std::vector<std::string> cflags = {}, cuda_cflags = {}, ld_flags = {};
  std::vector<SourceFile> sources = {};
};

/// Reads a solution.json; `where` is its path in errors. Errors: bad_input, with the key; unsupported for a
/// language that cannot be planned.
Result<Solution> parse_solution(std::string_view text, const std::string& where);

/// The solution as one Python file with ModelNew. Without the definition it cannot fill outputs. Errors:
/// unsupported, bad_input.
Result<std::string> candidate_of(const Solution& solution, const std::optional<Definition>& definition,
                                 const std::string& where);

/// Whether it is a submission for GPU MODE: it defines custom_kernel, and no ModelNew.
bool is_submission(std::string_view python);

/// The submission with ModelNew below it.
std::string candidate_of_submission(std::string_view python);

}  // namespace kernelsmith::arena
