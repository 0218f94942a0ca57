// What run, replay and resume have in common: drive the session, show its progress, tell how it ended.
#pragma once

#include <memory>
#include <string>

#include <kernelsmith/session/session.hpp>

#include "interrupt.hpp"
#include "progress.hpp"

namespace kernelsmith::cli {

/// Runs the session to its end, or to the user's Ctrl-C, prints the summary and returns the exit status.
int search(Session& session, Progress& progress, Interrupt& interrupt);

/// The first of NAME-1.run, NAME-2.run, ... that does not exist.
std::string unused_folder(const std::string& name);

}  // namespace kernelsmith::cli
