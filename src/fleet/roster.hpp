// Joins the fleet, lists its workers, and chooses the hardware of a run.
#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "bus.hpp"
#include "messages.hpp"

namespace kernelsmith::fleet {

/// Makes the missing streams, and checks that this fleet speaks our protocol. The first process that joins
/// records the protocol. Errors: Bus's, and `version`.
Status join_fleet(Bus& bus, const std::stop_token& stop);

/// The workers that have announced themselves lately. Omits announcements that cannot be read.
Result<std::vector<WorkerEntry>> read_roster(Bus& bus, const std::stop_token& stop);

/// The kinds of hardware on which workers offer the backend.
std::set<std::string> hardware_of(const std::vector<WorkerEntry>& workers, std::string_view backend);

/// The kind of hardware for a run: the only one whose name contains `wanted`, in upper or lower case. Empty
/// if no worker offers the backend yet. Errors: `invalid_argument` if several kinds match, or none of those
/// offered.
Result<std::optional<std::string>> choose_hardware(const std::set<std::string>& kinds,
                                                   const std::string& wanted);

/// Whether the name of `hardware` contains `wanted`, in upper or lower case.
bool is_wanted(std::string_view hardware, std::string_view wanted);

}  // namespace kernelsmith::fleet
