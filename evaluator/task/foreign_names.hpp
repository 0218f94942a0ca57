// Maps names of PyTorch, NumPy, C and others to those of task.yaml, for "did you mean". Private to the reader
// of tasks. Pure and thread-safe.
#pragma once

#include <optional>
#include <string_view>

namespace kernelsmith::task {

/// Our name of a dtype such as `torch.float32`, `half` or `int64_t`; "" for one that we lack (`int16`),
/// nullopt for an unknown word.
std::optional<std::string_view> dtype_meant_by(std::string_view word);

/// Our name of a role such as `input`.
std::optional<std::string_view> role_meant_by(std::string_view word);

/// Our name of a distribution such as `randn`.
std::optional<std::string_view> init_meant_by(std::string_view word);

/// Our key for a bound such as `min`.
std::optional<std::string_view> bound_meant_by(std::string_view word);

/// Our key for a number such as `relative_tolerance`.
std::optional<std::string_view> tolerance_key_meant_by(std::string_view word);

/// Our name of a policy such as `bitwise`.
std::optional<std::string_view> policy_meant_by(std::string_view word);

}  // namespace kernelsmith::task
