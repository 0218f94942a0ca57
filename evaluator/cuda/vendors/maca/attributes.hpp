// The driver's numbers of MetaX's device attributes.
#pragma once

#include <utility>

namespace kernelsmith::cuda {

/// DeviceAttribute (planner/occupancy.hpp) and mcDeviceAttribute_t (in the order of the public bindings,
/// which was not compared with a header).
inline constexpr std::pair<int, int> kMacaAttributes[] = {
    {1, 0},   {2, 1},   {3, 2},   {4, 3},   {5, 4},   {6, 5},    {7, 6},    {8, 7},    {9, 8},   {10, 9},
    {12, 11}, {13, 13}, {16, 16}, {19, 43}, {31, 23}, {36, 14},  {37, 15},  {38, 18},  {39, 19}, {75, 21},
    {76, 22}, {81, 26}, {82, 12}, {95, 29}, {97, 7},  {102, 55}, {103, 56}, {106, 20},
};

}  // namespace kernelsmith::cuda
