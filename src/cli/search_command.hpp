// What run and resume have in common: drive the session, show its progress, tell how it ended.
#pragma once

#include <memory>

#include <kernelsmith/session/session.hpp>

#include "interrupt.hpp"
#include "progress.hpp"

namespace kernelsmith::cli {

/// Runs the session to its end, or to the user's Ctrl-C, prints the summary and returns the exit status.
int search(Session& session, Progress& progress, Interrupt& interrupt);

}  // namespace kernelsmith::cli
