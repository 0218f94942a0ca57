// KERNELSMITH_REFUSED: functions that end the plan with their names.
#pragma once

#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"

/// The arguments do not matter: in C's calling convention the caller removes them.
#define KERNELSMITH_REFUSED_AS(function, name) \
  KERNELSMITH_RECORDED int function() { return kernelsmith::cuda::planner::recorder().refuse_by_name(name); }
#define KERNELSMITH_REFUSED_FUNCTION(name) \
  KERNELSMITH_REFUSED_AS(KERNELSMITH_RUNTIME(name), KERNELSMITH_PREFIX #name)
#define KERNELSMITH_REFUSED(...) KERNELSMITH_EACH(KERNELSMITH_REFUSED_FUNCTION, __VA_ARGS__)
