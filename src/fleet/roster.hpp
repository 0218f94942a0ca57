// The workers of the fleet, and the choice of a run's hardware.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bus.hpp"
#include "messages.hpp"

namespace kernelsmith::fleet {

/// The workers that announced themselves recently. Invalid messages are skipped.
Result<std::vector<WorkerEntry>> read_roster(Bus& bus, const std::stop_token& stop);

/// The kinds of hardware on which workers offer the backend.
std::set<std::string> hardware_of(const std::vector<WorkerEntry>& workers, std::string_view backend);

/// The kind for a run: the only one whose name contains `wanted`, in any case. Empty if there is none yet.
/// Errors: `invalid_argument` if several are left.
Result<std::optional<std::string>> choose_hardware(const std::set<std::string>& kinds,
                                                   const std::string& wanted);

/// Whether `hardware` matches the wanted name.
bool is_wanted(std::string_view hardware, std::string_view wanted);

}  // namespace kernelsmith::fleet
