// What a journal's settings say of the features that its run computed, so that a reader without the task can
// compute them, too. Session's own.
#pragma once

namespace kernelsmith {

inline constexpr const char* kFeatures = "features";
/// source_features() of this version.
inline constexpr const char* kFeaturesOfSource = "source";

}  // namespace kernelsmith
