#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <thread>
#include <utility>

#include <unistd.h>

#include <kernelsmith/agent/agent_proposer.hpp>
#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/sandbox/spec.hpp>

#include "sitting.hpp"
#include "workspace.hpp"

namespace kernelsmith {
namespace {

/// The path that a shell would find.
Result<std::string> found_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return std::filesystem::absolute(program).string();
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  rest += ':';
  for (std::size_t end; (end = rest.find(':')) != std::string::npos; rest.erase(0, end + 1)) {
    const std::string candidate = rest.substr(0, end) + "/" + program;
    if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return fail(ErrorCode::not_found, "the agent's command is not in PATH", program,
              "install it, or give its whole path");
}

/// Whether the sandbox shows the program itself. Does not check the target of a link or the interpreter of a
/// script.
bool is_shown(const std::filesystem::path& program, const AgentOptions& options) {
  SandboxSpec spec;
  add_toolchain(spec);
  std::vector<std::filesystem::path> roots = options.read_only;
  for (const Bind& bind : spec.read_only) roots.push_back(bind.target);
  for (const SandboxLink& link : spec.links) roots.push_back(link.target);
  roots.emplace_back(agent::kWorkspace);
  return std::ranges::any_of(roots, [&](const std::filesystem::path& root) {
    const auto beneath = program.lexically_normal().lexically_relative(root.lexically_normal());
    return !beneath.empty() && *beneath.begin() != "..";
  });
}

/// Adds a hint, because the sandbox's "No such file or directory" is not about the host's files.
Error with_hint(Error error) {
  if (error.code == ErrorCode::not_found && error.hint.empty())
    error.hint =
        "beside /usr/bin, /usr/lib and /usr/local the sandbox shows what the proposer's read_only lists: add "
        "the command's folder, the folder of the file that it links to, and that of its #! interpreter";
  return error;
}

/// Has a thread for each request, which mostly waits for a process or for other agents to end.
class AgentProposer final : public Proposer {
 public:
  AgentProposer(PromptBuilder prompts, AgentOptions options)
      : prompts_(std::move(prompts)), options_(std::move(options)) {}

  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    const MutexLock lock(mutex_);
    threads_.remove_if([](const Worker& worker) { return worker.ended->load(); });
    auto ended = std::make_shared<std::atomic<bool>>();
    threads_.push_back({ended, std::jthread([this, ended, request = std::move(request),
                                             stop = std::move(stop), done = std::move(done)]() mutable {
                          done(sit(std::move(request), stop));
                          *ended = true;
                        })});
  }

 private:
  struct Worker {
    std::shared_ptr<std::atomic<bool>> ended;
    std::jthread thread;
  };

  Result<Proposal> sit(ProposalRequest request, const std::stop_token& stop) {
    const std::stop_callback wake(request.ending, [this] {
      const MutexLock lock(mutex_);
      ended_.notify_all();
    });
    {
      MutexLock lock(mutex_);
      const auto has_room = [&]() KERNELSMITH_REQUIRES(mutex_) {
        return at_work_ < options_.parallel || request.ending.stop_requested();
      };
      if (!ended_.wait(lock, stop, has_room) || request.ending.stop_requested())
        return fail(ErrorCode::cancelled, "the agent was stopped before it was started");
      ++at_work_;
    }
    auto answer = agent::Sitting(prompts_, options_, std::move(request)).run(stop);
    if (!answer) answer = with_hint(answer.error());
    {
      const MutexLock lock(mutex_);
      --at_work_;
    }
    ended_.notify_one();
    return answer;
  }

  const PromptBuilder prompts_;
  const AgentOptions options_;
  Mutex mutex_;
  StoppableCondition ended_;
  unsigned at_work_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  std::list<Worker> threads_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::shared_ptr<Proposer>> make_agent_proposer(PromptBuilder prompts, const Task&,
                                                      AgentOptions options) {
  if (options.command.empty())
    return fail(ErrorCode::invalid_argument, "an agent needs a command", "proposer.command");
  auto program = found_in_path(options.command.front());
  if (!program) return program.error();
  if (!is_shown(*program, options))
    return with_hint(fail(ErrorCode::not_found, "the sandbox does not show the agent's command", *program));
  if (options.name.empty()) options.name = std::filesystem::path(*program).filename().string();
  options.command.front() = std::move(*program);
  return std::shared_ptr<Proposer>(std::make_shared<AgentProposer>(std::move(prompts), std::move(options)));
}

}  // namespace kernelsmith
