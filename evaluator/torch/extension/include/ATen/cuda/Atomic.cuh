#pragma once
#include "stand_in/atomic.hpp"
