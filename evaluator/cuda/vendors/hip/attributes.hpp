// The driver's numbers of AMD's device attributes.
#pragma once

#include <utility>

namespace kernelsmith::cuda {

/// DeviceAttribute (planner/occupancy.hpp) and hipDeviceAttribute_t of ROCm 6 (numbers up to 88 were read
/// from the header of ROCm 5.2).
inline constexpr std::pair<int, int> kHipAttributes[] = {
    {1, 56},  {2, 26},  {3, 27},  {4, 28},  {5, 29},  {6, 30},   {7, 31},   {8, 74},   {9, 83},  {10, 87},
    {12, 71}, {13, 5},  {16, 63}, {19, 3},  {31, 8},  {36, 60},  {37, 59},  {38, 19},  {39, 57}, {75, 23},
    {76, 61}, {81, 76}, {82, 72}, {95, 10}, {97, 74}, {102, 89}, {103, 89}, {106, 25},
};

}  // namespace kernelsmith::cuda
