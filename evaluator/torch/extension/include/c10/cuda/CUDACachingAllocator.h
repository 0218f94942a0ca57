#pragma once
#include "stand_in/allocator.hpp"
