// MACA's half, which is the stand-ins'.
#pragma once

#include <stand_in/half.h>
