// Toolkit: where a vendor's compiler is on this machine. A value.
#pragma once

#include <filesystem>
#include <string>

namespace kernelsmith::cuda {

struct Toolkit {
  std::filesystem::path root;      ///< the folder that candidates' builds may read, links resolved
  std::filesystem::path compiler;  ///< in it
  std::filesystem::path include;   ///< the headers that the shim needs
  std::string version;             ///< "13.0.88"
};

}  // namespace kernelsmith::cuda
