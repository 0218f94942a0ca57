#include "precompiled_headers.hpp"

#include <memory>
#include <utility>

namespace kernelsmith {

std::optional<std::filesystem::path> PrecompiledHeaders::find(const std::vector<std::string>& headers) const {
  if (headers.empty()) return std::nullopt;
  std::promise<Folder> mine;
  std::shared_future<Folder> folder;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    auto known = sets_.find(headers);
    first = known == sets_.end();
    if (first) {
      if (sets_.size() >= kMostSets) return std::nullopt;
      known = sets_.emplace(headers, mine.get_future().share()).first;
    }
    folder = known->second;
  }
  if (first) mine.set_value(make(headers));
  if (!folder.get()) return std::nullopt;
  return folder.get()->path() / kName;
}

PrecompiledHeaders::Folder PrecompiledHeaders::make(const std::vector<std::string>& headers) const {
  auto folder = ScratchFolder::create();
  if (!folder) return nullptr;
  std::string text;
  for (const std::string& header : headers) text += "#include <" + header + ">\n";
  if (!folder->write(kName, text)) return nullptr;
  if (!build_(*folder, kName, std::string(kName) + ".gch")) return nullptr;
  return std::make_shared<const ScratchFolder>(std::move(*folder));
}

}  // namespace kernelsmith
