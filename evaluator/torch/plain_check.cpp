// Runs a candidate in plain PyTorch with python/kernelsmith_torch/verify.py, and reads the result.
#include "plain_check.hpp"

#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/evaluator/supported.hpp>
#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "python_program.hpp"
#include "wire.hpp"

namespace kernelsmith {
namespace torch {
namespace {

/// PyTorch takes minutes to build an extension, and KernelBench has problems that draw 8 GB of inputs.
constexpr double kLimitS = 1200;

std::vector<std::string> arguments_of(const Task& task, const TorchSettings& torch,
                                      const std::string& reference, const std::string& candidate,
                                      int device) {
  std::vector<std::string> words = {reference,       candidate,  "--precision",
                                    torch.precision, "--device", std::to_string(device)};
  const auto add = [&](const char* option, std::string value) {
    words.insert(words.end(), {option, std::move(value)});
  };
  if (torch.cast) words.emplace_back("--cast");
  for (std::size_t i = 0; i < torch.workloads.size(); ++i)
    if (!torch.workloads[i].check) add("--timed", std::to_string(i));
  add("--workloads", judged_workloads(torch, task.tolerance).dump());
  return words;
}

/// The last line that is not empty; in a traceback it is the exception.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', end);
  return escape_controls(text.substr(begin + 1, end - begin));
}

/// The Error for a missing verdict.
Error failure_of(const std::string& code, std::string words) {
  if (code == "no_gpu")
    return fail(ErrorCode::unsupported, std::move(words), {},
                "kernelsmith plan needs none; kernelsmith doctor says what this machine has");
  if (code == "out_of_memory")
    return fail(ErrorCode::busy, std::move(words), "the GPU",
                "the reference had no room: try again when no other program uses the GPU");
  return fail(ErrorCode::refused, std::move(words), "files: reference");
}

/// Reads the verdict at the end of the program's standard output.
Result<PlainVerdict> parse_verdict(const std::string& out) {
  const Json told = parse_untrusted(last_line(out));
  if (std::string failed = text_at(told, "failed"); !failed.empty())
    return failure_of(text_at(told, "code"), std::move(failed));
  PlainVerdict verdict{
      text_at(told, "stage"),          text_at(told, "problem"),
      number_at(told, "build_s"),      number_at(told, "reference_us"),
      number_at(told, "candidate_us"), "PyTorch " + text_at(told, "torch") + ", " + text_at(told, "device")};
  if (verdict.stage.empty())
    return fail(ErrorCode::bad_reply, "the program that runs the candidate in plain PyTorch gave no verdict");
  return verdict;
}

}  // namespace

Result<PlainVerdict> read_plain_verdict(const SandboxResult& result) {
  if (result.kind == ExitKind::wall_limit)
    return fail(ErrorCode::timeout, "the candidate did not end in plain PyTorch within 20 minutes");
  if (result.succeeded()) return parse_verdict(result.out);
  const std::string said = last_line(result.err);
  if (result.kind == ExitKind::signalled)  // a kernel or an extension crashed the process
    return PlainVerdict{"run",    "the process ended with " + describe(result) + ": " + said, 0, 0, 0,
                        "PyTorch"};
  return fail(ErrorCode::tool_failed, "running in plain PyTorch failed: " + said, "kernelsmith_torch.verify");
}

}  // namespace torch

Result<PlainVerdict> verify_in_plain_torch(const Task& task, const Source& source,
                                           const TorchOptions& options) {
  if (auto supported = check_backend(task, "torch"); !supported) return supported.error();
  const auto settings = torch_settings(task);
  if (!settings) return settings.error();
  const auto python = torch::find_python(options.python);
  if (!python) return python.error();
  const auto folder = ScratchFolder::create();
  if (!folder) return folder.error();
  const SourceFile& reference = task.reference.files().front();
  const SourceFile& candidate = source.files().front();
  for (const auto& [file, place] : {std::pair{reference, "reference/" + reference.path},
                                    std::pair{candidate, "candidate/" + candidate.path}})
    if (const Status written = folder->write(place, file.text); !written) return written.error();
  for (const SourceFile& file : task.files)
    if (const Status written = folder->write("reference/" + file.path, file.text); !written)
      return written.error();
  SandboxSpec spec = torch::trusted_program(
      *python, "verify",
      torch::arguments_of(task, *settings, (folder->path() / "reference" / reference.path).string(),
                          (folder->path() / "candidate" / candidate.path).string(), options.devices.first));
  spec.limits.wall_s = torch::kLimitS;
  const auto result = run_sandboxed(spec, options.stop);
  if (!result) return result.error();
  return torch::read_plain_verdict(*result);
}

}  // namespace kernelsmith
