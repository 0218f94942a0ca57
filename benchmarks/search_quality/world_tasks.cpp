// Which recorded spaces the worlds are made of.
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "worlds.hpp"

namespace kernelsmith::bench {
namespace {

/// What the structure of each kernel is. The vector widths of gemm are narrow or wide.
const std::map<std::string, std::vector<StructureParameter>> kStructures = {
    {"convolution", {{"read_only", 2}, {"use_padding", 2}, {"use_shmem", 2}}},
    {"dedispersion", {{"tile_stride_x", 2}, {"tile_stride_y", 2}}},
    {"gemm", {{"SA", 2}, {"SB", 2}, {"VWM", 2}, {"VWN", 2}}},
    {"pnpoly", {{"between_method", 4}, {"use_method", 3}}},
};

/// The spaces of a group, and its programs of four kernels. No GPU is in both groups, and one kernel is in
/// the confirming group only. pnpoly on 2080Ti and Titan is left out: its repeats scatter by a third.
struct Group {
  std::vector<std::string> spaces;
  std::vector<std::vector<std::string>> programs;
};

Group spaces_of(SpaceGroup group) {
  if (group == SpaceGroup::choose)
    return {{"convolution A100", "convolution A4000", "convolution W6600", "gemm 2080Ti", "gemm 3090",
             "pnpoly 3090"},
            {{"convolution A100", "convolution W6600", "gemm 3090", "pnpoly 3090"},
             {"convolution A4000", "convolution W6600", "gemm 2080Ti", "pnpoly 3090"},
             {"convolution A100", "convolution A4000", "gemm 2080Ti", "gemm 3090"}}};
  return {{"convolution A6000", "convolution MI250X", "convolution W7800", "gemm 3060", "gemm Titan",
           "dedispersion MI250X", "dedispersion W7800", "pnpoly 3060"},
          {{"convolution A6000", "gemm 3060", "dedispersion MI250X", "pnpoly 3060"},
           {"convolution MI250X", "gemm Titan", "dedispersion W7800", "pnpoly 3060"},
           {"convolution W7800", "gemm Titan", "dedispersion MI250X", "pnpoly 3060"}}};
}

GeneSpacePtr read(const std::string& folder, const std::string& name) {
  std::ifstream file(folder + "/" + name + ".json");
  if (!file) throw std::runtime_error("cannot read " + folder + "/" + name + ".json");
  std::ostringstream text;
  text << file.rdbuf();
  const auto recorded = RecordedSpace::read(text.str());
  if (!recorded) throw std::runtime_error(name + ": " + recorded.error().message);
  return std::make_shared<GeneSpace>(*recorded, kStructures.at(name.substr(0, name.find(' '))));
}

}  // namespace

std::vector<std::string> space_names(SpaceGroup group) { return spaces_of(group).spaces; }

RecordedSpaces read_spaces(const std::string& folder, SpaceGroup group) {
  RecordedSpaces spaces;
  for (const auto& name : space_names(group)) spaces[name] = read(folder, name);
  return spaces;
}

std::vector<BenchTask> world_tasks(const RecordedSpaces& spaces, SpaceGroup group, bool seeded) {
  std::vector<BenchTask> tasks;
  for (const auto& [name, space] : spaces) tasks.push_back(task_of(name, "plain", {{space}, false, seeded}));
  for (const auto& program : spaces_of(group).programs) {
    World world{{}, false, seeded};
    std::string joined;
    for (const auto& name : program) {
      world.kernels.push_back(spaces.at(name));
      joined += (joined.empty() ? "" : " + ") + name;
    }
    tasks.push_back(task_of(joined, "kernels", std::move(world)));
  }
  for (const auto& [name, space] : spaces)
    tasks.push_back(task_of(name, "structures", {{space}, true, seeded}));
  return tasks;
}

}  // namespace kernelsmith::bench
