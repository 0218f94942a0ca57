#include "progress.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <kernelsmith/engine/search_state.hpp>

#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(250);
constexpr const char* kEraseLine = "\r\x1b[K";

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Counts such as "9 accepted, 3 rejected, 1 refused". Omits zero counts, except that of accepted candidates.
std::string verdicts_text(const Counts& counts) {
  std::string text = fmt::format("{} accepted", counts.accepted);
  if (counts.rejected > 0) text += fmt::format(", {} rejected", counts.rejected);
  if (counts.refused > 0) text += fmt::format(", {} refused", counts.refused);
  return text;
}

std::string of_limit(std::uint64_t used, const std::optional<std::uint64_t>& limit) {
  return limit ? fmt::format("{}/{}", used, *limit) : fmt::format("{}", used);
}

/// The time until the first budget ends. Extrapolates the pace so far unless that budget is wall time.
std::string time_left(const Budgets& budgets, double progress, double elapsed_s, double session_s) {
  if (budgets.wall_s && elapsed_s / *budgets.wall_s >= progress)
    return clock_text(*budgets.wall_s - elapsed_s) + " left";
  if (progress <= 0 || session_s < 1) return "";
  return "about " + clock_text(elapsed_s * (1 - progress) / progress) + " left";
}

}  // namespace

Progress::Progress() : live_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { finish(); }

void Progress::start(const Engine& engine) {
  engine_ = &engine;
  started_ = std::chrono::steady_clock::now();
  Snapshot now = look();
  const MutexLock lock(mutex_);
  shown_ = std::move(now);
  evaluations_before_ = shown_.counts.evaluations;
  elapsed_before_ = shown_.elapsed_s;
  tenths_ = static_cast<int>(shown_.progress * 10);
  if (live_)
    ticker_.emplace(kRedraw, [this](const std::stop_token&) {
      const MutexLock again(mutex_);
      draw();
    });
}

void Progress::finish() {
  ticker_.reset();
  const MutexLock lock(mutex_);
  erase();
}

Progress::Snapshot Progress::look() const {
  Snapshot now;
  engine_->inspect([&](const SearchState& state) {
    const ArchiveStatistics statistics = state.archipelago().statistics();
    now.counts = state.counts();
    now.budgets = state.budgets();
    if (const IndividualPtr best = state.best()) {
      const Evaluation* confirmation = state.confirmation_of_best();
      now.best = score_text(confirmation ? *confirmation : best->evaluation);
    }
    now.cells = statistics.cells;
    now.filled = statistics.filled;
    if (const Spending spending = state.spending(); !spending.empty())
      now.money = money_text(spending, now.budgets.usd);
    now.elapsed_s = state.elapsed_s() - state.confirming_s();
    now.progress = state.progress();
  });
  return now;
}

double Progress::session_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

std::string Progress::line_of(const Snapshot& now, std::size_t columns) const {
  if (!last_look_.empty())
    return fmt::format("iteration {}  best {}, {}", of_limit(now.counts.iterations, now.budgets.iterations),
                       now.best, last_look_);
  const double session = session_s();
  const double rate =
      static_cast<double>(now.counts.evaluations - evaluations_before_) / std::max(session, 1e-3);
  std::string line = "iteration " + of_limit(now.counts.iterations, now.budgets.iterations);
  const std::string left = time_left(now.budgets, now.progress, elapsed_before_ + session, session);
  if (!left.empty()) line += ", " + left;
  line += "  best " + now.best;
  // The most important parts come first, because what does not fit is left out.
  for (const std::string& part :
       {verdicts_text(now.counts), now.money, fmt::format("{:.1f} evaluations/s", rate),
        fmt::format("{}/{} cells", now.filled, now.cells)}) {
    if (line.size() + 2 + part.size() > columns) break;
    if (!part.empty()) line += "  " + part;
  }
  return line;
}

void Progress::draw() {
  const std::size_t columns = terminal_columns() - 1;
  std::fputs(kEraseLine, stderr);
  put(stderr, line_of(shown_, columns).substr(0, columns));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::erase() {
  if (drawn_) std::fputs(kEraseLine, stderr);
  drawn_ = false;
}

void Progress::on_commit(const Commit& commit) {
  Snapshot now = look();
  const MutexLock lock(mutex_);
  shown_ = std::move(now);
  if (commit.demoted) {
    erase();
    say(stderr, "warning: {}\n", demotion_text(*commit.individual));
  }
  if (live_) return;
  const int tenths = static_cast<int>(shown_.progress * 10);
  if (!commit.new_best && tenths == tenths_) return;
  tenths_ = tenths;
  log_line();
}

/// Without a terminal a line is printed from time to time, after the time of the search.
void Progress::log_line() {
  constexpr std::size_t kClock = 10;
  say(stderr, "{:>8}  {}\n", clock_text(elapsed_before_ + session_s()), line_of(shown_, kColumns - kClock));
}

void Progress::on_event(const Event& event) {
  const auto* opened = std::get_if<TicketOpened>(&event);
  if (!opened || opened->within) return;
  const MutexLock lock(mutex_);
  last_look_.clear();
  if (opened->remeasurement != Remeasurement::confirm) return;
  last_look_ = opened->incumbent ? fmt::format("and program {} is measured beside it", opened->parent->value)
                                 : "which is measured once more";
  if (live_) {
    draw();
  } else {
    log_line();
  }
}

void Progress::on_notice(const Notice& notice) {
  const MutexLock lock(mutex_);
  erase();
  say(stderr, "{}{}\n", notice.level == Notice::Level::warning ? "warning: " : "", notice.message);
}

}  // namespace kernelsmith::cli
