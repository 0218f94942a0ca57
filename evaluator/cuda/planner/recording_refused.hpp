// KERNELSMITH_REFUSED_AS: a function that ends the plan with its name.
#pragma once

#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"

/// The arguments do not matter: in C's calling convention the caller removes them.
#define KERNELSMITH_REFUSED_AS(function, name) \
  KERNELSMITH_RECORDED int function() { return kernelsmith::cuda::planner::recorder().refuse_by_name(name); }
