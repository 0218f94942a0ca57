#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/kernelbench.hpp>
#include <kernelsmith/suite/public_sets.hpp>

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

/// Writes problems and candidates to the places where a suite looks for them.
class Unpacked {
 public:
  explicit Unpacked(const fs::path& folder) {
    set_.tasks = folder / "problems";
    set_.candidates = folder / "candidates";
  }

  Status problem(unsigned level, const std::string& name, const std::string& text) {
    const fs::path folder = set_.tasks / ("level" + std::to_string(level)) / name;
    if (Status written = put(folder / "reference.py", text); !written) return written;
    // The policy `any` accepts candidates that leave the work to PyTorch; these are counted separately.
    return put(folder / "task.yaml",
               problem_yaml(problem_name(name + ".py"), {.policy = "any", .cast = true}));
  }

  Status candidate(unsigned level, unsigned number, const std::string& text, Claim claim) {
    const std::string problem = "level_" + std::to_string(level) + "_problem_" + std::to_string(number);
    const fs::path path =
        set_.candidates / (problem + "_sample_" + std::to_string(samples_[problem]++) + "_kernel.py");
    set_.claims.emplace(path, std::move(claim));
    return put(path, text);
  }

  /// The problem's own module as its candidate.
  Status reference(unsigned level, const std::string& name, const std::string& text) {
    if (Status written = problem(level, name, text); !written) return written;
    return put(set_.candidates / ("level" + std::to_string(level)) / (name + ".py"),
               text + "\n\nclass ModelNew(Model):\n    pass\n");
  }

  PublicSet set() && { return std::move(set_); }

 private:
  /// Leaves a file unchanged if it already has the text, because an earlier call of the command may have
  /// written it.
  static Status put(const fs::path& path, const std::string& text) {
    if (const auto before = read_regular_file(path, kMostBytes); before && *before == text) return {};
    if (Status made = make_folders(path.parent_path()); !made) return made;
    return replace_file(path, text);
  }

  PublicSet set_;
  std::map<std::string, unsigned> samples_;
};

Error not_this_layout(const fs::path& where, const std::string& what) {
  return fail(ErrorCode::bad_input, "this set does not have the expected layout: " + what, where.string(),
              "fetch it again from its authors");
}

/// The parts of a title such as "Level 1: 3_Batched_matrix_multiplication": its numbers and the stem of its
/// file.
struct ProblemKey {
  unsigned level = 0, number = 0;
  std::string name;

  static std::optional<ProblemKey> read(const std::string& text) {
    ProblemKey key;
    std::istringstream in(text);
    std::string word;
    char colon = 0;
    if (!(in >> word >> key.level >> colon >> key.name) || word != "Level" || colon != ':')
      return std::nullopt;
    std::istringstream number(key.name);
    if (!(number >> key.number) || key.level > 99 || !is_plain(key.name)) return std::nullopt;
    return key;
  }

  static bool is_plain(const std::string& name) {
    return name.size() < 200 && name.find_first_of("/\\") == std::string::npos && name.front() != '.';
  }
};

class Leaderboard {
 public:
  explicit Leaderboard(fs::path folder) : folder_(std::move(folder)) {}

  /// The folder with the leaderboard's files; `source` is that folder or the repository that contains it.
  static std::optional<fs::path> find(const fs::path& source) {
    std::error_code ignored;
    for (const fs::path& folder : {source, source / "docs" / "assets"})
      if (fs::is_regular_file(folder / "data.json", ignored) &&
          fs::is_directory(folder / "solutions", ignored))
        return folder;
    return std::nullopt;
  }

