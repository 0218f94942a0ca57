// HISTORY.md of an agent's workspace: the run's programs so far, one per line.
#pragma once

#include <string>

#include <kernelsmith/core/proposal.hpp>

namespace kernelsmith::agent {

/// The run's best programs and its latest, ProposalRequest::tried before them. Well-formed UTF-8, bounded in
/// bytes: the oldest of the latest are left out first.
std::string history_text(const ProposalRequest& request);

}  // namespace kernelsmith::agent
