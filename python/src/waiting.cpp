#include "waiting.hpp"

namespace kernelsmith::python {

void Notices::on_notice(const Notice& notice) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(notice);
}

void Notices::deliver() {
  std::vector<Notice> notices;
  {
    const py::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    notices.swap(waiting_);
  }
  if (notices.empty()) return;
  const py::object logger = py::module_::import("logging").attr("getLogger")("kernelsmith");
  for (const Notice& notice : notices)
    logger.attr(notice.level == Notice::Level::warning ? "warning" : "info")("%s", notice.message);
}

}  // namespace kernelsmith::python
