// The own kernels of the runners of `cuda` and `torch` as PTX, which the driver assembles, so that building
// kernelsmith needs no CUDA compiler. launch_rules.hpp says how they are launched.
#pragma once

#include <cstdint>
#include <string>

namespace kernelsmith::cuda {

// wipe(words, word): fills the first `words` 32-bit words of the block's dynamic shared memory.
// sweep(address, count): reads `count` pieces of 16 bytes, past the L1; volatile, so that no load is dropped.
// gate(flag, limit_ns): one thread waits until *flag is not zero, or the limit is over.
// wipe_registers(word): a block of 1024 threads has all registers of a multiprocessor; each thread loads the
// word into those of its 64 that are not needed for addresses. The loads are volatile, so that none is
// dropped.
inline constexpr const char* kPlainKernels = R"(
.version 7.0
.target sm_70
.address_size 64

.extern .shared .align 16 .b8 kernelsmith_shared[];

.visible .entry kernelsmith_wipe(.param .u32 words, .param .u32 word)
{
  .reg .pred %done;
  .reg .b32 %base, %words, %word, %index, %step, %offset, %address;
  ld.param.u32 %words, [words];
  ld.param.u32 %word, [word];
  mov.u32 %base, kernelsmith_shared;
  mov.u32 %index, %tid.x;
  mov.u32 %step, %ntid.x;
LOOP:
  setp.ge.u32 %done, %index, %words;
  @%done bra END;
  shl.b32 %offset, %index, 2;
  add.u32 %address, %base, %offset;
  st.volatile.shared.u32 [%address], %word;
  add.u32 %index, %index, %step;
  bra LOOP;
END:
  ret;
}

.visible .entry kernelsmith_sweep(.param .u64 address, .param .u64 count)
{
  .reg .pred %done;
  .reg .b32 %thread, %block, %size, %blocks, %a, %b, %c, %d;
  .reg .b64 %from, %count, %index, %step, %at, %lane;
  ld.param.u64 %from, [address];
  ld.param.u64 %count, [count];
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mov.u32 %blocks, %nctaid.x;
  cvt.u64.u32 %lane, %thread;
  mul.wide.u32 %index, %block, %size;
  add.u64 %index, %index, %lane;
  mul.wide.u32 %step, %blocks, %size;
LOOP:
  setp.ge.u64 %done, %index, %count;
  @%done bra END;
  shl.b64 %at, %index, 4;
  add.u64 %at, %at, %from;
  ld.volatile.global.v4.u32 {%a, %b, %c, %d}, [%at];
  add.u64 %index, %index, %step;
  bra LOOP;
END:
  ret;
}

.visible .entry kernelsmith_gate(.param .u64 flag, .param .u64 limit_ns)
{
  .reg .pred %open, %over;
  .reg .b32 %value;
  .reg .b64 %flag, %limit, %start, %now, %waited;
  ld.param.u64 %flag, [flag];
  ld.param.u64 %limit, [limit_ns];
  mov.u64 %start, %globaltimer;
LOOP:
  ld.volatile.global.u32 %value, [%flag];
  setp.ne.u32 %open, %value, 0;
  @%open bra END;
  mov.u64 %now, %globaltimer;
  sub.u64 %waited, %now, %start;
  setp.ge.u64 %over, %waited, %limit;
  @%over bra END;
  bra LOOP;
END:
  ret;
}

.visible .entry kernelsmith_wipe_registers(.param .u32 word)
.maxntid 1024, 1, 1
.minnctapersm 1
{
  .shared .align 16 .b32 cells[4096];
  .reg .b32 %word, %at, %cells, %held<58>;
  ld.param.u32 %word, [word];
  mov.u32 %cells, cells;
  mov.u32 %at, %tid.x;
  shl.b32 %at, %at, 4;
  add.u32 %at, %at, %cells;
  st.volatile.shared.v4.u32 [%at], {%word, %word, %word, %word};
  ld.volatile.shared.v4.u32 {%held0, %held1, %held2, %held3}, [%at];
  ld.volatile.shared.v4.u32 {%held4, %held5, %held6, %held7}, [%at];
  ld.volatile.shared.v4.u32 {%held8, %held9, %held10, %held11}, [%at];
  ld.volatile.shared.v4.u32 {%held12, %held13, %held14, %held15}, [%at];
  ld.volatile.shared.v4.u32 {%held16, %held17, %held18, %held19}, [%at];
  ld.volatile.shared.v4.u32 {%held20, %held21, %held22, %held23}, [%at];
  ld.volatile.shared.v4.u32 {%held24, %held25, %held26, %held27}, [%at];
  ld.volatile.shared.v4.u32 {%held28, %held29, %held30, %held31}, [%at];
  ld.volatile.shared.v4.u32 {%held32, %held33, %held34, %held35}, [%at];
  ld.volatile.shared.v4.u32 {%held36, %held37, %held38, %held39}, [%at];
  ld.volatile.shared.v4.u32 {%held40, %held41, %held42, %held43}, [%at];
  ld.volatile.shared.v4.u32 {%held44, %held45, %held46, %held47}, [%at];
  ld.volatile.shared.v4.u32 {%held48, %held49, %held50, %held51}, [%at];
  ld.volatile.shared.v4.u32 {%held52, %held53, %held54, %held55}, [%at];
  ld.volatile.shared.u32 %held56, [%at];
  ld.volatile.shared.u32 %held57, [%at];
  bar.sync 0;
  st.volatile.shared.v4.u32 [%at], {%held0, %held1, %held2, %held3};
  st.volatile.shared.v4.u32 [%at], {%held4, %held5, %held6, %held7};
  st.volatile.shared.v4.u32 [%at], {%held8, %held9, %held10, %held11};
  st.volatile.shared.v4.u32 [%at], {%held12, %held13, %held14, %held15};
  st.volatile.shared.v4.u32 [%at], {%held16, %held17, %held18, %held19};
  st.volatile.shared.v4.u32 [%at], {%held20, %held21, %held22, %held23};
  st.volatile.shared.v4.u32 [%at], {%held24, %held25, %held26, %held27};
  st.volatile.shared.v4.u32 [%at], {%held28, %held29, %held30, %held31};
  st.volatile.shared.v4.u32 [%at], {%held32, %held33, %held34, %held35};
  st.volatile.shared.v4.u32 [%at], {%held36, %held37, %held38, %held39};
  st.volatile.shared.v4.u32 [%at], {%held40, %held41, %held42, %held43};
  st.volatile.shared.v4.u32 [%at], {%held44, %held45, %held46, %held47};
  st.volatile.shared.v4.u32 [%at], {%held48, %held49, %held50, %held51};
  st.volatile.shared.v4.u32 [%at], {%held52, %held53, %held54, %held55};
  st.volatile.shared.u32 [%at], %held56;
  st.volatile.shared.u32 [%at], %held57;
  ret;
}
)";

/// kernelsmith_wipe_local(words, word): fills the first `words` 32-bit words of the thread's local memory.
/// The memory's size is part of a kernel: a number of bytes takes the place of BYTES.
inline constexpr const char* kLocalWipe = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry kernelsmith_wipe_local(.param .u32 words, .param .u32 word)
{
  .local .align 16 .b8 frame[BYTES];
  .reg .pred %done;
  .reg .b32 %words, %word;
  .reg .b64 %at;
  ld.param.u32 %words, [words];
  ld.param.u32 %word, [word];
  mov.u64 %at, frame;
  cvta.local.u64 %at, %at;
LOOP:
  setp.eq.u32 %done, %words, 0;
  @%done bra END;
  st.volatile.u32 [%at], %word;
  add.u64 %at, %at, 4;
  sub.u32 %words, %words, 1;
  bra LOOP;
END:
  ret;
}
)";

inline std::string local_wipe_of(std::uint32_t bytes) {
  std::string text = kLocalWipe;
  return text.replace(text.find("BYTES"), 5, std::to_string(bytes));
}

}  // namespace kernelsmith::cuda
