// The Observer seam: what happens, for whoever wants to print, count or plot it. The library writes no
// log.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/event.hpp>

namespace kernelsmith {

/// Something worth telling a person that is part of no journal: a retry, a lowered tier, a slow step.
struct Notice {
  enum class Level { info, warning };
  Level level = Level::info;
  std::string message;
};

/// Receives events after they were committed. Called from one thread at a time; must not call back into the
/// engine and must not block for long.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_event(const Event& event) = 0;
  virtual void on_notice(const Notice& notice) = 0;
};

}  // namespace kernelsmith
