#pragma once
#include "stand_in/math_compat.hpp"
