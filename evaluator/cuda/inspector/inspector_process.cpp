#include "inspector/inspector_process.hpp"

#include <array>
#include <utility>

namespace kernelsmith::cuda {

Result<InspectorProcess> InspectorProcess::start(const Tool& tool, const InspectorSettings& settings,
                                                 Deadline deadline, const std::stop_token& stop) {
  auto ends = Channel::create();
  if (!ends) return ends.error();
  std::vector<std::string> arguments = tool.arguments;
  arguments.push_back(settings.program.string());
  arguments.push_back(std::to_string(settings.device));
  auto process = ChildProcess::start(tool.program, std::move(arguments), ends->second.descriptor());
  if (!process) return process.error();
  ends->second.close();
  InspectorProcess started(std::move(*process), std::move(ends->first), deadline, stop);
  if (auto greeted = started.receive_from_machine(); !greeted) return greeted.error();
  return started;
}

Judged<Message> InspectorProcess::receive() {
  auto message = channel_.receive(deadline_, signal_->descriptor());
  if (!message && message.error().code != ErrorCode::io) return Failure(message.error());
  if (!message)
    return Failure(fail(ErrorCode::tool_failed, "the tool ended the program that it was inspecting"));
  if (message->kind == MessageKind::done) return std::move(*message);
  return refusal_of(*message).failure;
}

Result<Message> InspectorProcess::receive_from_machine() {
  auto message = receive();
  if (message) return std::move(*message);
  return error_of(message.error(), ErrorCode::internal);
}

Result<InspectorAddresses> InspectorProcess::map(const InspectorMemory& memory, int values) {
  const std::array<int, 1> descriptors{values};
  if (auto sent = channel_.send(MessageKind::map, plan::encoded(memory), descriptors); !sent)
    return sent.error();
  const auto answer = receive_from_machine();
  if (!answer) return answer.error();
  const auto mapped = plan::decoded<Numbers>(answer->payload);
  constexpr std::size_t kWorkspaces = 2;
  if (!mapped || mapped->size() != kWorkspaces + memory.tensors.size())
    return fail(ErrorCode::internal, "the inspector mapped too few tensors");
  return InspectorAddresses{(*mapped)[0], (*mapped)[1], {mapped->begin() + kWorkspaces, mapped->end()}};
}

Judged<void> InspectorProcess::replay(const plan::Plan& plan) {
  if (auto sent = channel_.send(MessageKind::replay, plan::encode(plan)); !sent) return Failure(sent.error());
  const auto answer = receive();
  if (!answer) return answer.error();
  return {};
}

Result<std::string> InspectorProcess::finish() {
  constexpr auto kLook = std::chrono::milliseconds(50);
  static_cast<void>(channel_.send(MessageKind::forget, {}));  // the inspector may have ended after a failure
  while (!stop_.stop_requested() && Channel::Clock::now() < deadline_)
    if (auto how = process_.reap(kLook)) return *how;
  if (stop_.stop_requested()) return fail(ErrorCode::cancelled, "stopped on request");
  return fail(ErrorCode::timeout, "the tool did not end in time");
}

}  // namespace kernelsmith::cuda
