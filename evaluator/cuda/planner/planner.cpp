#include "planner/planner.hpp"

#include <chrono>
#include <csignal>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <sys/socket.h>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/sandbox/process.hpp>

#include "planner/earlier_calls.hpp"
#include "planner/judge_channel.hpp"
#include "planner/protocol.hpp"
#include "planner/refusals.hpp"

namespace kernelsmith::cuda {
namespace {

using planner::EarlierCalls;
using planner::JudgeChannel;
using planner::Kind;
using planner::PlannerMessage;

constexpr const char* kProgramInside = "/kernelsmith-planner";
constexpr const char* kLibraryInside = "/candidate.so";
// The time limit for the program's start, and again for loading the library, whose relocation takes
// milliseconds.
constexpr double kStartTimeoutS = 10;
constexpr auto kGrace = std::chrono::seconds(2);  // for a process to end after its channel broke
constexpr double kCpuS = 600;  // limit of a planner's life: 10^5 calls of some milliseconds
constexpr std::uint64_t kMemoryBytes = 2ULL << 30;  // enough, because host code fills no tensors
constexpr std::size_t kMostLeftOut = 16;            // the runtime sends two sentences, but they may be forged
constexpr std::uint64_t kFileBytes = 1ULL << 20;    // honest host code writes no files

SandboxSpec spec_for(const PlannerSettings& settings, const std::filesystem::path& library, int control) {
  SandboxSpec spec;
  spec.argv = {kProgramInside, kLibraryInside};
  if (settings.unsandboxed) spec.argv = {settings.program.string(), library.string()};
  spec.environment = {{"LC_ALL", "C"}};
  if (!settings.unsandboxed) {
    add_toolchain(spec);
    spec.read_only.push_back({settings.program, kProgramInside});
    spec.read_only.push_back({library, kLibraryInside});
  }
  spec.limits.wall_s = 3600;  // the judge's own deadlines are shorter
  spec.limits.cpu_s = kCpuS;
  spec.limits.memory_bytes = kMemoryBytes;
  spec.limits.processes = 8;
  spec.limits.open_files = 64;
  spec.limits.output_bytes = 1ULL << 20;
  spec.limits.kept_output_bytes = 4096;
  spec.limits.file_bytes = kFileBytes;
  spec.limits.tmp_bytes = kFileBytes;
  spec.limits.shm_bytes = kFileBytes;
  spec.descriptors = {{control, planner::kControlDescriptor}};
  spec.profile = SandboxProfile::runner;
  spec.confinement = settings.unsandboxed ? Confinement::unsandboxed : Confinement::sandboxed;
  return spec;
}

Failure plan_failed(const std::string& words) {
  return reject(Stage::plan, RejectionCode::plan_failed, escape_controls(words));
}

Failure forged(const std::string& what) {
  return reject(Stage::integrity, RejectionCode::protocol_forged,
                "the planner's channel carried " + what + ": only the planner may write to it");
}

/// The tails of the program's output.
std::string printed(const SandboxResult& result) {
  std::string text;
  if (!result.err.empty()) text += "\nstderr: " + escape_controls(result.err);
  if (!result.out.empty()) text += "\nstdout: " + escape_controls(result.out);
  return text;
}

/// Decides whose fault it is that the program ended without a reply, and words the rejection.
Failure failure_of(const SandboxResult& result, bool loading, const RuntimeNames& names) {
  const std::string said = printed(result);
  const std::string when = std::string(" while the host code ") + (loading ? "was loaded" : "planned a call");
  switch (result.kind) {
    case ExitKind::memory_limit:
      return reject(Stage::plan, RejectionCode::out_of_memory, "the memory limit was exceeded" + when + said);
    case ExitKind::output_limit:
      return reject(Stage::plan, RejectionCode::sandbox_violation, "more than 1 MB was printed" + when);
    case ExitKind::wall_limit:
      return reject(Stage::plan, RejectionCode::timed_out, describe(result) + when + said);
    case ExitKind::signalled:
      if (result.code == SIGSYS)
        return reject(Stage::plan, RejectionCode::sandbox_violation,
                      "a forbidden system call was made" + when +
                          " (starting a thread or a process, or a timer, for instance)" + said);
      if (result.code == SIGXCPU)
        return reject(Stage::plan, RejectionCode::timed_out,
                      "the limit of CPU time was exceeded" + when + said);
      return reject(Stage::plan, RejectionCode::crashed,
                    describe(result) + when +
                        (result.code == SIGSEGV ? " (does it read a tensor on the host?)" : "") + said);
    case ExitKind::exited:
    case ExitKind::killed:
      break;
  }
  constexpr int kLoaderGaveUp = 127;
  if (result.kind == ExitKind::exited && result.code == kLoaderGaveUp)
    if (const std::string lookup = planner::lookup_refusal(result.err, names); !lookup.empty())
      return plan_failed(lookup);
  return reject(Stage::plan, RejectionCode::exited,
                "the process ended by itself (" + describe(result) + ")" + when + said);
}

/// Nothing is the candidate's fault before it is loaded, so a rejection would mislead.
Error not_started(const Failure& failure, const PlannerSettings& settings) {
  return error_of(failure, ErrorCode::tool_failed,
                  "the program " + settings.program.filename().string() + " does not start: ",
                  settings.program, "install kernelsmith again");
}

std::string words_of(const Error& error) {
  std::string words = error.where.empty() ? error.message : error.where + ": " + error.message;
  if (!error.hint.empty()) words += ". " + error.hint;
  return words;
}

}  // namespace

std::string in_words_of(const RuntimeNames& names, std::string_view text) {
  constexpr std::string_view kUsual = "cuda";
  std::string words(text);
  if (names.prefix.empty() || names.prefix == kUsual) return words;
  for (auto at = words.find(kUsual); at != words.npos; at = words.find(kUsual, at + 1)) {
    const std::size_t next = at + kUsual.size();
    const bool is_name = next < words.size() && words[next] >= 'A' && words[next] <= 'Z';
    if (is_name) words.replace(at, kUsual.size(), names.prefix);
  }
  return words;
}

struct Planner::State {
  State(SandboxedProcess started, JudgeChannel ours)
      : process(std::move(started)), channel(std::move(ours)) {}

