// redteam: rejected(compile, compile_failed) or rejected(compile, compile_limit)
// twin: honest
// tries: makes the compiler complain without end

#include "task.hpp"

#define COMPLAIN static_assert(sizeof(int) == 0, "terminal \x1b[31m escape");
#define C0 COMPLAIN COMPLAIN COMPLAIN COMPLAIN COMPLAIN COMPLAIN COMPLAIN COMPLAIN COMPLAIN COMPLAIN
#define C1 C0 C0 C0 C0 C0 C0 C0 C0 C0 C0
#define C2 C1 C1 C1 C1 C1 C1 C1 C1 C1 C1
#define C3 C2 C2 C2 C2 C2 C2 C2 C2 C2 C2
#define C4 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3
C4
