#include "toolchain/precompiled_headers.hpp"

#include <memory>
#include <utility>

namespace kernelsmith::cpu {
namespace {

/// libstdc++'s <cmath> makes the compiler instantiate its special functions (std::riemann_zeta, ...) in every
/// file, used or not: a fifth of a kernel's compile time. Here they are declared extern. If a file uses one,
/// linking fails and the file is built again without this.
constexpr const char* kSpecialFunctionsElsewhere = R"(
#ifdef _GLIBCXX_BITS_SPECFUN_H
#define KERNELSMITH_ELSEWHERE(T) \
  extern template T __assoc_legendre_p(unsigned, unsigned, T, T); \
  extern template T __beta_lgamma(T, T); \
  extern template T __comp_ellint_1(T); \
  extern template T __comp_ellint_2(T); \
  extern template T __comp_ellint_3(T, T); \
  extern template T __cyl_bessel_i(T, T); \
  extern template T __cyl_bessel_j(T, T); \
  extern template T __cyl_bessel_k(T, T); \
  extern template T __cyl_neumann_n(T, T); \
  extern template T __ellint_1(T, T); \
  extern template T __ellint_2(T, T); \
  extern template T __ellint_3(T, T, T); \
  extern template T __expint_E1(T); \
  extern template T __expint_Ei(T); \
  extern template T __poly_hermite_recursion(unsigned, T); \
  extern template T __poly_laguerre(unsigned, unsigned, T); \
  extern template T __poly_legendre_p(unsigned, T); \
  extern template T __riemann_zeta(T); \
  extern template T __sph_bessel(unsigned, T); \
  extern template T __sph_legendre(unsigned, unsigned, T); \
  extern template T __sph_neumann(unsigned, T);
namespace std { namespace __detail {
KERNELSMITH_ELSEWHERE(float)
KERNELSMITH_ELSEWHERE(long double)
} }
#undef KERNELSMITH_ELSEWHERE
#endif
)";

}  // namespace

std::optional<std::filesystem::path> PrecompiledHeaders::find(const std::vector<std::string>& headers) const {
  if (headers.empty()) return std::nullopt;
  std::promise<Folder> mine;
  std::shared_future<Folder> folder;
  bool first = false;
  {
    const MutexLock lock(mutex_);
    if (!sets_.contains(headers)) {
      if (sets_.size() < kMostSets) sets_[headers];
      return std::nullopt;
    }
    folder = sets_[headers];
    first = !folder.valid();
    if (first && ++built_ > kMostBuilt) return std::nullopt;
    if (first) sets_[headers] = folder = mine.get_future().share();
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
  // Another version of the library may declare them differently.
  for (const std::string& whole : {text + kSpecialFunctionsElsewhere, text}) {
    if (!folder->write(kName, whole)) return nullptr;
    if (build_(*folder, kName, std::string(kName) + ".gch"))
      return std::make_shared<const ScratchFolder>(std::move(*folder));
  }
  return nullptr;
}

}  // namespace kernelsmith::cpu
