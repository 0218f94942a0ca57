// EVOLVE-BLOCK-START
constexpr int kTile = -64;  // @tune -64 8 16
#define PACK true  /* @tune true false */
// EVOLVE-BLOCK-END
