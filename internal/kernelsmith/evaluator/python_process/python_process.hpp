// PythonProcess: one of our Python programs, asked for one thing after another. Requests and replies are
// messages of JSON and a blob (docs/torch-plan.md).
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/process.hpp>

namespace kernelsmith::python_process {

/// What goes to the program and comes back: a JSON text, and bytes beside it.
struct Message {
  std::string json;
  std::string blob;
};

/// What became of a request.
struct Answer {
  enum class Kind {
    reply,    ///< `message`
    ended,    ///< the program ended before it had answered: `words` say how, with what it printed last
    late,     ///< it did not answer in time, and was killed
    garbage,  ///< it wrote what is no reply, and was killed: `words`
    stopped,  ///< on a stop request it was killed
  };
  Kind kind = Kind::reply;
  Message message;
  std::string words;
};

/// Killed with all that it started by the destructor. Movable; not thread-safe.
class PythonProcess {
 public:
  /// Starts the program; its standard input and output are the channel. Its first request may have to wait
  /// until it has imported what it needs. Errors: those of SandboxedProcess::start().
  static Result<PythonProcess> start(SandboxSpec spec);

  /// Whenever it is killed from now on, its channel is closed first, and it has so long to end by itself what
  /// it has started.
  void grant_grace(double grace_s) { grace_s_ = grace_s; }

  /// Sends a request and waits for its reply. After anything but a reply the process is dead.
  Answer ask(const Message& request, double timeout_s, const std::stop_token& stop);

  /// Ends it, if what it said cannot be understood, or nothing more is to be asked.
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

/// Whether a JSON text nests deeper than anything honest: parsers and their values recurse.
bool nests_too_deep(std::string_view json);

}  // namespace kernelsmith::python_process
