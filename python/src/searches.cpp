// Searches: the engine by hand or driven, and the sessions of task folders.
#include <atomic>
#include <filesystem>
#include <thread>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>
#include <unistd.h>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/session/session.hpp>

#include "bindings.hpp"
#include "gil.hpp"
#include "memory_journal.hpp"
#include "settings.hpp"
#include "values.hpp"
#include "waiting.hpp"

namespace kernelsmith::python {
namespace {

/// Refuses to use a search after a fork: threads and locks do not survive it, and a journal has one writer.
class ForkGuard {
 public:
  bool is_forked() const { return owner_ != ::getpid(); }
  void check() const {
    if (is_forked())
      throw ErrorException(fail(ErrorCode::invalid_argument,
                                "this search was opened by another process, before a fork",
                                "process " + std::to_string(owner_), "open it in the process that uses it"));
  }

 private:
  pid_t owner_ = ::getpid();
};

using Run = std::function<Result<Outcome>(const CommitCallback&, std::stop_token)>;

using ProgressCall = py::typing::Optional<py::typing::Callable<py::object(CommitView)>>;

/// Drives `run` and calls `progress` (may be None) with each commit, on another thread. An exception of
/// `progress` ends the search in order and is raised here.
Outcome drive(Run run, const ProgressCall& progress, Notices& notices) {
  const SharedObject callback = progress.is_none() ? nullptr : share(progress);
  struct Raised {
    std::exception_ptr first;
  };
  const auto raised = std::make_shared<Raised>();
  auto work = [run = std::move(run), callback, raised](std::stop_token stop) {
    std::stop_source ended;
    const std::stop_callback outer(std::move(stop), [&] { ended.request_stop(); });
    return run(
        [&](const Commit& commit) {
          if (!callback || raised->first) return;
          with_gil([&] {
            try {
              call_user(*callback, py::cast(CommitView{commit}));
            } catch (py::error_already_set&) {
              raised->first = std::current_exception();
            }
          });
          if (raised->first) ended.request_stop();
        },
        ended.get_token());
  };
  auto outcome = wait_for<Outcome>(std::move(work), &notices);
  if (raised->first) std::rethrow_exception(std::exchange(raised->first, nullptr));
  return unwrap(std::move(outcome));
}

/// An engine with options from keyword arguments.
class Search {
 private:
  std::shared_ptr<Engine> open() const {
    guard_.check();
    if (!engine_) throw ErrorException(fail(ErrorCode::invalid_argument, "this engine was closed"));
    return engine_;
  }

  template <class F>
  auto in_engine(F call) {
    const auto engine = open();
    auto result = [&] {
      const Released released;
      return call(*engine);
    }();
    notices_->deliver();
    return unwrap(std::move(result));
  }

  template <class F>
  std::vector<CommitView> told(F call) {
    std::vector<CommitView> views;
    for (Commit& commit : in_engine(std::move(call))) views.push_back({std::move(commit)});
    return views;
  }

  /// A copy of the result of `get` on the state; `get` runs with the engine's lock and without the GIL.
  template <class F>
  auto look(F get) {
    const auto engine = open();
    const Released released;
    std::optional<std::invoke_result_t<F, const SearchState&>> found;
    engine->inspect([&](const SearchState& state) { found.emplace(get(state)); });
    return std::move(*found);
  }

  std::optional<Source> parent_of(TicketId id) {
    return look([&](const SearchState& state) -> std::optional<Source> {
      const auto open = state.open().find(id);
      if (open == state.open().end() || !open->second.selection.parent) return std::nullopt;
      return open->second.selection.parent->program->source;
    });
  }

 public:
  Search(std::shared_ptr<Engine> engine, std::uint64_t seed, std::shared_ptr<Notices> notices)
      : engine_(std::move(engine)), seed_(seed), notices_(std::move(notices)) {}
  ~Search() { close(); }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  std::optional<TicketView> ask() {
    auto ticket = in_engine([](Engine& engine) { return engine.ask(); });
    if (!ticket) return std::nullopt;
    return TicketView{std::move(*ticket), seed_};
  }

