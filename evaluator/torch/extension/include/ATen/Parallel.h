#pragma once
#include "stand_in/parallel.hpp"
