#include "roster.hpp"

#include <algorithm>
#include <iterator>

#include "names.hpp"

namespace kernelsmith::fleet {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return result;
}

std::string list_of(const std::set<std::string>& kinds) {
  std::string list;
  for (const std::string& kind : kinds) list += (list.empty() ? "\"" : ", \"") + kind + "\"";
  return list;
}

}  // namespace

Result<std::vector<WorkerEntry>> read_roster(Bus& bus, const std::stop_token& stop) {
  const auto subjects = bus.subjects(kWorkersStream, kWorkersFilter, stop);
  if (!subjects) return subjects.error();
  std::vector<WorkerEntry> workers;
  for (const std::string& subject : *subjects) {
    const auto stored = bus.latest(kWorkersStream, subject, stop);
    if (!stored) return stored.error();
    if (!*stored) continue;
    if (auto entry = decode_worker((*stored)->payload)) workers.push_back(std::move(*entry));
  }
  return workers;
}

std::set<std::string> hardware_of(const std::vector<WorkerEntry>& workers, std::string_view backend) {
  std::set<std::string> kinds;
  for (const WorkerEntry& worker : workers)
    for (const Offer& offer : worker.offers)
      if (offer.backend == backend) kinds.insert(offer.hardware);
  return kinds;
}

bool is_wanted(std::string_view hardware, std::string_view wanted) {
  return lower(hardware).find(lower(wanted)) != std::string::npos;
}

Result<std::optional<std::string>> choose_hardware(const std::set<std::string>& kinds,
                                                   const std::string& wanted) {
  if (kinds == std::set<std::string>{""})
    return std::optional(std::string());  // scores do not depend on the hardware
  if (kinds.contains(wanted))
    return std::optional(wanted);  // "H100" means that kind even if there is also "H100 NVL"
  std::set<std::string> fitting;
  std::ranges::copy_if(kinds, std::inserter(fitting, fitting.end()),
                       [&](const std::string& kind) { return is_wanted(kind, wanted); });
  if (fitting.size() == 1) return std::optional(*fitting.begin());
  if (fitting.size() > 1)
    return fail(ErrorCode::invalid_argument,
                "the fleet has several kinds of hardware, whose scores do not compare: " + list_of(fitting),
                "evaluator.fleet.hardware", "choose one: --set evaluator.fleet.hardware=NAME");
  if (!kinds.empty())
    return fail(ErrorCode::invalid_argument,
                "no worker of the fleet has hardware of that name; the fleet has " + list_of(kinds),
                "evaluator.fleet.hardware", "choose one of these, or start a worker on that hardware");
  return std::optional<std::string>();
}

}  // namespace kernelsmith::fleet
