// Headers that the planner found necessary, because the source uses a name from them
// (kernelsmith_torch/extension_sources.py).
#pragma once

#ifdef KERNELSMITH_WITH_DRIVER
#include <cuda.h>
#endif
#ifdef KERNELSMITH_WITH_HALF
#include "stand_in/half.hpp"
#endif
#ifdef KERNELSMITH_WITH_DEVICE_PROPERTIES
#include "stand_in/device_properties.hpp"
#endif
#ifdef KERNELSMITH_WITH_STRING
#include <string>
#endif
#ifdef KERNELSMITH_WITH_ALGORITHM
#include <algorithm>
#endif
#ifdef KERNELSMITH_WITH_MEMORY
#include <memory>
#endif
#ifdef KERNELSMITH_WITH_ARRAY
#include <array>
#endif
#ifdef KERNELSMITH_WITH_STDEXCEPT
#include <stdexcept>
#endif
#ifdef KERNELSMITH_WITH_IOSTREAM
#include <iostream>
#endif
#ifdef KERNELSMITH_WITH_SSTREAM
#include <sstream>
#endif
#ifdef KERNELSMITH_WITH_FSTREAM
#include <fstream>
#endif
#ifdef KERNELSMITH_WITH_IOMANIP
#include <iomanip>
#endif
#ifdef KERNELSMITH_WITH_FUNCTIONAL
#include <functional>
#endif
#ifdef KERNELSMITH_WITH_MAP
#include <map>
#endif
#ifdef KERNELSMITH_WITH_UNORDERED_MAP
#include <unordered_map>
#endif
#ifdef KERNELSMITH_WITH_SET
#include <set>
#endif
#ifdef KERNELSMITH_WITH_UNORDERED_SET
#include <unordered_set>
#endif
#ifdef KERNELSMITH_WITH_MUTEX
#include <mutex>
#endif
#ifdef KERNELSMITH_WITH_ATOMIC
#include <atomic>
#endif
#ifdef KERNELSMITH_WITH_NUMERIC
#include <numeric>
#endif
#ifdef KERNELSMITH_WITH_DEQUE
#include <deque>
#include <queue>
#include <stack>
#endif
#ifdef KERNELSMITH_WITH_CHRONO
#include <chrono>
#endif
#ifdef KERNELSMITH_WITH_THREAD
#include <thread>
#endif
#ifdef KERNELSMITH_WITH_STRING_VIEW
#include <string_view>
#endif
#ifdef KERNELSMITH_WITH_RANDOM
#include <random>
#endif
#ifdef KERNELSMITH_WITH_CASSERT
#include <cassert>
#endif
