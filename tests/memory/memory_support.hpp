// Rules for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/memory/rule.hpp>

namespace kernelsmith::testing {

inline MemoryRule rule(std::string text, std::vector<std::string> terms = {"softmax"},
                       std::string run = "r1") {
  const Measurement gain{1.5, 1.4, 1.6, 9, "x"};
  return {RuleKind::tactic,
          "cpu",
          std::move(text),
          std::move(terms),
          {{std::move(run), 4, "t1", "a CPU", gain}},
          {}};
}

}  // namespace kernelsmith::testing
