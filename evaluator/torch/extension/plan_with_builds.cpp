#include "extension/plan_with_builds.hpp"

#include <string>
#include <utility>

#include <kernelsmith/evaluator/stopwatch.hpp>

#include "extension/extension_job.hpp"

namespace kernelsmith::torch {
namespace {

constexpr int kMostExtensions = 16;
/// The limit of a candidate's built extensions, which are sent with each request.
constexpr std::size_t kMostBuiltBytes = std::size_t{128} << 20;

Json place_in(std::string& blob, const std::string& bytes) {
  Json place = {blob.size(), bytes.size()};
  blob += bytes;
  return place;
}

void add_build(PlanRequest& request, const std::string& key, const BuiltExtension& built) {
  Json& told = request.builds[key];
  if (!built.error.empty()) {
    told = {{"error", built.error}};
    return;
  }
  told = {{"host", place_in(request.blob, built.library.host)}, {"device", Json::array()}, {"log", ""}};
  for (const std::string& cubin : built.library.device)
    told["device"].push_back(place_in(request.blob, cubin));
}

/// Adds failed builds to the planner's error, because they are usually its cause.
Failure with_reason(const Failure& failure, const std::string& not_built) {
  const auto* const rejection = std::get_if<Rejection>(&failure);
  if (!rejection || not_built.empty()) return failure;
  Rejection told = *rejection;
  if (told.code != RejectionCode::plan_failed) {
    told.diagnostics += "\n" + not_built;
    return told;
  }
  told.stage = Stage::compile;
  told.code = RejectionCode::compile_failed;
  // An uncaught exception repeats the same text.
  told.diagnostics = told.diagnostics.find("Error building extension") != std::string::npos
                         ? not_built
                         : not_built + "The candidate caught that, and then: " + told.diagnostics;
  return told;
}

Failure too_late(int extensions, double limit_s) {
  return reject(Stage::plan, RejectionCode::timed_out,
                "planning took more than " + std::to_string(static_cast<int>(limit_s)) +
                    " s by the clock before extension " + std::to_string(extensions + 1) +
                    " was asked for. Ask for extensions before other work, and for fewer");
}

}  // namespace

Judged<Planned> plan_with_builds(PlannerPool& pool, PlanRequest request, const Builder& builder,
                                 const std::stop_token& stop) {
  std::string not_built;
  double build_ms = 0, asked_ms = 0;
  for (int built_so_far = 0; built_so_far <= kMostExtensions; ++built_so_far) {
    auto planned = pool.plan(request, stop);
    if (!planned) return with_reason(planned.error(), not_built);
    if (planned->wanted.is_null()) {
      planned->not_built = not_built;
      planned->build_ms = build_ms;
      if (!not_built.empty()) planned->text += "The candidate goes on although " + not_built;
      return planned;
    }
    auto job = read_job(planned->wanted, request.arch, builder.include);
    if (!job) return job.error();
    if (request.builds.contains(job->key))
      return reject(Stage::integrity, RejectionCode::protocol_forged,
                    "the planner asks twice for one extension: only the planner may write to its channel");
    asked_ms += planned->asked_ms;
    if (asked_ms + build_ms > 1000 * pool.longest_s()) return too_late(built_so_far, pool.longest_s());
    const Stopwatch building;
    auto built = builder.service->build(job->job, stop);
    build_ms += building.ms();
    if (!built) return Failure(built.error());
    BuiltExtension told = **built;
    if (!told.error.empty()) {
      told.error = with_unseen(told.error, *job);
      not_built += "the extension '" + job->name + "' does not compile:\n" + told.error + "\n";
    }
    add_build(request, job->key, told);
    if (request.blob.size() > kMostBuiltBytes)
      return reject(Stage::plan, RejectionCode::too_large,
                    "the candidate's extensions are more than " + std::to_string(kMostBuiltBytes >> 20) +
                        " MiB of code");
  }
  return reject(Stage::plan, RejectionCode::too_large,
                "the candidate builds more than " + std::to_string(kMostExtensions) + " extensions");
}

}  // namespace kernelsmith::torch
