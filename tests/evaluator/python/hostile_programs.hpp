// Programs that do what programs must not, and what becomes of them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>

namespace kernelsmith {

struct HostileProgram {
  std::string name;
  std::string body;              ///< of run()
  std::set<RejectionCode> code;  ///< empty: it is accepted
  bool hangs = false;
};

inline const std::vector<HostileProgram>& hostile_programs() {
  using enum RejectionCode;
  static const std::vector<HostileProgram> all = {
      {"hangs", "import time\ntime.sleep(1000)", {timed_out}, true},
      {"spins", "while True: pass", {timed_out}, true},
      // In a sandbox fork() fails at the limit; without one it is killed there.
      {"forks", "import os\nwhile True: os.fork()", {raised, sandbox_violation}},
      {"fills memory", "kept = []\nwhile True: kept.append(bytearray(1 << 20))", {out_of_memory}},
      {"prints 1 GB", "line = 'x' * (1 << 20)\nfor _ in range(1024): print(line)\nreturn 1", {}},
      {"raises", "return 1 / 0", {raised}},
      {"os._exit", "import os\nos._exit(0)", {exited}},
      {"sys.exit", "import sys\nsys.exit(3)", {exited}},
      {"a signal", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", {crashed}},
      {"NaN", "return float('nan')", {bad_metrics}},
      {"nothing", "pass", {bad_metrics}},
      {"a list", "return [1, 2]", {bad_metrics}},
      {"a flag", "return True", {bad_metrics}},
      {"a dict without numbers", "return {'a': 'text', 'b': float('inf')}", {bad_metrics}},
  };
  return all;
}

}  // namespace kernelsmith