  SandboxedProcess process;
  JudgeChannel channel;
  std::vector<plan::Kernel> kernels;
  plan::Workspace workspace;
  bool loading = true;
  RuntimeNames names;
  std::string refusing;  ///< why the next reply will be a refusal, if already known
  std::set<std::string> left_out;
  EarlierCalls earlier;
  std::optional<Failure> ended;  ///< why no further calls can be planned

  /// Receives the next message: the body of `wanted`, or a refusal.
  Judged<std::vector<std::byte>> await(Kind wanted, double timeout_s);
  bool take_note(PlannerMessage& message);
  PlannerMessage listen(double timeout_s);
  Failure end(Failure failure) { return ended.emplace(std::move(failure)); }
  Failure refused_before(Failure end) const;
  Failure past_deadline(double timeout_s);
  Failure why_it_ended();
};

/// Returns true if the message is a note, which precedes a reply.
bool Planner::State::take_note(PlannerMessage& message) {
  if (message.kind != PlannerMessage::Kind::message || message.body.size() > planner::kMaxText) return false;
  std::istringstream text({reinterpret_cast<const char*>(message.body.data()), message.body.size()});
  if (message.said == Kind::refusing && refusing.empty()) {
    refusing = text.str();
    return !refusing.empty();
  }
  if (message.said != Kind::left_out) return false;
  for (std::string line; std::getline(text, line) && left_out.size() < kMostLeftOut;)
    left_out.insert(escape_controls(line));
  return true;
}

/// The next message that is not a note. A planner sends each kind of note once.
PlannerMessage Planner::State::listen(double timeout_s) {
  constexpr int kMostNotes = 2;
  const auto start = std::chrono::steady_clock::now();
  refusing.clear();
  for (int notes = 0;; ++notes) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    PlannerMessage message = channel.listen(timeout_s - passed.count(), process.exit_descriptor());
    if (notes == kMostNotes || !take_note(message)) return message;
  }
}

Judged<std::vector<std::byte>> Planner::State::await(Kind wanted, double timeout_s) {
  PlannerMessage message = listen(timeout_s);
  switch (message.kind) {
    case PlannerMessage::Kind::message:
      break;
    case PlannerMessage::Kind::forged:
      process.kill();
      return end(forged(message.what));
    case PlannerMessage::Kind::nothing:
      return end(refused_before(past_deadline(timeout_s)));
    case PlannerMessage::Kind::ended:
      return end(refused_before(why_it_ended()));
  }
  if (message.said == wanted) return std::move(message.body);
  if (message.said != Kind::refused || wanted == Kind::ready || message.body.size() > planner::kMaxText) {
    process.kill();
    return end(forged("an answer of a wrong kind"));
  }
  return plan_failed({reinterpret_cast<const char*>(message.body.data()), message.body.size()});
}

