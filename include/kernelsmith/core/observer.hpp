// The Observer seam: receives what happens in a run, to print, count or plot it. The library itself writes no
// log.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/event.hpp>

namespace kernelsmith {

/// A message for people that is not part of the journal: a retry, a lowered tier, a slow step.
struct Notice {
  enum class Level { info, warning };
  Level level = Level::info;
  std::string message;
};

/// Receives events after they were committed. It is called from one thread at a time. It must not call back
/// into the engine and must not block for long.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_event(const Event& event) = 0;
  virtual void on_notice(const Notice& notice) = 0;
};

}  // namespace kernelsmith
