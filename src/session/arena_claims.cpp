// What people say of their solutions: names and authors, and the speedups in traces of FlashInfer-Bench.
#include <cmath>
#include <optional>
#include <system_error>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "arena_json.hpp"
#include "arena_schema.hpp"
#include "arena_solution.hpp"
#include "gpu_mode.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

/// The geometric mean over a solution's traces; one that failed leaves no claim.
class Mean {
 public:
  void add(double speedup) {
    has_failed_ = has_failed_ || !(speedup > 0);
    if (speedup > 0) sum_ += std::log(speedup);
    ++count_;
  }
  double value() const { return has_failed_ || count_ == 0 ? 0 : std::exp(sum_ / count_); }

 private:
  double sum_ = 0, count_ = 0;
  bool has_failed_ = false;
};

void add_traces(std::string_view text, const std::string& where, std::map<std::string, Mean>& means) {
  for (const std::string_view line : lines_of(text)) {
    const auto read = arena::read_json(line, where, [&](const arena::At& in) {
      if (!in.has("solution") || !in.has("evaluation")) return 0;  // the trace of a workload alone
      const std::string name = in["solution"].text();
      const arena::At told = in["evaluation"];
      const auto speedup =
          told.has("performance") ? told["performance"].figure_or_none("speedup_factor") : std::nullopt;
      means[name].add(told.text_or_none("status") == "PASSED" ? speedup.value_or(0) : 0);
      return 0;
    });
    (void)read;  // a claim that cannot be read does not count
  }
}

}  // namespace

std::optional<PublishedSolution> published_solution(const fs::path& file) {
  const auto text = read_text_file(file);
  if (!text) return {};
  const auto read = arena::read_json(*text, file.string(), [](const arena::At& in) {
    in["sources"].each_element([](const arena::At&) {});
    return PublishedSolution{in["name"].text(), in["definition"].text(), in.text_or_none("author")};
  });
  return read ? std::optional(*read) : std::nullopt;
}

bool is_arena_candidate(const fs::path& file) {
  const auto text = file.extension() == ".py" ? read_text_file(file) : Result<std::string>(std::string());
  return text && (arena::has_line(*text, "class ModelNew") || arena::is_submission(*text));
}

std::string definition_of(const fs::path& task) {
  if (task.extension() == ".json") return task.stem().string();
  const auto text = read_text_file(task / arena::kDefinitionFile);
  if (!text) return {};
  const auto name = arena::read_json(*text, "", [](const arena::At& in) { return in["name"].text(); });
  return name ? *name : std::string();
}

std::map<std::string, double> claims_in(const fs::path& traces) {
  std::map<std::string, Mean> means;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(traces, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != ".jsonl") continue;
    if (const auto text = read_text_file(entry->path())) add_traces(*text, entry->path().string(), means);
  }
  std::map<std::string, double> claims;
  for (const auto& [name, mean] : means) claims[name] = mean.value();
  return claims;
}

}  // namespace kernelsmith
