// Joining the fleet, who is in it, and on which hardware a run goes.
#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "bus.hpp"
#include "messages.hpp"

namespace kernelsmith::fleet {

/// Makes the streams that are not there and checks that this fleet speaks our protocol; the first to come
/// writes it down. Errors: Bus's, and `version`.
Status join_fleet(Bus& bus, const std::stop_token& stop);

/// The workers that announced themselves lately. What cannot be read is left out.
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
