#pragma once
#include "stand_in/block_reduce.hpp"
