#include "trusted_process.hpp"

#include <sstream>
#include <utility>

namespace kernelsmith::torch {
namespace {

std::string name_of(Role role) { return role == Role::judge ? "judge" : "runner"; }

std::string seconds(double s) {
  std::ostringstream text;
  text << s << " s";
  return text.str();
}

/// Whether the candidate's effect persists: a lost context, a kernel that still runs, changed parameters.
bool damaged(const Failure& failure) {
  const auto* const rejection = std::get_if<Rejection>(&failure);
  return rejection &&
         (rejection->code == RejectionCode::crashed || rejection->code == RejectionCode::timed_out ||
          rejection->code == RejectionCode::input_modified);
}

}  // namespace

Error machine_error(const Failure& failure) { return error_of(failure, ErrorCode::tool_failed); }

Result<std::unique_ptr<TrustedProcess>> TrustedProcess::start(const WorkerStart& start, Role role,
                                                              const std::stop_token& stop) {
  auto process = start(role, stop);
  if (!process) return process.error();
  return std::unique_ptr<TrustedProcess>(new TrustedProcess(role, std::move(*process)));
}

Judged<Reply> TrustedProcess::ask(const Json& request, std::string blob, double timeout_s,
                                  const std::stop_token& stop) {
  Answer answer = process_.ask({request.dump(), std::move(blob)}, timeout_s, stop);
  if (answer.kind != Answer::Kind::reply) return no_answer(answer, text_at(request, "do"), timeout_s);
  auto reply = read_reply(std::move(answer.message));
  if (!reply && (is_no_reply(reply.error()) || damaged(reply.error()))) process_.kill();
  return reply;
}

Failure TrustedProcess::no_answer(const Answer& answer, const std::string& what, double timeout_s) const {
  const std::string who = "the " + name_of(role_) + " of the torch backend";
  switch (answer.kind) {
    case Answer::Kind::stopped:
      return fail(ErrorCode::cancelled, "the evaluation was stopped");
    case Answer::Kind::garbage:
      return fail(ErrorCode::tool_failed, who + " wrote " + answer.words + " when asked to " + what);
    case Answer::Kind::late:
      if (role_ == Role::runner)
        return reject(Stage::run, RejectionCode::timed_out,
                      "no answer within " + seconds(timeout_s) + " when asked to " + what);
      return fail(ErrorCode::timeout,
                  who + " did not answer within " + seconds(timeout_s) + " when asked to " + what);
    default:
      break;
  }
  if (role_ == Role::runner)
    return reject(Stage::run, RejectionCode::crashed,
                  "the process on the GPU ended when asked to " + what + ": " + answer.words);
  return fail(ErrorCode::tool_failed, who + " ended when asked to " + what + ": " + answer.words);
}

}  // namespace kernelsmith::torch
