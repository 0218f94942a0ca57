// STTS, the test-time scaling of Dr. Kernel (arXiv 2602.05885): a model works on a task in turns, and from
// some turn on it is shown only the best turns of its own history. docs/stts.md is the page for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/llm/chat_model.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/suite/metrics.hpp>
#include <kernelsmith/suite/report.hpp>
#include <kernelsmith/suite/tasks.hpp>

namespace kernelsmith {

/// Which turns are kept.
enum class SttsWindow {
  consecutive,  ///< neighbours with the largest sum of rewards: KernelGYM's code
  top,          ///< those with the largest rewards, wherever they stand: the paper's text
};
std::string_view name_of(SttsWindow window);
std::optional<SttsWindow> stts_window_from(std::string_view name);

/// How many turns there are, and what each is shown. The defaults are KernelGYM's.
struct SttsPlan {
  std::size_t turns = 14;
  std::size_t first = 5;  ///< turns of one conversation, before history is chosen from
  std::size_t keep = 4;   ///< turns that every later prompt shows
  SttsWindow window = SttsWindow::consecutive;
};

/// `invalid_argument` if a number is zero or `first` is above `turns`.
Status check_plan(const SttsPlan& plan);

/// The `keep` consecutive turns with the largest sum of rewards, the earliest of equals; all if there are
/// fewer. Turns count from 0. Pure.
std::vector<std::size_t> best_window(std::span<const double> rewards, std::size_t keep);

/// The `keep` turns with the largest rewards, the earliest of equals, in the order of time. Pure.
std::vector<std::size_t> best_turns(std::span<const double> rewards, std::size_t keep);

/// The turns that the next prompt shows, after turns with these rewards. Pure.
std::vector<std::size_t> shown_turns(const SttsPlan& plan, std::span<const double> rewards);

/// Dr. Kernel's reward, gated by correctness: C (0.5 + 0.5 min(s, 3)), where s is the speedup, or the fitness
/// of a backend that times nothing; below 0 it counts 0. Pure.
double stts_reward(const Evaluation& evaluation);

/// One turn: a reply, and what came of it.
struct SttsTurn {
  std::vector<std::size_t> shown;        ///< earlier turns that its prompt held, in order, from 0
  Proposal proposal;                     ///< with the digest of the messages, and the reply
  std::optional<Source> source;          ///< the candidate; empty: none could be taken from the reply
  std::optional<Evaluation> evaluation;  ///< of `source`, without artifacts
  double reward = 0;
  std::string feedback;  ///< the user message that answers it
};

/// All turns of one sample of a task.
struct SttsTrajectory {
  std::string system, user;  ///< the first messages, which every prompt begins with
  std::vector<SttsTurn> turns;
  std::vector<Cost> lost;  ///< of calls that were paid for and gave no reply

  std::vector<double> rewards() const;
};

/// The first messages, and reply and feedback of each turn of `shown`. Pure.
std::vector<Message> stts_messages(const SttsTrajectory& trajectory, const std::vector<std::size_t>& shown);

/// One table by the last turn of each trajectory, one by its best. A trajectory is a record in both.
struct SttsReport {
  SuiteReport last, best;
};

/// Configures tasks and follows progress. Called by one thread at a time.
class SttsHost {
 public:
  virtual ~SttsHost() = default;
  /// The configuration for one task: its evaluator and its prompts are used. An error becomes the task's
  /// result.
  virtual Result<RunConfig> configure(const Task& task) = 0;
  /// A turn is done; `number` counts from 1.
  virtual void turn(const std::string& trajectory, std::size_t number, const SttsTurn& turn) = 0;
  /// A trajectory has its result, here that of its best turn.
  virtual void end(const TaskResult& best) = 0;
};

/// What run_stts() makes, and where. A value.
struct SttsOptions {
  std::filesystem::path out;
  /// What all results share, in words; a folder with results under other settings is refused.
  std::map<std::string, std::string> settings;
  SttsPlan plan;
  std::size_t samples = 1;  ///< independent trajectories of each task
  std::size_t workers = 4;  ///< trajectories under way at a time
};

/// Makes every trajectory that is not complete, and brings the files up to date after each. A reply is in the
/// trajectory's journal before anything else is done with it, and is never asked for again. A trajectory that
/// the machine or the server stops is a result with its error, and the others go on. Stopped, it returns what
/// there is: fewer results than trajectories. Errors: what a server or a full disk did to three trajectories
/// in a row, `busy` for a folder in use, `invalid_argument` for one with other settings or other contents,
/// `bad_input`, `version`, and the file system's.
Result<SttsReport> run_stts(const std::vector<SuiteTask>& tasks, const SttsOptions& options,
                            const Registry& registry, const std::shared_ptr<ChatModel>& model, SttsHost& host,
                            const std::stop_token& stop = {});

/// The report's parts as text: docs/stts.md.
std::string to_json(const SttsReport& report);
std::string to_table(const SttsReport& report);
/// One line for each trajectory, for each level, in both tables.
std::string results_csv(const SttsReport& report);
std::string levels_csv(const SttsReport& report);

}  // namespace kernelsmith
