// Toolkit: the place of a vendor's compiler on this machine. A value.
#pragma once

#include <filesystem>
#include <string>

namespace kernelsmith::cuda {

struct Toolkit {
  std::filesystem::path root;      ///< the folder that candidates' builds may read, without symbolic links
  std::filesystem::path compiler;  ///< compiler in the folder
  std::filesystem::path include;   ///< the headers that the shim needs
  std::string version;             ///< "13.0.88"
};

}  // namespace kernelsmith::cuda
