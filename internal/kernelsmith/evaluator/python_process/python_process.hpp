// PythonProcess: one of our Python programs, which answers one request after another. Requests and replies
// are messages of JSON and a blob (docs/torch-plan.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/process.hpp>

namespace kernelsmith::python_process {

/// A message to or from the program: a JSON text and a blob of bytes.
struct Message {
  std::string json;
  std::string blob;
};

/// The outcome of a request.
struct Answer {
  enum class Kind {
    reply,    ///< `message`
    ended,    ///< the program ended without an answer; `words` say how, with its last output
    late,     ///< it did not answer in time, and was killed
    garbage,  ///< its reply was invalid, and it was killed; `words` say more
    stopped,  ///< it was killed on a stop request
  };
  Kind kind = Kind::reply;
  Message message;
  std::string words;
};

/// The destructor kills the program and everything that it started. Movable; not thread-safe.
class PythonProcess {
 public:
  /// Starts the program; its standard input and output are the channel. The first request may have to wait
  /// for its imports. Errors: those of SandboxedProcess::start().
  static Result<PythonProcess> start(SandboxSpec spec);

  /// The number of the channel when the program is started. A forker moves it to standard input and output.
  static constexpr int kChannel = 3;

  /// From now on the channel is closed before the program is killed, and the program has this long to end its
  /// own processes.
  void grant_grace(double grace_s) { grace_s_ = grace_s; }

  /// Sends a request, with copies of at most kMostPassed descriptors, and waits for its reply. If the outcome
  /// is anything but a reply, the process is dead.
  Answer ask(const Message& request, double timeout_s, const std::stop_token& stop,
             std::span<const int> passed = {});
  static constexpr std::size_t kMostPassed = 2;

  /// Ends the program. Call it after an invalid reply, or when no more requests follow.
  void kill();

  bool alive() const { return process_ && process_->alive(); }

 private:
  PythonProcess(SandboxedProcess process, Descriptor channel)
      : process_(std::move(process)), channel_(std::move(channel)) {}
  Answer dead(Answer::Kind kind, std::string words = {});
  std::string how_it_ended();

  std::optional<SandboxedProcess> process_;
  Descriptor channel_;
  double grace_s_ = 0;
};

/// Whether a JSON text nests deeper than any honest text. Such a text is refused, because parsers and their
/// values recurse.
bool nests_too_deep(std::string_view json);

}  // namespace kernelsmith::python_process
