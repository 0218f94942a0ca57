#pragma once
#include "stand_in/torch.hpp"
#include "stand_in/half.hpp"
