// redteam: rejected(compile, compile_limit) or rejected(compile, compile_failed)
// twin: honest
// tries: includes itself twice, two hundred levels deep

#include "task.hpp"
#include __FILE__
#include __FILE__
