// Reads the options of a run from its journal, for viewing a run without the program that began it.

#include <iomanip>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/engine/search_state.hpp>

#include "settings.hpp"

namespace kernelsmith {
namespace {

/// Reads the texts of settings_of() back. They come from a run folder, which may be a stranger's.
class Settings {
 public:
  explicit Settings(const std::map<std::string, std::string>& texts) : texts_(texts) {}

  std::string text(const char* name) const {
    const auto found = texts_.find(name);
    return found == texts_.end() ? "" : found->second;
  }

  template <class Number>
  void operator()(const char* name, Number& value) {
    if (const auto read = number_in<Number>(text(name)))
      value = *read;
    else
      refuse(name);
  }

  void operator()(const char* name, bool& flag) {
    const std::string word = text(name);
    if (word != "true" && word != "false") refuse(name);
    flag = word == "true";
  }

  void refuse(const char* name) {
    if (!status_) return;
    status_ = fail(ErrorCode::corrupt, "the journal's setting cannot be read: \"" + text(name) + "\"", name);
  }

  const Status& status() const { return status_; }

 private:
  const std::map<std::string, std::string>& texts_;
  Status status_;
};

template <class Number>
bool read_range(std::istream& in, AxisSpec& axis) {
  Number scale;
  in >> scale.low >> scale.high >> scale.bins;
  axis.scale = scale;
  return static_cast<bool>(in);
}

/// Returns true if the axis ends here. Consumes the semicolon before the next axis.
bool at_end(std::istream& in) {
  if (!in.eof()) in >> std::ws;  // fails at the end of the text
  return in.eof() || in.peek() == ';';
}

bool read_axis(std::istream& in, AxisSpec& axis) {
  std::string kind;
  in >> std::quoted(axis.feature) >> kind;
  if (kind == "linear") return read_range<LinearScale>(in, axis);
  if (kind == "logarithmic") return read_range<LogarithmicScale>(in, axis);
  if (kind == "edges") {
    EdgeScale scale;
    for (double edge = 0; in && !at_end(in) && in >> edge;) scale.edges.push_back(edge);
    axis.scale = std::move(scale);
    return !in.fail();
  }
  CategoricalScale scale;
  for (std::string name; in && !at_end(in) && in >> std::quoted(name);) scale.categories.push_back(name);
  axis.scale = std::move(scale);
  return kind == "categorical" && !in.fail();
}

void read_axes(Settings& settings, std::vector<AxisSpec>& axes) {
  std::istringstream in(settings.text("axes"));
  while (!at_end(in)) {
    AxisSpec axis;
    if (!read_axis(in, axis) || !at_end(in)) return settings.refuse("axes");
    axes.push_back(std::move(axis));
    if (!in.eof()) in.ignore();  // the semicolon
  }
}

void read_topology(Settings& settings, Topology& topology) {
  std::istringstream in(settings.text("topology"));
  std::size_t islands = 0;
  std::string word;
  in >> islands >> word;
  std::vector<MigrationEdge> edges;
  while (in && !at_end(in)) {
    MigrationEdge edge;
    char arrow = 0;
    in >> edge.from.value >> arrow >> edge.to.value;
    edges.push_back(edge);
  }
  auto read = Topology::from_edges(islands, std::move(edges));
  if (!read || word != "islands" || in.fail()) return settings.refuse("topology");
  topology = std::move(*read);
}

void read_objectives(Settings& settings, Objectives& objectives) {
  const std::string text = settings.text(kObjectivesSetting);
  if (text.empty()) return;
  auto read = Objectives::from_text(text);
  if (!read) return settings.refuse(kObjectivesSetting);
  objectives = std::move(*read);
}

Result<EngineOptions> options_from(const std::map<std::string, std::string>& texts) {
  Settings settings(texts);
  EngineOptions options;
  if (const auto task = Digest::from_hex(settings.text("task"))) options.task = *task;
  list_plain_settings(options, settings);
  read_topology(settings, options.topology);
  read_axes(settings, options.axes);
  read_objectives(settings, options.objectives);
  if (!settings.status()) return settings.status().error();
  return options;
}

/// The results of a first pass over the journal.
struct Gathered {
  std::optional<std::map<std::string, std::string>> settings;
  std::vector<Source> seeds;
  std::unordered_map<std::uint64_t, Digest> children;  ///< the child of each ticket
  std::unordered_set<Digest> judged;                   ///< children that were not known as repeats before
                                                       ///< they were evaluated or compiled
  /// Maps the fingerprint of any other child to that of the program that it repeats.
  std::unordered_map<Digest, Digest> repeats;

  void operator()(const Event& event) {
    const auto* session = std::get_if<SessionStarted>(&event);
    if (session && !settings) settings = session->settings;
    const auto* proposed = std::get_if<ProposalArrived>(&event);
    if (const Child* child = proposed ? proposed->proposal.child() : nullptr) {
      children.emplace(proposed->ticket.value, child->source.digest());
      if (child->origin == Origin::seed && proposed->ticket.value == seeds.size())
        seeds.push_back(child->source);
    }
    const auto* told = std::get_if<EvaluationArrived>(&event);
    const auto child = told ? children.find(told->ticket.value) : children.end();
    if (child == children.end()) return;
    if (told->source != EvaluationSource::cached) {
      judged.insert(child->second);
      return;
    }
    const auto program = children.find(told->program.value);
    if (program != children.end() && !judged.contains(child->second))
      repeats.emplace(child->second, program->second);
  }
};

}  // namespace

Result<SearchState> replay_as_recorded(
    const Journal& journal,
    const std::function<void(const std::map<std::string, std::string>&, EngineOptions&)>& complete) {
  Gathered gathered;
  const Status read = journal.replay(0, [&](std::uint64_t, const Event& event) -> Status {
    gathered(event);
    return {};
  });
  if (!read) return read.error();
  if (!gathered.settings) return SearchState::create({});
  auto options = options_from(*gathered.settings);
  if (!options) return options.error();
  options->seeds = std::move(gathered.seeds);
  // The program's own fingerprint is unknown, but the journal shows which children it treated as equal.
  options->fingerprint = [repeats = std::move(gathered.repeats)](const Source& source) {
    const Digest digest = source.digest();
    const auto found = repeats.find(digest);
    return found == repeats.end() ? digest : found->second;
  };
  if (complete) complete(*gathered.settings, *options);
  auto state = SearchState::create(std::move(*options));
  if (!state) return state.error();
  state->accept_any_settings();
  state->read_from(&journal);
  const Status replayed = journal.replay(0, [&](std::uint64_t, const Event& event) -> Status {
    auto commits = state->apply(event);
    return commits ? Status{} : Status(commits.error());
  });
  if (!replayed) return replayed.error();
  state->read_from(nullptr);
  return state;
}

}  // namespace kernelsmith
