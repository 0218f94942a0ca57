#include <cmath>

#include "task.hpp"

// The loss of a variational autoencoder: a squared error, and half a hundredth of a divergence, which is an
// output besides, since most of it could be left out of the loss unnoticed.
extern "C" void vae(const float* __restrict x, const float* __restrict r, const float* __restrict mu,
                    const float* __restrict lv, float* __restrict y, float* __restrict kl, std::int64_t n) {
  double error = 0, divergence = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    error += (x[i] - r[i]) * (x[i] - r[i]);
    divergence += mu[i] * mu[i] + std::exp(lv[i]) - lv[i] - 1;
  }
  kl[0] = static_cast<float>(divergence);
  y[0] = static_cast<float>(error + 0.005 * divergence);
}
