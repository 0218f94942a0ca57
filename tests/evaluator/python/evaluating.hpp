// An evaluator of the python backend for tests, and what processes this one has.
#pragma once

#include <charconv>

#include <unistd.h>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/evaluator/python/python_evaluator.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

#include "temporary_folder.hpp"
#include "verdicts.hpp"

namespace kernelsmith {

/// Calls run() of the program, and returns what that returns.
inline const std::string kRunsIt = R"(
def evaluate(program_path):
    names = {}
    with open(program_path) as file:
        exec(compile(file.read(), program_path, "exec"), names)
    return names["run"]()
)";

inline Source program(const std::string& text) { return Source::create({{"program.py", text}}).value(); }

inline PythonOptions at_a_time(unsigned runs) {
  PythonOptions options;
  options.runs_at_a_time = runs;
  return options;
}

/// A task with its folder and its evaluator, which is warm.
class Evaluating {
 public:
  explicit Evaluating(const std::string& evaluator, const std::string& settings = "",
                      const PythonOptions& options = at_a_time(1)) {
    // As root, sandboxes run as nobody: a folder of mkdtemp's is closed to it.
    std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
    write("evaluator.py", evaluator);
    write("program.py", "");
    write("task.yaml",
          "version: 1\nname: test\nbackend: python\nevaluator: evaluator.py\nfiles: {seed: program.py}\n" +
              (settings.empty() ? std::string("timeout_s: 60\n") : settings));
    Backends backends;
    backends["python"] = describe_python_backend();
    auto loaded = load_task(folder_.path(), backends);
    if (!loaded) throw ErrorException(loaded.error());
    task_ = std::move(*loaded);
    made_ = std::make_unique<Result<std::shared_ptr<Evaluator>>>(make_python_evaluator(task_, options));
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  const Task& task() const { return task_; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  const Result<std::shared_ptr<Evaluator>>& made() const { return *made_; }

  std::future<Result<Evaluation>> start(const std::string& text, std::stop_token stop = {}) const {
    EvaluationJob job;
    job.run = "test";
    job.task = task_.digest;
    job.source = program(text);
    if (!*made_) throw ErrorException(made_->error());
    return answer_of<Evaluation>([&](auto done) { (**made_)->start(job, std::move(stop), std::move(done)); });
  }

  /// An Error throws.
  Evaluation evaluate(const std::string& text) const { return start(text).get().value(); }

  /// What `run` is the body of, such as "return 3".
  Evaluation run(const std::string& body) const {
    std::string text = "def run():\n    ";
    for (const char c : body) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
    return evaluate(text + "\n");
  }

 private:
  TemporaryFolder folder_;
  Task task_;
  std::unique_ptr<Result<std::shared_ptr<Evaluator>>> made_;
};

/// The text of an artifact; "(none)" if there is none.
inline std::string artifact(const Evaluation& evaluation, const std::string& name) {
  for (const Artifact& one : evaluation.report().artifacts)
    if (one.name == name) return one.text;
  return "(none)";
}

/// Empty if the process has just ended: reading fails then, and getline() takes that as the end.
inline std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string all, part;
  while (std::getline(in, part)) all += part + '\n';
  return all;
}

/// Every process that can be seen, with its parent's id.
inline std::map<pid_t, pid_t> all_processes() {
  std::map<pid_t, pid_t> parents;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    pid_t pid = 0, parent = 0;
    const std::string name = entry.path().filename();
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size())
      continue;
    // "PID (NAME) STATE PARENT ...": a name can hold anything.
    const std::string stat = read_all(entry.path() / "stat");
    const std::size_t end = stat.rfind(')');
    if (end == std::string::npos || end + 4 >= stat.size()) continue;
    std::from_chars(stat.data() + end + 4, stat.data() + stat.size(), parent);
    parents[pid] = parent;
  }
  return parents;
}

/// The processes below this one.
inline std::set<pid_t> descendants() {
  const auto parents = all_processes();
  std::set<pid_t> found = {::getpid()};
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const auto& [pid, parent] : parents)
      if (found.contains(parent)) found.insert(pid);
  }
  found.erase(::getpid());
  return found;
}

/// How many processes have `mark` on their command line, whoever is their parent.
inline int marked_processes(const std::string& mark) {
  int count = 0;
  for (const auto& [pid, parent] : all_processes())
    if (read_all("/proc/" + std::to_string(pid) + "/cmdline").find(mark) != std::string::npos) ++count;
  return count;
}

}  // namespace kernelsmith
