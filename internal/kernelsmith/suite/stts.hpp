// STTS, the test-time scaling of Dr. Kernel (arXiv 2602.05885): a model works on a task in turns, and after
// the first turns it is shown only the best of its own history. docs/stts.md is the page for users.
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

/// The rule that selects the turns to keep.
enum class SttsWindow {
  consecutive,  ///< consecutive turns with the largest sum of uncapped rewards, nearly as in KernelGYM's code
  top,          ///< the turns with the largest uncapped rewards, nearly as in the paper's text
};
std::string_view name_of(SttsWindow window);
std::optional<SttsWindow> stts_window_from(std::string_view name);

/// The number of turns, and the history that each turn shows to the model. The defaults are KernelGYM's.
struct SttsPlan {
  std::size_t turns = 14;
  std::size_t first = 5;  ///< number of turns in one conversation before history is selected
  std::size_t keep = 4;   ///< number of turns in every later prompt
  SttsWindow window = SttsWindow::consecutive;
};

/// Returns `invalid_argument` if a number is zero or `first` exceeds `turns`.
Status check_plan(const SttsPlan& plan);

/// The `keep` consecutive turns with the largest sum of rewards (of equals, the earliest); all turns if there
/// are fewer. Turns are counted from 0. Pure.
std::vector<std::size_t> best_window(std::span<const double> rewards, std::size_t keep);

/// The `keep` turns with the largest rewards (of equals, the earliest), in the order of time. Pure.
std::vector<std::size_t> best_turns(std::span<const double> rewards, std::size_t keep);

/// The turns that the next prompt shows, after turns with these uncapped rewards. Pure.
std::vector<std::size_t> shown_turns(const SttsPlan& plan, std::span<const double> rewards);

/// Dr. Kernel's reward, gated by correctness: C (0.5 + 0.5 min(s, 3)), where s is the speedup, or the fitness
/// if the backend measures no times; negative s counts as 0. Pure.
double stts_reward(const Evaluation& evaluation);

/// The reward without its cap, by which turns are chosen: among turns above the cap the fastest ones. Pure.
double uncapped_stts_reward(const Evaluation& evaluation);

/// One turn: a reply and its result.
struct SttsTurn {
  std::vector<std::size_t> shown;        ///< earlier turns in its prompt, in order, counted from 0
  Proposal proposal;                     ///< contains the digest of the messages, and the reply
  std::optional<Source> source;          ///< the candidate; empty if the reply has none
  std::optional<Evaluation> evaluation;  ///< evaluation of `source`, without artifacts
  double reward = 0;
  std::string feedback;  ///< the user message that answers the reply
};

/// All turns of one trajectory of a task.
struct SttsTrajectory {
  std::string system, user;  ///< the first messages of every prompt
  std::vector<SttsTurn> turns;
  std::vector<Cost> lost;  ///< cost of paid calls without a reply

  /// What each turn is chosen by.
  std::vector<double> uncapped_rewards() const;
};

/// The first messages, then the reply and the feedback of each turn in `shown`. Pure.
std::vector<Message> stts_messages(const SttsTrajectory& trajectory, const std::vector<std::size_t>& shown);

/// Two tables: one by the last turn of each trajectory, one by its best turn. Each trajectory is a record in
/// both.
struct SttsReport {
  SuiteReport last, best;
};

/// Configures tasks and follows progress. Called by one thread at a time.
class SttsHost {
 public:
  virtual ~SttsHost() = default;
  /// The configuration for one task; only its evaluator and prompts are used. An error becomes the task's
  /// result.
  virtual Result<RunConfig> configure(const Task& task) = 0;
  /// A turn is done; `number` counts from 1.
  virtual void turn(const std::string& trajectory, std::size_t number, const SttsTurn& turn) = 0;
  /// A trajectory is done; the result is that of its best turn.
  virtual void end(const TaskResult& best) = 0;
};

/// Options of run_stts(). A value.
struct SttsOptions {
  std::filesystem::path out;
  /// Settings that all results share, in words. A folder with results for other settings is refused, except
  /// for fewer "turns": these are then continued.
  std::map<std::string, std::string> settings;
  SttsPlan plan;
  std::size_t samples = 1;  ///< independent trajectories of each task
  std::size_t workers = 4;  ///< parallel trajectories
};

/// Runs every incomplete trajectory, and updates the files after each. A reply is journalled before it is
/// used, and is never requested again. If a trajectory fails because of the machine or the server, its result
/// is the error, and the others continue. After a stop request it returns the results so far. Errors: the
/// error that a server or a full disk caused in three trajectories in a row; `busy` for a folder in use;
/// `invalid_argument` for a folder with other settings or contents; `bad_input`; `version`; the file
/// system's.
Result<SttsReport> run_stts(const std::vector<SuiteTask>& tasks, const SttsOptions& options,
                            const Registry& registry, const std::shared_ptr<ChatModel>& model, SttsHost& host,
                            const std::stop_token& stop = {});

/// The parts of the report as text (docs/stts.md).
std::string to_json(const SttsReport& report);
std::string to_table(const SttsReport& report);
/// CSV of both tables: a line for each trajectory or level.
std::string results_csv(const SttsReport& report);
std::string levels_csv(const SttsReport& report);

}  // namespace kernelsmith
