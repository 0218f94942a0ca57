#include "workspace.hpp"

#include <filesystem>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/core/untrusted_files.hpp>

#include "history_text.hpp"
#include "page_files.hpp"

namespace kernelsmith::agent {
namespace {

constexpr const char* kTool = "kernelsmith";  // in the agent's PATH
constexpr std::size_t kMostAskBytes = std::size_t{4} << 20;

/// Writes files one after another and remembers the first error.
class Writer {
 public:
  explicit Writer(const ScratchFolder& folder) : folder_(folder) {}

  void write(const std::filesystem::path& path, std::string_view text) {
    if (status_) status_ = folder_.write(path, text);
  }
  void write(const std::filesystem::path& folder, const Source& source) {
    for (const SourceFile& file : source.files()) write(folder / file.path, file.text);
  }
  /// A program and its verdict; `role` says why it is shown.
  void write(std::string_view role, const IndividualPtr& individual) {
    if (!individual) return;
    const auto folder = std::filesystem::path("programs") / std::to_string(individual->program->id.value);
    write(folder, individual->program->source);
    write(folder / "evaluation.json", to_json(individual->evaluation));
    write(folder / "role.txt", std::string(role) + "\n");
  }
  void write(std::string_view role, const std::vector<IndividualPtr>& individuals) {
    for (const IndividualPtr& individual : individuals) write(role, individual);
  }
  const Status& status() const { return status_; }

 private:
  const ScratchFolder& folder_;
  Status status_;
};

/// The prompt's description of the task, without the programs, which have their own files.
Result<std::string> task_text(const PromptBuilder& prompts, const ProposalRequest& request) {
  ProposalRequest asked{request.seed, request.ticket, Operator::rewrite, request.model, request.selection};
  if (!request.selection.parent) asked.op = Operator::translate;
  auto prompt = prompts.build(asked);
  if (!prompt) return prompt.error();
  return prompt->system + "\n\n" + prompt->user + "\n";
}

}  // namespace

Result<Workspace> Workspace::lay(const PromptBuilder& prompts, const ProposalRequest& request,
                                 std::string_view budget) {
  auto work = ScratchFolder::create();
  if (!work) return work.error();
  auto answers = ScratchFolder::create();
  if (!answers) return answers.error();
  const auto task = task_text(prompts, request);
  if (!task) return task.error();
  const Selection& selection = request.selection;
  Writer writer(*work);
  for (const PageFile& page : page_files())
    writer.write(
        page.name == kTool ? std::filesystem::path("tools") / kTool : std::filesystem::path(page.name),
        page.text);
  writer.write("TASK.md", *task);
  writer.write("BUDGET.md", budget);
  writer.write("HISTORY.md", history_text(request));
  writer.write("candidate", selection.parent ? selection.parent->program->source : prompts.blank_candidate());
  // A later role replaces an earlier one.
  writer.write("one of the run's latest", selection.past.latest);
  writer.write("one of the run's best", selection.past.best);
  writer.write("one of the best", selection.top);
  writer.write("another one, for ideas", selection.inspirations);
  writer.write("rejected; see why", selection.failures);
  writer.write("tried for this request before the run was interrupted", request.tried);
  writer.write("the parent: candidate/ begins as a copy of it", selection.parent);
  writer.write("asks/.here", "");
  if (!writer.status()) return writer.status().error();
  std::error_code failed;
  std::filesystem::permissions(work->path() / "tools" / kTool, std::filesystem::perms(0755), failed);
  if (failed) return system_error("an agent's workspace cannot be made", work->path(), failed.value());
  return Workspace(std::move(*work), std::move(*answers));
}

Result<std::string> Workspace::ask(std::uint64_t number) const {
  return work_.read("asks/" + std::to_string(number) + ".json", kMostAskBytes);
}

/// Written atomically, because the agent waits for the name.
Status Workspace::answer(std::uint64_t number, std::string_view json) const {
  const std::string name = std::to_string(number) + ".json";
  if (Status written = answers_.write(name + ".new", json); !written) return written;
  std::error_code failed;
  std::filesystem::rename(answers_.path() / (name + ".new"), answers_.path() / name, failed);
  if (failed) return system_error("an agent's answer cannot be written", answers_.path(), failed.value());
  return {};
}

}  // namespace kernelsmith::agent
