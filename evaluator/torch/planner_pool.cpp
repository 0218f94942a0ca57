#include "planner_pool.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <kernelsmith/evaluator/stopwatch.hpp>

#include "plan_figures.hpp"
#include "python_program.hpp"

namespace kernelsmith::torch {
namespace {

/// A dead planner is replaced once: only a candidate that kills two of them is to blame.
constexpr int kAttempts = 2;

Error cancelled() { return fail(ErrorCode::cancelled, "planning was cancelled"); }

Error no_planner(const std::string& why) {
  return fail(ErrorCode::tool_missing, "the planner does not start: " + why, "kernelsmith_torch.planner",
              kNeedsTorch);
}

std::string words_of(const Answer& answer, double timeout_s) {
  switch (answer.kind) {
    case Answer::Kind::late:
      return "no answer within " + std::to_string(static_cast<int>(timeout_s)) + " s";
    case Answer::Kind::garbage:
      return "it wrote " + answer.words;
    default:
      return answer.words;
  }
}

/// A process that runs candidates must not claim a stage after planning.
Failure of_planner(const Failure& failure) {
  if (const auto* const rejection = std::get_if<Rejection>(&failure)) {
    Rejection told = *rejection;
    told.stage = std::min(told.stage, Stage::plan);
    return told;
  }
  return failure;
}

Json chosen_workloads(const PlanRequest& request) {
  Json chosen = Json::array();
  for (const std::size_t workload : request.chosen) chosen.push_back(json_of(request.workloads[workload]));
  return chosen;
}

Message message_of(const PlanRequest& request, const PlannerLimits& limits) {
  Json json = {{"do", "plan"},
               {"reference", request.reference},
               {"candidate", nullptr},
               {"name", "reference.py"},
               {"arch", request.other_arch.empty() ? Json(request.arch) : Json(request.other_arch)},
               {"cast", request.cast},
               {"builds", request.builds},
               {"workloads", chosen_workloads(request)},
               {"timeout_s", limits.plan_s},
               {"most_bytes", limits.most_plan_bytes}};
  for (const SourceFile& file : request.files) json["files"][file.path] = file.text;
  if (request.candidate) {
    json["candidate"] = request.candidate->text;
    json["name"] = request.candidate->path;
  }
  return {json.dump(), request.blob};
}

/// Adds the plan of one more workload to the figures.
void add_figures(const std::map<std::string, double>& more, std::map<std::string, double>& figures) {
  for (const auto& [name, value] : more) {
    const auto [at, is_new] = figures.emplace(name, value);
    if (!is_new) at->second = name == "launches" ? std::min(at->second, value) : std::max(at->second, value);
  }
}

Judged<Planned> planned_of(const PlanRequest& request, const Reply& reply, double asked_ms,
                           const PlannerLimits& limits) {
  if (const Json& wanted = member(reply.json, "build"); wanted.is_object()) {
    Planned unbuilt;
    unbuilt.wanted = wanted;
    unbuilt.asked_ms = asked_ms;
    return unbuilt;
  }
  const auto forged = [&] {
    return reject(Stage::integrity, RejectionCode::protocol_forged,
                  "the planner's answer holds plans of " + std::to_string(reply.blob.size()) +
                      " bytes, which do not fit what it says of them");
  };
  const Json& plans = member(reply.json, "plans");
  if (reply.blob.size() > limits.most_plan_bytes || !plans.is_array() ||
      plans.size() != request.chosen.size())
    return forged();
  Planned planned;
  planned.asked_ms = asked_ms;
  std::vector<std::string> parts(request.workloads.size());
  planned.heavy.resize(request.workloads.size());
  std::string text;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const std::size_t size = count_at(plans[i], "bytes"), workload = request.chosen[i];
    if (size == 0 || size > reply.blob.size() - begin) return forged();
    parts[workload] = reply.blob.substr(begin, size);
    begin += size;
    add_figures(figures_of(member(plans[i], "summary"), parts[workload]), planned.figures);
    planned.heavy[workload] = heavy_operators(member(plans[i], "summary"));
    if (const std::string next = text_at(plans[i], "text"); next != text) {
      if (i > 0) planned.text += "at workload " + request.workloads[workload].name + ":\n";
      planned.text += text = next;
    }
  }
  if (begin != reply.blob.size()) return forged();
  planned.plan = std::make_shared<const Plan>(std::move(parts), request.candidate.value_or(SourceFile{}));
  return planned;
}

}  // namespace

