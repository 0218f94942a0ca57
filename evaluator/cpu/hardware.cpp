// Describes this machine for reports.
#include <fstream>
#include <thread>

#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>

namespace kernelsmith {

std::string cpu_hardware() {
  const std::string cores = ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2) + cores;
  }
  return "unknown processor" + cores;
}

}  // namespace kernelsmith