  std::vector<CommitView> tell(std::uint64_t ticket, const py::object& child, const py::object& answer) {
    const TicketId id{ticket};
    if (py::isinstance<Refusal>(child)) {
      const Refusal refusal = py::cast<Refusal>(child);  // with the GIL
      return told([&](Engine& engine) { return engine.tell(id, refusal); });
    }
    Evaluation evaluation = evaluation_of(answer);
    if (child.is_none()) return told([&](Engine& engine) { return engine.tell(id, std::move(evaluation)); });
    const auto parent = parent_of(id);
    Source source = source_of(child, parent ? &*parent : nullptr);
    return told([&](Engine& engine) { return engine.tell(id, std::move(source), std::move(evaluation)); });
  }

  std::vector<CommitView> give_back(std::uint64_t ticket, const py::str& reason) {
    const Error error = fail(ErrorCode::tool_failed, utf8_of(reason));
    return told([&](Engine& engine) { return engine.give_back(TicketId{ticket}, error); });
  }

  Outcome run(const ProgressCall& progress) {
    auto engine = open();
    if (running_->exchange(true))
      throw ErrorException(fail(ErrorCode::invalid_argument, "this engine is running already", "run",
                                "one thread at a time may call run()"));
    const std::shared_ptr<void> turn(nullptr, [running = running_](void*) { *running = false; });
    return drive([engine, turn](const CommitCallback& on_commit,
                                std::stop_token stop) { return engine->run(on_commit, std::move(stop)); },
                 progress, *notices_);
  }

  bool done() {
    const auto engine = open();
    const Released released;
    return engine->done();
  }

  Outcome outcome() {
    const auto engine = open();
    const Released released;
    return engine->outcome();
  }

  ArchiveView archive() { return look(archive_of); }

  /// Calls under way keep the engine until they return. After a fork, and while Python is ending, nothing can
  /// wait for the engine's threads, so the engine is abandoned; all answers are in the journal.
  void close() {
    auto engine = std::move(engine_);  // with the GIL: other threads may read engine_ without it
    if (!engine) return;
    if (guard_.is_forked() || is_finalizing()) {
      new std::shared_ptr<Engine>(std::move(engine));
    } else if (is_calling()) {
      std::thread([engine = std::move(engine)]() mutable { engine.reset(); }).detach();
    } else {
      const Released released;
      engine.reset();
    }
  }

