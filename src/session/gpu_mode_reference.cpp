// The reference.py of GPU MODE's problem.
#include <algorithm>
#include <string_view>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "gpu_mode.hpp"

namespace kernelsmith::arena {
namespace {

constexpr std::string_view kModules = R"(import sys
import types


def _module(name, text):
    sys.modules[name] = module = types.ModuleType(name)
    exec(compile(text, name + ".py", "exec"), module.__dict__)


)";

constexpr std::string_view kTask = R"(

# What follows makes a task of kernelsmith of it.
import unittest.mock

import torch
from torch.utils import _pytree


_READ = {torch.Tensor.item: 1, torch.Tensor.__int__: 1, torch.Tensor.__float__: 1.0, torch.Tensor.__bool__: False}


class _Watched(torch.overrides.TorchFunctionMode):
    """Finds the buffers for outputs: tensors of torch.empty that nothing else in generate_input() uses. Where candidates
    are planned there is no GPU and no value: generators are the CPU's, and what is read from a tensor is 1 or False."""

    def __enter__(self):
        self.buffers, self.planned = [], type(torch.empty(0)) is not torch.Tensor
        self._generator = unittest.mock.patch.object(torch, "Generator", lambda device=None: torch._C.Generator())
        if self.planned:
            self._generator.start()
            torch.distributions.Distribution.set_default_validate_args(False)  # it reads values
        return super().__enter__()

    def __exit__(self, *error):
        if self.planned:
            self._generator.stop()
        return super().__exit__(*error)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if self.planned and func in _READ:
            is_float = func is torch.Tensor.item and args[0].is_floating_point()
            return 1.0 if is_float else _READ[func]
        made = func(*args, **(kwargs or {}))
        if func in (torch.empty, torch.empty_like):
            self.buffers.append(made)
        elif func is not torch.Tensor.contiguous and getattr(func, "__name__", "") != "__get__":
            used = _pytree.tree_leaves((args, kwargs))
            self.buffers = [one for one in self.buffers if all(one is not other for other in used)]
        return made

    def without_buffers(self, data):
        if not isinstance(data, tuple):
            return data
        return tuple({"empty": tuple(one.shape), "dtype": str(one.dtype).removeprefix("torch.")}
                     if any(one is buffer for buffer in self.buffers) else one for one in data)


class Model(torch.nn.Module):
    """In place of a buffer for an output, `data` has its shape and dtype: {"empty": (4, 8), "dtype": "float32"}."""

    def forward(self, data):
        return ref_kernel(_with_buffers(data))


def _with_buffers(data):
    if not isinstance(data, tuple):
        return data
    device = next((one.device for one in data if isinstance(one, torch.Tensor)), None)
    return tuple(torch.empty(one["empty"], dtype=getattr(torch, one["dtype"]), device=device)
                 if isinstance(one, dict) and "empty" in one else one for one in data)


def get_inputs(**case):
    with _Watched() as watched:
        data = generate_input(**case)";

constexpr std::string_view kCheck = R"(

def check(outputs, data):
    said = check_implementation(_with_buffers(data), outputs[0] if len(outputs) == 1 else tuple(outputs))
    good, problem = said if isinstance(said, tuple) else (not said, said)
    return None if good else problem or "check_implementation refuses it"
)";

constexpr std::string_view kEnd = R"()
    return [watched.without_buffers(data)]


def get_init_inputs():
    return []
)";

}  // namespace

bool has_line(std::string_view text, std::string_view start) {
  return std::ranges::any_of(lines_of(text),
                             [start](std::string_view line) { return line.starts_with(start); });
}

Result<std::string> gpu_mode_reference(const GpuModeProblem& problem, const std::string& reference,
                                       const std::filesystem::path& folder) {
  std::string modules;
  for (const auto& [name, source] : problem.modules) {
    const std::string stem = std::filesystem::path(name).stem().string();
    if (!name.ends_with(".py") || !source.ends_with(".py") ||
        (!has_line(reference, "from " + stem + " import") && !has_line(reference, "import " + stem)))
      continue;
    const auto text = read_text_file(folder / source);
    if (!text) return text.error();
    modules += "_module(\"" + stem + "\", " + in_triple_quotes(*text) + ")\n";
  }
  return (modules.empty() ? "" : std::string(kModules) + modules + "\n") + reference +
         (reference.ends_with('\n') ? "" : "\n") + std::string(kTask) +
         // The judge seeds the generator anew for each set of inputs.
         (problem.has_seed ? ", seed=torch.initial_seed() % 2**31" : "") + std::string(kEnd) +
         (problem.tolerance ? "" : std::string(kCheck));
}

}  // namespace kernelsmith::arena