Plan::Plan(std::vector<std::string> parts, SourceFile source)
    : parts_(std::move(parts)), source_(std::move(source)) {
  DigestBuilder digest;
  for (const std::string& part : parts_) digest.add(part);
  // Stored runs have the digests of plans for one workload in this form.
  digest_ = parts_.size() == 1 ? digest_of(parts_.front()) : digest.finish();
}

std::size_t planners_for_this_machine() {
  return std::clamp(std::thread::hardware_concurrency(), 4U, 18U) - 2;
}

std::string PlannerFacts::words() const {
  return "PyTorch " + torch + ", Triton " + triton + ", Python " + python;
}

Result<PlannerFacts> PlannerPool::facts(const std::stop_token& stop) {
  auto planner = take(stop);
  if (!planner) return planner.error();
  give_back(std::move(*planner));
  const MutexLock lock(mutex_);
  return *facts_;
}

Result<PlannerPool::Planner> PlannerPool::take(const std::stop_token& stop) {
  {
    MutexLock lock(mutex_);
    if (!changed_.wait(lock, stop, [this]() KERNELSMITH_REQUIRES(mutex_) {
          return !idle_.empty() || alive_ < limits_.most;
        }))
      return cancelled();
    if (!idle_.empty()) {
      Planner planner = std::move(idle_.back());
      idle_.pop_back();
      return planner;
    }
    ++alive_;
  }
  auto planner = start_one(stop);
  if (!planner) give_back(std::nullopt);
  return planner;
}

Result<PlannerPool::Planner> PlannerPool::start_one(const std::stop_token& stop) {
  auto process = start_();
  if (!process) return process.error();
  Answer answer = process->ask({R"({"do":"hello"})", {}}, limits_.start_s, stop);
  if (answer.kind == Answer::Kind::stopped) return cancelled();
  if (answer.kind != Answer::Kind::reply) return no_planner(words_of(answer, limits_.start_s));
  const auto hello = read_reply(std::move(answer.message));
  if (!hello) {
    const Failure failure = hello.error();
    const auto* const error = std::get_if<Error>(&failure);
    return no_planner(error ? error->message : std::get<Rejection>(failure).diagnostics);
  }
  const Json& json = hello->json;
  const MutexLock lock(mutex_);
  facts_ = PlannerFacts{text_at(json, "python"), text_at(json, "torch"), text_at(json, "triton"),
                        member(json, "cuda_build") == true};
  return Planner{std::move(*process)};
}

void PlannerPool::give_back(std::optional<Planner> planner) {
  const MutexLock lock(mutex_);
  if (planner && planner->process.alive() && planner->served < limits_.lifetime)
    idle_.push_back(std::move(*planner));
  else
    --alive_;
  changed_.notify_one();
}

Judged<Planned> PlannerPool::plan(const PlanRequest& request, const std::stop_token& stop) {
  const Message message = message_of(request, limits_);
  const double timeout_s = longest_s() * static_cast<double>(request.chosen.size()) + limits_.grace_s;
  std::string died;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto planner = take(stop);
    if (!planner) return Failure(planner.error());
    ++planner->served;
    const Stopwatch asking;
    Answer answer = planner->process.ask(message, timeout_s, stop);
    const double asked_ms = asking.ms();
    std::optional<Judged<Reply>> reply;
    if (answer.kind == Answer::Kind::reply) reply = read_reply(std::move(answer.message));
    const bool understood = reply && (*reply || !is_no_reply(reply->error()));
    if (!understood) planner->process.kill();
    give_back(std::move(*planner));
    switch (answer.kind) {
      case Answer::Kind::stopped:
        return Failure(cancelled());
      case Answer::Kind::late:
        return reject(Stage::plan, RejectionCode::timed_out,
                      "planning took longer than " + std::to_string(static_cast<int>(timeout_s)) + " s");
      case Answer::Kind::garbage:
        return reject(Stage::integrity, RejectionCode::protocol_forged,
                      "the planner's channel carried " + answer.words + ": only the planner may write to it");
      case Answer::Kind::ended:
        died = answer.words;
        continue;
      case Answer::Kind::reply:
        break;
    }
    if (*reply) return planned_of(request, **reply, asked_ms, limits_);
    if (!understood)
      return reject(Stage::integrity, RejectionCode::protocol_forged,
                    std::get<Error>(reply->error()).message + ": only the planner may write to its channel");
    return of_planner(reply->error());
  }
  return reject(Stage::plan, RejectionCode::crashed,
                "the planner ended while the candidate was planned: " + died);
}

}  // namespace kernelsmith::torch
