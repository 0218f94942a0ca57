// A compiled candidate of `cuda`: its image, and its host library in a folder for the planner.
#include <string_view>
#include <utility>

#include "toolchain/build_script.hpp"
#include "toolchain/cuda_compiler.hpp"

namespace kernelsmith::cuda {

Result<CudaBinaryPtr> CudaBinary::create(std::vector<std::byte> image, ImageFacts facts,
                                         const std::string& host_library) {
  auto folder = ScratchFolder::create();
  if (!folder) return folder.error();
  if (auto s = folder->write(build_files::kHostLibrary, host_library); !s) return s.error();
  std::shared_ptr<CudaBinary> self(new CudaBinary);
  self->digest_ = DigestBuilder()
                      .add(std::string_view(reinterpret_cast<const char*>(image.data()), image.size()))
                      .add(host_library)
                      .finish();
  self->image_ = std::move(image);
  self->facts_ = std::move(facts);
  self->folder_ = std::make_unique<ScratchFolder>(std::move(*folder));
  return CudaBinaryPtr(std::move(self));
}

std::filesystem::path CudaBinary::host_library() const { return folder_->path() / build_files::kHostLibrary; }

}  // namespace kernelsmith::cuda