/// An earlier refusal explains why the host code ended: it exits, or uses what it did not get. But a
/// violation counts even after a refusal.
Failure Planner::State::refused_before(Failure end) const {
  const auto* const rejection = std::get_if<Rejection>(&end);
  if (refusing.empty() || rejection == nullptr || rejection->stage != Stage::plan ||
      rejection->code == RejectionCode::sandbox_violation)
    return end;
  return reject(Stage::plan, RejectionCode::plan_failed,
                escape_controls(refusing) + "\nafter this: " + rejection->diagnostics);
}

Failure Planner::State::past_deadline(double timeout_s) {
  process.kill();
  const auto result = process.wait();
  std::ostringstream words;
  words << (loading ? "loading the host code" : "the host code") << " took longer than " << timeout_s << " s";
  if (result) words << printed(*result);
  return reject(Stage::plan, RejectionCode::timed_out, words.str());
}

Failure Planner::State::why_it_ended() {
  const auto ended_by = process.wait_for(kGrace);
  if (!ended_by) {
    process.kill();
    static_cast<void>(process.wait());
    return forged("an end of file while the planner was still running");
  }
  if (!*ended_by) return ended_by->error();
  return failure_of(**ended_by, loading, names);
}

Planner::Planner(std::unique_ptr<State> state) : state_(std::move(state)) {}
Planner::~Planner() = default;

Judged<std::unique_ptr<Planner>> Planner::start(const PlannerSettings& settings,
                                                const std::filesystem::path& host_library,
                                                std::span<const plan::Kernel> kernels,
                                                std::span<const std::string> symbols, std::stop_token stop) {
  auto ends = JudgeChannel::create();
  if (!ends) return Failure(ends.error());
  auto process = [&, theirs = std::move(ends->second)] {
    return SandboxedProcess::start(spec_for(settings, host_library, theirs.get()));
  }();
  if (!process) return Failure(process.error());
  auto state = std::make_unique<State>(std::move(*process), std::move(ends->first));
  state->kernels.assign(kernels.begin(), kernels.end());
  state->workspace = settings.workspace;
  state->names = settings.names;
  const std::stop_callback kill_on_stop(stop, [&] { state->process.kill(); });
  const auto cancelled = [&](Failure failure) {
    return stop.stop_requested() ? Failure(fail(ErrorCode::cancelled, "planning was cancelled"))
                                 : std::move(failure);
  };

  const planner::StartMessage message{
      settings.device, settings.workspace, state->kernels, {symbols.begin(), symbols.end()}};
  state->channel.send(Kind::start, plan::encoded(message));  // a failure shows as a missing answer
  if (const auto ready = state->await(Kind::ready, kStartTimeoutS); !ready)
    return cancelled(not_started(ready.error(), settings));
  if (auto loaded = state->await(Kind::loaded, kStartTimeoutS); !loaded) return cancelled(loaded.error());
  state->loading = false;
  return std::unique_ptr<Planner>(new Planner(std::move(state)));
}

Judged<plan::Call> Planner::plan(std::span<const plan::Buffer> buffers, std::span<const std::int64_t> sizes,
                                 double timeout_s) {
  State& state = *state_;
  if (state.ended) return *state.ended;
  if (state.channel.has_more()) return state.end(forged("more than one reply"));
  const planner::CallRequest request{{buffers.begin(), buffers.end()}, {sizes.begin(), sizes.end()}};
  if (!state.channel.request(plan::encoded(request))) return state.end(state.why_it_ended());
  auto body = state.await(Kind::call, timeout_s);
  if (!body) return body.error();
  auto call = plan::decode_call(*body);
  if (!call) {
    state.process.kill();
    return state.end(
        forged("something that is not a call (" + escape_controls(words_of(call.error())) + ")"));
  }
  constexpr std::size_t kImages = 1;
  if (auto status = plan::check(*call, state.kernels, kImages, buffers, state.workspace); !status) {
    const std::string kept = state.earlier.kept_by(*call, buffers);
    return plan_failed(kept.empty() ? in_words_of(state.names, words_of(status.error())) : kept);
  }
  state.earlier.add(buffers);
  return std::move(*call);
}

const std::set<std::string>& Planner::left_out() const { return state_->left_out; }

}  // namespace kernelsmith::cuda
