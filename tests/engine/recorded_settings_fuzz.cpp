// The settings in a journal, which may come from a stranger: whatever is read is a run that can be looked at.
#include <cstdint>
#include <string_view>

#include <kernelsmith/engine/search_state.hpp>

#include "fuzz.hpp"
#include "memory_journal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsmith;
  SessionStarted session;
  session.settings = {{"seed", "1"},
                      {"seeds_must_pass", "true"},
                      {"topology", "2 islands 0>1 1>0"},
                      {"axes", "\"x\" linear 0 100 10; \"y\" categorical \"a\" \"b\""},
                      {"island.rejections", "32"},
                      {"island.recent_failures", "16"},
                      {"migration_period", "0.100000"},
                      {"repairs", "0"},
                      {"duels", "2"},
                      {"confirm", "false"},
                      {"idle_iterations", "256"},
                      {"deterministic", "false"}};
  // Lines "NAME TEXT" replace settings.
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t blank = std::min(line.find(' '), line.size());
    session.settings.insert_or_assign(std::string(line.substr(0, blank)),
                                      std::string(line.substr(std::min(blank + 1, line.size()))));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  const auto events = testing::no_events();
  events->emplace_back(std::move(session));
  const auto state = replay_as_recorded(testing::MemoryJournal(events));
  if (!state) return 0;
  require(state->archipelago().size() >= 1 && state->archipelago().grid().cells() >= 1);
  require(!state->best() && !state->to_text().empty());
  return 0;
}