 private:
  ForkGuard guard_;
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<std::atomic<bool>> running_ = std::make_shared<std::atomic<bool>>(false);
  std::uint64_t seed_;
  std::shared_ptr<Notices> notices_;
};

/// The number of threads that call a Python evaluator or proposer: one for each call in flight.
unsigned workers_in(const std::string& settings) {
  const py::object workers = json_of(settings).attr("get")("workers", 1);
  if (!py::isinstance<py::int_>(workers)) return 1;
  int beyond = 0;  // -1 or 1 for a number beyond long, which run.yaml's reader refuses
  const long number = PyLong_AsLongAndOverflow(workers.ptr(), &beyond);
  return static_cast<unsigned>(std::clamp(number, 1L, 1024L));
}

std::unique_ptr<Search> open_search(const std::optional<std::filesystem::path>& folder,
                                    const py::object& seed, const py::object& evaluator,
                                    const py::object& proposer, const std::string& settings) {
  const Registry registry = registry_with(evaluator, proposer, workers_in(settings));
  const Task task = task_of(seed.is_none() ? Source{} : source_of(seed));
  const Released released;
  RunConfig config = config_for(task, registry, settings);
  EngineOptions options = unwrap(engine_options(task, config));
  const auto notices = std::make_shared<Notices>();
  options.observer = notices;
  options.recorded.emplace(kDescribeSetting, kSourceFeatures);
  auto made_proposer = unwrap(config.proposer.provider->make(task, {}));
  auto made_evaluator = unwrap(config.evaluator.provider->make(task, {}));
  auto engine =
      folder ? Engine::open(*folder, std::move(options), std::move(made_evaluator), std::move(made_proposer))
             : Engine::create(std::make_unique<MemoryJournal>(), std::move(options),
                              std::move(made_evaluator), std::move(made_proposer));
  return std::make_unique<Search>(std::make_shared<Engine>(unwrap(std::move(engine))), config.seed, notices);
}

struct Prepared {
  TaskFolder task;
  RunConfig config;
};

/// A task folder, and its configuration with the settings. Needs no GIL. Throws ErrorException.
Prepared prepared(const std::filesystem::path& folder, const Registry& registry,
                  const std::string& settings) {
  TaskFolder loaded = unwrap(load_task_folder(folder, registry.backends));
  RunConfig config = unwrap(default_config(loaded.task, registry));
  unwrap(lay_settings(settings, registry, config));
  return {std::move(loaded), std::move(config)};
}

/// Refuses to continue the run of another task.
void check_same_task(const std::filesystem::path& task, const std::filesystem::path& folder) {
  without_gil([&] {
    const Task named = unwrap(load_task_folder(task, default_registry().backends)).task;
    const Task kept = unwrap(load_task_folder(folder / "task", default_registry().backends)).task;
    if (named.digest == kept.digest) return;
    throw ErrorException(fail(ErrorCode::invalid_argument,
                              "the run is of another task: " + kept.name + ", not " + named.name +
                                  (named.name == kept.name ? " as it stands now" : ""),
                              folder.string(), "name another folder with out=, or the run's own task"));
  });
}

/// Begins a search over a task folder in `folder`, or continues it if `folder` is a run.
Outcome run_task(const std::filesystem::path& task, const std::filesystem::path& folder,
                 const py::object& proposer, const std::string& settings, const ProgressCall& progress) {
  const Registry registry = registry_for_tasks(proposer, workers_in(settings));
  const auto notices = std::make_shared<Notices>();
  std::error_code ignored;
  const bool resumes = std::filesystem::exists(folder / "run.db", ignored);
  std::function<Result<Session>(const std::stop_token&)> open;
  if (resumes) {
    check_same_task(task, folder);
    open = [=](const std::stop_token& stop) {
      return Session::resume(
          folder, [=](RunConfig& config) { return lay_settings(settings, registry, config); }, registry,
          notices, stop);
    };
  } else {
    const Prepared made = without_gil([&] { return prepared(task, registry, settings); });
    open = [=](const std::stop_token& stop) {
      return Session::create(made.task, folder, made.config, notices, stop);
    };
  }
  return drive(
      [open](const CommitCallback& on_commit, std::stop_token stop) -> Result<Outcome> {
        auto session = open(stop);
        if (!session) return session.error();
        return session->run(on_commit, std::move(stop));
      },
      progress, *notices);
}

Evaluation evaluate(const std::filesystem::path& task, const SourceLike& source, bool quick,
                    const std::string& settings) {
  const Registry registry = default_registry();
  const Prepared made = without_gil([&] { return prepared(task, registry, settings); });
  const Source& like = made.task.task.seed.empty() ? made.task.task.reference : made.task.task.seed;
  const Source candidate = source_of(source, &like);
  auto evaluation = wait_for<Evaluation>([=](const std::stop_token& stop) {
    return evaluate_one(made.task.task, made.config, candidate, stop, !quick);
  });
  return unwrap(std::move(evaluation));
}

}  // namespace

void bind_searches(py::module_& module) {
  py::class_<Search>(module, "Search", "The engine in a kernelsmith.Engine.")
      .def(py::init(&open_search), py::arg("folder"), py::arg("seed"), py::arg("evaluator"),
           py::arg("proposer"), py::arg("settings"))
      .def("ask", &Search::ask)
      .def("tell", &Search::tell, py::arg("ticket"), py::arg("child"), py::arg("answer"))
      .def("give_back", &Search::give_back, py::arg("ticket"), py::arg("reason"))
      .def("run", &Search::run, py::arg("progress"))
      .def("done", &Search::done)
      .def("outcome", &Search::outcome)
      .def("archive", &Search::archive)
      .def("close", &Search::close);
  module.def("run_task", &run_task, py::arg("task"), py::arg("folder"), py::arg("proposer"),
             py::arg("settings"), py::arg("progress"));
  module.def("evaluate", &evaluate, py::arg("task"), py::arg("source"), py::arg("quick"),
             py::arg("settings"));
}

}  // namespace kernelsmith::python
