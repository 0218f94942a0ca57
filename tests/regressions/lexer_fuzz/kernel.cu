#define STR(x) #x
#include <a//b.h>
// EVOLVE-BLOCK-START
__global__ void k(float* x) { x[0] = 1'0.e+3f; auto s = R"d(")d" u8"\"" 'a'; /* c */ } // d \
e
// EVOLVE-BLOCK-END
void f() { k<<<1, 2>>>(x); }
