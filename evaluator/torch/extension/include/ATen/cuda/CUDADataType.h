#pragma once
#include "stand_in/torch.hpp"
