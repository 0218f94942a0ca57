// kernelsmith ui RUN|SERVICE-URL
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/service/ui.hpp>
#include <kernelsmith/session/registry.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "say.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kToken = "KERNELSMITH_SERVICE_TOKEN";

struct UiCommand {
  std::string target;
  std::uint16_t port = 0;
  bool no_browser = false;

  int operator()() const;
};

bool is_address(const std::string& target) {
  return target.starts_with("http://") || target.starts_with("https://");
}

Result<std::unique_ptr<ui::Page>> open_page(const UiCommand& options) {
  if (!is_address(options.target)) return ui::Page::of_run(options.target, default_registry(), options.port);
  const char* token = std::getenv(kToken);
  return ui::Page::of_service({options.target, Secret(token ? token : "")}, options.port);
}

bool has_screen() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* value = std::getenv(name); value && *value) return true;
  return false;
}

/// This process's environment without the token, which other programs must not get. Its pointers point into
/// the environment.
std::vector<char*> environment_of_browser() {
  const std::string token = std::string(kToken) + "=";
  std::vector<char*> kept;
  for (char** entry = environ; *entry; ++entry)
    if (!std::string_view(*entry).starts_with(token)) kept.push_back(*entry);
  kept.push_back(nullptr);
  return kept;
}

/// Asks the desktop to open the URL. Ignores failures, because the user sees the address. The browser has its
/// own session, signals and output, so that it does not depend on this command.
void open_browser(const std::string& url) {
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t apart;
  posix_spawnattr_init(&apart);
  sigset_t none, usual;
  sigemptyset(&none);
  sigfillset(&usual);
  posix_spawnattr_setsigmask(&apart, &none);
  posix_spawnattr_setsigdefault(&apart, &usual);
  posix_spawnattr_setflags(&apart, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  std::string program = "xdg-open", address = url;
  std::array<char*, 3> words{program.data(), address.data(), nullptr};
  std::vector<char*> environment = environment_of_browser();
  pid_t ignored = 0;  // the process is not waited for: init adopts it when this command ends
  posix_spawnp(&ignored, program.c_str(), &quiet, &apart, words.data(), environment.data());
  posix_spawnattr_destroy(&apart);
  posix_spawn_file_actions_destroy(&quiet);
}

int UiCommand::operator()() const {
  const Interrupt interrupt("the page ends; the run or service continues");
  say(stderr, "reading {}\n", target);  // a long run takes seconds
  const auto page = open_page(*this);
  if (!page) return report(stderr, page.error());
  say("{} is shown at {}\nCtrl-C ends the page; the page changes nothing.\n", target, (*page)->url());
  std::fflush(stdout);
  if (!no_browser && has_screen()) open_browser((*page)->url());
  wait_for_stop(interrupt.token());
  return kDone;
}

}  // namespace

void add_ui(CLI::App& app, Command& chosen) {
  const auto [ui, command] = add_command<UiCommand>(
      app, chosen, "ui", "Show a run or an evaluation service live in the browser",
      "The page only reads, and only this machine can open it. The token of a service comes "
      "from\n"
      "KERNELSMITH_SERVICE_TOKEN.");
  command
      .add_option("RUN|SERVICE-URL", ui.target,
                  "The run folder, which another process may be writing, or http://HOST:PORT of a service")
      ->required();
  command.add_option("--port", ui.port, "The port on 127.0.0.1; 0 chooses a free one")->capture_default_str();
  command.add_flag("--no-browser", ui.no_browser, "Only print the address");
}

}  // namespace kernelsmith::cli
