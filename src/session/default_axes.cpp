// The axes of a run whose run.yaml lists none: those of its task, or those of a preset. Also computes the
// features of a source that axes use.
#include <algorithm>

#include <kernelsmith/code/complexity.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {
namespace {

constexpr std::size_t kMaxDefaultAxes = 2;

std::string feature_of(const Knob& knob) { return "knob." + knob.name; }

/// Whether the knob has a name, and no other knob has the same name.
bool has_own_name(const Knob& knob, const std::vector<Knob>& knobs) {
  return !knob.name.empty() &&
         std::ranges::count_if(knobs, [&](const Knob& other) { return other.name == knob.name; }) == 1;
}

std::vector<AxisSpec> knob_axes(std::vector<Knob> knobs) {
  std::erase_if(knobs, [all = knobs](const Knob& knob) {
    return !has_own_name(knob, all) || knob.values.size() < 2 || knob.values.size() > Axis::kMaxBins;
  });
  std::ranges::stable_sort(knobs, std::greater{}, [](const Knob& knob) { return knob.values.size(); });
  if (knobs.size() > kMaxDefaultAxes) knobs.resize(kMaxDefaultAxes);
  std::vector<AxisSpec> axes;
  for (Knob& knob : knobs) axes.push_back({feature_of(knob), CategoricalScale{std::move(knob.values)}});
  return axes;
}

/// What a program's text shows of its structure, for backends that report nothing: nesting (blocking), loops,
/// and calls (intrinsics).
const std::vector<BehaviourLevels> kTextStructure = {
    {"max_nesting", {0, 4, 6, 8, 12}}, {"loops", {0, 2, 4, 8, 16}}, {"calls", {0, 1, 8, 32, 128}}};

/// An axis from a quarter of the seed's value to sixteen times that value, because programs grow more often
/// than they shrink.
AxisSpec size_axis(const std::string& feature, double seed_value, std::size_t bins) {
  const double middle = std::max(4.0, seed_value);
  return {feature, LogarithmicScale{middle / 4, middle * 16, bins}};
}

const Source& first_program(const Task& task) { return task.seed.empty() ? task.reference : task.seed; }

/// The engine of the Kernel-Smith paper is OpenEvolve, which uses the length of the code as its complexity,
/// in ten bins.
std::vector<AxisSpec> kernel_smith_axes(const Task& task) {
  constexpr std::size_t kBins = 10;
  const double length = static_features(first_program(task)).at("bytes");
  return {size_axis("bytes", length, kBins), {"fitness", LogarithmicScale{0.5, 32, kBins}}};
}

std::vector<AxisSpec> behaviour_axes(const BackendDescription& backend) {
  std::vector<AxisSpec> axes;
  const auto& levels = backend.behaviour.empty() ? kTextStructure : backend.behaviour;
  for (const auto& [feature, edges] : levels) axes.push_back({feature, EdgeScale{edges}});
  return axes;
}

std::optional<double> as_double(std::optional<std::size_t> index) {
  return index ? std::optional(static_cast<double>(*index)) : std::nullopt;
}

}  // namespace

std::map<std::string, double> source_features(const Source& source, std::span<const AxisSpec> axes) {
  std::map<std::string, double> features = static_features(source);
  const auto knobs = find_knobs(source);
  if (!knobs) return features;  // the evaluator rejects such a source
  for (const Knob& knob : *knobs) {
    if (!has_own_name(knob, *knobs)) continue;
    const auto axis = std::ranges::find(axes, feature_of(knob), &AxisSpec::feature);
    const auto* scale = axis == axes.end() ? nullptr : std::get_if<CategoricalScale>(&axis->scale);
    if (const auto value =
            scale ? as_double(nearest_value(knob.value(), scale->categories)) : number_of(knob.value()))
      features[feature_of(knob)] = *value;
  }
  return features;
}

void set_default_axes(const Task& task, RunConfig& config) {
  if (config.axes) return;
  if (config.axes_preset) {
    const bool named_by_paper = *config.axes_preset == AxesPreset::kernel_smith;
    config.axes = named_by_paper ? kernel_smith_axes(task) : behaviour_axes(config.backend);
    return;
  }
  if (const auto knobs = find_knobs(task.seed); only_tunes(config) && knobs && !knobs->empty())
    if (auto axes = knob_axes(*knobs); !axes.empty()) {
      config.axes = std::move(axes);
      return;
    }
  config.axes = behaviour_axes(config.backend);
}

}  // namespace kernelsmith
