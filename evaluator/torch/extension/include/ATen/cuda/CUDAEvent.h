#pragma once
#include "stand_in/event.hpp"