  Status unpack(Unpacked& out) const {
    const auto text = read_regular_file(folder_ / "data.json", kMostBytes);
    if (!text) return text.error();
    const Json data = Json::parse(*text);
    for (const auto& [title, entries] : data.items()) {
      const auto key = ProblemKey::read(title);
      if (!key) return not_this_layout(folder_ / "data.json", "a problem is called '" + title + "'");
      const std::string file = "l" + std::to_string(key->level) + "_p" + std::to_string(key->number) + ".py";
      const auto problem = read_regular_file(folder_ / "problems" / file, kMostBytes);
      if (!problem) return problem.error();
      if (Status written = out.problem(key->level, key->name, *problem); !written) return written;
      for (const Json& entry : entries)
        if (Status taken = take(*key, entry, out); !taken) return taken;
    }
    return {};
  }

 private:
  Status take(const ProblemKey& key, const Json& entry, Unpacked& out) const {
    const auto name = entry.at("file").get<std::string>();
    if (!ProblemKey::is_plain(name))
      return not_this_layout(folder_ / "data.json", "a file is called '" + name + "'");
    const auto text = read_regular_file(folder_ / "solutions" / (name + ".py"), kMostBytes);
    if (!text) return text.error();
    return out.candidate(
        key.level, key.number, *text,
        {entry.at("display_name").get<std::string>(), entry.at("torch_speedup").get<double>()});
  }

  fs::path folder_;
};

/// A file of CUDA-L1, which has a line for each problem.
class CudaL1 {
 public:
  explicit CudaL1(fs::path file) : file_(std::move(file)) {}

  static bool is_at(const fs::path& source) {
    std::ifstream in(source);
    std::string line;
    if (!std::getline(in, line)) return false;
    const Json first = Json::parse(line, nullptr, false);
    return first.is_object() && first.contains("level_id") && first.contains("custom_code");
  }

  Status unpack(Unpacked& out) const {
    const auto text = read_regular_file(file_, kMostBytes);
    if (!text) return text.error();
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of(" \r") == std::string::npos) continue;
      const Json entry = Json::parse(line);
      const auto level = entry.at("level_id").get<unsigned>(), number = entry.at("task_id").get<unsigned>();
      Status problem =
          out.problem(level, std::to_string(number) + "_problem", entry.at("ref_code").get<std::string>());
      if (!problem) return problem;
      if (!entry.at("custom_code").is_string()) continue;  // CUDA-L1 found no candidate for this problem
      Status taken =
          out.candidate(level, number, entry.at("custom_code").get<std::string>(),
                        {"CUDA-L1 " + file_.stem().string(), entry.at("score_default").get<double>()});
      if (!taken) return taken;
    }
    return {};
  }

 private:
  fs::path file_;
};

}  // namespace

Result<std::optional<PublicSet>> unpack_public_set(const fs::path& source, const fs::path& folder) {
  Unpacked out(folder);
  const auto unpack = [&](const auto& layout) -> Result<std::optional<PublicSet>> {
    try {
      if (const Status done = layout.unpack(out); !done) return done.error();
    } catch (const Json::exception& wrong) {
      return not_this_layout(source, wrong.what());
    }
    return std::optional(std::move(out).set());
  };
  std::error_code ignored;
  if (const auto found = Leaderboard::find(source)) return unpack(Leaderboard(*found));
  if (fs::is_regular_file(source, ignored) && CudaL1::is_at(source)) return unpack(CudaL1(source));
  // An arena's problems with their solutions stay where they are.
  const auto problems =
      fs::is_directory(source, ignored) ? find_tasks(source, {}) : not_this_layout(source, "");
  if (problems && std::ranges::any_of(*problems, is_arena_problem, &SuiteTask::path))
    return std::optional(PublicSet{source, source, {}});
  return std::optional<PublicSet>();
}

Result<PublicSet> references_as_candidates(const std::vector<SuiteTask>& problems, const fs::path& folder) {
  Unpacked out(folder);
  for (const SuiteTask& task : problems) {
    // Not checked here: a file that is no problem is one row with an error, and the others continue.
    const auto text = read_regular_file(task.path, kMostBytes);
    if (!text) return text.error();
    if (Status written = out.reference(task.level, task.path.stem().string(), *text); !written)
      return written.error();
  }
  return std::move(out).set();
}

}  // namespace kernelsmith
