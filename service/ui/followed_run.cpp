#include "followed_run.hpp"

#include <utility>

#include <kernelsmith/session/run_json.hpp>

namespace kernelsmith::ui {
namespace {

/// Lets a view read from a store for the lifetime of this object.
class Reading {
 public:
  Reading(RunView& view, std::shared_ptr<const RunStore> store) : view_(view) {
    view_.store = std::move(store);
    view_.state.read_from(view_.store.get());
  }
  ~Reading() {
    view_.state.read_from(nullptr);
    view_.store.reset();
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  RunView& view_;
};

}  // namespace

Result<std::optional<std::string>> FollowedRun::look() {
  // Taken before the run is read, so that the next look sees later writes.
  RunStamp stamp = RunStamp::of(folder_, stamp_ ? &*stamp_ : nullptr);
  if (stamp_ && !stamp_->may_differ(stamp)) return std::optional<std::string>();
  stamp_.reset();
  auto viewed = view_run(folder_, registry_);
  if (!viewed) return viewed.error();
  auto view = std::make_unique<RunView>(std::move(*viewed));
  const Reading reading(*view, view->store);
  auto summary = page_json(*view);
  if (!summary) return summary.error();
  view_ = std::move(view);
  stamp_ = stamp;
  return std::optional(std::move(*summary));
}

Result<std::string> FollowedRun::program(ProgramId id) {
  if (!view_) return fail(ErrorCode::not_found, "the run was not read yet");
  auto store = RunStore::open_read_only(folder_);
  if (!store) return store.error();
  if ((*store)->run_id() != view_->run_id)
    return fail(ErrorCode::not_found, "another run is in the folder now", folder_.string());
  const Reading reading(*view_, std::move(*store));
  return program_json(*view_, id);
}

}  // namespace kernelsmith::ui
