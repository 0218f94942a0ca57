#include <cstdio>

#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/core/source.hpp>

namespace ks = kernelsmith;

int main() {
  const auto source = ks::Source::create({{"kernel.cpp", "int main() {}"}});
  if (!source) return ks::report(stderr, source.error());
  ks::Rng rng(1, 0, ks::Purpose::sampling);
  std::printf("%s %llu\n", source->digest().hex().c_str(), static_cast<unsigned long long>(rng()));
}
