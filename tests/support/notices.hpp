// What an engine or a session tells, kept.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/core/observer.hpp>

namespace kernelsmith {

struct Notices final : Observer {
  void on_event(const Event&) override {}
  void on_notice(const Notice& notice) override { messages.push_back(notice.message); }

  /// All of them, a line each.
  std::string text() const {
    std::string all;
    for (const std::string& message : messages) all += message + "\n";
    return all;
  }

  std::vector<std::string> messages;
};

}  // namespace kernelsmith
