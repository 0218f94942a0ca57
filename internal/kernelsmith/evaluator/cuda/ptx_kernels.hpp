// The own kernels of the runners of `cuda` and `torch` as PTX, which the driver assembles, so that building
// kernelsmith needs no CUDA compiler.
#pragma once

#include <cstdint>
#include <string>

namespace kernelsmith::cuda {

inline constexpr const char* kPtxHead = R"(
.version 7.0
.target sm_70
.address_size 64
)";

// wipe(words, word): fills the first `words` 32-bit words of the block's dynamic shared memory.
// sweep(address, count): reads `count` pieces of 16 bytes, past the L1; volatile, so that no load is dropped.
// gate(flag, limit_ns): one thread waits until *flag is not zero, or the limit is over.
inline constexpr const char* kPlainKernels = R"(
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
)";

/// kernelsmith_wipe_registers(word): a block of 1024 threads has all registers of a multiprocessor; each
/// thread loads the word into those of its 64 that are not needed for addresses. The loads are volatile, so
/// that none is dropped.
inline std::string register_wipe_text() {
  constexpr int kHeld = 58;  // more would be spilled
  std::string text = R"(
.visible .entry kernelsmith_wipe_registers(.param .u32 word)
.maxntid 1024, 1, 1
.minnctapersm 1
{
  .shared .align 4 .b32 cells[1024];
  .reg .b32 %word, %at, %cells, %held<)" +
                     std::to_string(kHeld) +
                     R"(>;
  ld.param.u32 %word, [word];
  mov.u32 %cells, cells;
  mov.u32 %at, %tid.x;
  shl.b32 %at, %at, 2;
  add.u32 %at, %at, %cells;
  st.volatile.shared.u32 [%at], %word;
)";
  for (int i = 0; i < kHeld; ++i) text += "  ld.volatile.shared.u32 %held" + std::to_string(i) + ", [%at];\n";
  text += "  bar.sync 0;\n";
  for (int i = 0; i < kHeld; ++i) text += "  st.volatile.shared.u32 [%at], %held" + std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

/// All kernels except kernelsmith_wipe_local.
inline std::string own_kernels_text() { return kPtxHead + std::string(kPlainKernels) + register_wipe_text(); }

/// kernelsmith_wipe_local(words, word): fills the first `words` 32-bit words of the thread's local memory,
/// which has `bytes` bytes: a number, or a word in its place.
inline std::string local_wipe_text(const std::string& bytes) {
  return kPtxHead + std::string(R"(
.visible .entry kernelsmith_wipe_local(.param .u32 words, .param .u32 word)
{
  .local .align 16 .b8 frame[)") +
         bytes + R"(];
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
}

inline std::string local_wipe_of(std::uint32_t bytes) { return local_wipe_text(std::to_string(bytes)); }

}  // namespace kernelsmith::cuda
