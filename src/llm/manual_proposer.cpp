#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/llm/chat_proposer.hpp>
#include <kernelsmith/llm/manual_proposer.hpp>

#include "queue_folder.hpp"

namespace kernelsmith {
namespace {

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string request_text(const ProposalRequest& request, const Prompt& prompt, const Task& task) {
  nlohmann::ordered_json out;
  out["version"] = 1;
  out["task"] = task.name;
  out["ticket"] = request.ticket.value;
  out["operator"] = name_of(request.op);
  out["prompt"] = prompt.digest().hex();
  out["expected"] = prompt.edits
                        ? "SEARCH/REPLACE edits of the current program, as the prompt's last part asks"
                        : "the program, or the text between its EVOLVE-BLOCK markers, in a fenced block";
  out["answer_with"] =
      "a file beside this one whose name has .reply.txt (the reply itself) or .reply.json "
      "({\"text\": the reply}) for .request.json; write it under another name and rename it";
  out["messages"] = nlohmann::ordered_json::array();
  if (!prompt.system.empty()) out["messages"].push_back({{"role", "system"}, {"content", prompt.system}});
  out["messages"].push_back({{"role", "user"}, {"content", prompt.user}});
  return out.dump(2) + "\n";
}

class ManualProposer final : public Proposer {
 public:
  ManualProposer(PromptBuilder prompts, Task task, ManualOptions options, QueueFolder queue)
      : prompts_(std::move(prompts)),
        task_(std::move(task)),
        blank_(prompts_.blank_candidate()),
        options_(std::move(options)),
        queue_(std::move(queue)),
        watcher_(std::in_place, options_.interval, [this](const std::stop_token&) { watch(); }) {}

  ~ManualProposer() override {
    watcher_.reset();
    MutexLock lock(mutex_);
    std::vector<Waiting> left = std::exchange(waiting_, {});
    for (const Waiting& waiting : left) queue_.withdraw(waiting.request.ticket);
    lock.unlock();
    for (Waiting& waiting : left) waiting.done(cancelled());
  }

  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    auto prompt = prompts_.build(request);
    if (!prompt) return done(prompt.error());
    std::optional<Error> refused;
    {
      const MutexLock lock(mutex_);
      const Status posted = queue_.post(request.ticket, request_text(request, *prompt, task_));
      if (posted)
        waiting_.push_back(
            {std::move(request), std::move(*prompt), std::move(stop), std::exchange(done, nullptr)});
      else
        refused = posted.error();
    }
    if (refused) return done(*refused);
    watcher_->wake();
  }

 private:
  struct Waiting {
    ProposalRequest request;
    Prompt prompt;
    std::stop_token stop;
    Sink<Proposal> done;
  };

  void watch() {
    MutexLock lock(mutex_);
    std::vector<std::pair<Waiting, Result<Proposal>>> answered = look();
    lock.unlock();
    for (auto& [waiting, answer] : answered) waiting.done(std::move(answer));
    lock.lock();
    // The journal holds the answers now, so the files of these requests may be moved away.
    for (const auto& [waiting, answer] : answered)
      if (answer) queue_.put_away(waiting.request.ticket);
  }

  /// Takes the requests that have an answer, or whose stop was requested, out of waiting_.
  std::vector<std::pair<Waiting, Result<Proposal>>> look() KERNELSMITH_REQUIRES(mutex_) {
    const double now = seconds(std::chrono::steady_clock::now().time_since_epoch());
    std::vector<std::pair<Waiting, Result<Proposal>>> answered;
    std::vector<Waiting> still;
    for (Waiting& waiting : waiting_) {
      const TicketId ticket = waiting.request.ticket;
      if (waiting.stop.stop_requested()) {
        queue_.withdraw(ticket);
        answered.emplace_back(std::move(waiting), cancelled());
        continue;
      }
      const Found found = queue_.look(ticket, now, seconds(options_.settle));
      if (const auto* reply = std::get_if<ModelReply>(&found)) {
        Proposal proposal = proposal_from(*reply, waiting.request, waiting.prompt, blank_);
        answered.emplace_back(std::move(waiting), std::move(proposal));
        continue;
      }
      if (const auto* bad = std::get_if<BadReply>(&found)) queue_.complain(ticket, bad->message);
      still.push_back(std::move(waiting));
    }
    waiting_ = std::move(still);
    return answered;
  }

  static Error cancelled() { return fail(ErrorCode::cancelled, "stopped before it was answered"); }

  const PromptBuilder prompts_;
  const Task task_;
  const Source blank_;  ///< PromptBuilder::blank_candidate()
  const ManualOptions options_;
  Mutex mutex_;
  QueueFolder queue_ KERNELSMITH_GUARDED_BY(mutex_);
  std::vector<Waiting> waiting_ KERNELSMITH_GUARDED_BY(mutex_);
  std::optional<Repeater> watcher_;
};

}  // namespace

Result<std::shared_ptr<Proposer>> make_manual_proposer(PromptBuilder prompts, const Task& task,
                                                       ManualOptions options) {
  auto queue = QueueFolder::open(options.folder);
  if (!queue) return queue.error();
  return std::shared_ptr<Proposer>(
      std::make_shared<ManualProposer>(std::move(prompts), task, std::move(options), std::move(*queue)));
}

}  // namespace kernelsmith
