#include "extension/build_service.hpp"

#include <algorithm>
#include <utility>

namespace kernelsmith::torch {
namespace {

std::size_t size_of(const BuiltExtension& built) { return built.library.bytes() + built.error.size(); }

}  // namespace

Result<BuiltExtensionPtr> BuildService::build(const LibraryJob& job, const std::stop_token& stop) {
  const Digest key = job.digest();
  {
    MutexLock lock(mutex_);
    if (!changed_.wait(lock, stop, [&]() KERNELSMITH_REQUIRES(mutex_) { return !building_.contains(key); }))
      return fail(ErrorCode::cancelled, "building an extension was cancelled");
    if (const auto found = kept_.find(key); found != kept_.end()) {
      found->second.used = ++uses_;
      return found->second.built;
    }
    building_.insert(key);
  }
  auto library = compile_(job, stop);
  const MutexLock lock(mutex_);
  building_.erase(key);
  changed_.notify_all();
  BuiltExtension built;
  // A build that failed for lack of time may succeed the next time.
  bool lasts = true;
  if (library) {
    built.library = std::move(*library);
  } else {
    const Failure failure = library.error();
    if (const Error* const error = std::get_if<Error>(&failure)) return *error;
    const auto& rejection = std::get<Rejection>(failure);
    built.error = rejection.diagnostics;
    lasts = rejection.code != RejectionCode::compile_limit;
  }
  auto made = std::make_shared<const BuiltExtension>(std::move(built));
  if (lasts) keep(key, made);
  return BuiltExtensionPtr(std::move(made));
}

void BuildService::keep(const Digest& key, BuiltExtensionPtr built) {
  bytes_ += size_of(*built);
  kept_[key] = {std::move(built), ++uses_};
  while (bytes_ > most_bytes_ && !kept_.empty()) {
    const auto oldest =
        std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.used; });
    bytes_ -= size_of(*oldest->second.built);
    kept_.erase(oldest);
  }
}

}  // namespace kernelsmith::torch
