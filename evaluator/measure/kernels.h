// The judge's kernels: templates over the type of elements. This text follows rule.h and a prologue, which
// defines for the device or the processor:
//   KERNELSMITH_KERNEL      how a kernel is declared
//   KERNELSMITH_WAVE(S)     the number of this wave, and how many there are
//   KERNELSMITH_LANES       the threads of a wave, which work together on one block of elements
//   KERNELSMITH_LANE        the number of this thread in its wave
//   KERNELSMITH_FROM_LANE   the value of another lane
//   KERNELSMITH_NEXT        adds one to a number that all threads share, and gives it as it was
//   KERNELSMITH_UNROLL      unrolls a loop
//   KERNELSMITH_DIVIDED     a quotient, which may be off by a few units in the last place
// On the processor a wave is one thread, so a kernel is a plain function there.

namespace kernelsmith::rule {

using Count = unsigned long long;
using F64 = double;
using F32 = float;

/// The type in which elements are compared.
template <class T>
struct Computed {
  using Type = float;
};
template <>
struct Computed<double> {
  using Type = double;
};

/// The bits of an element, or of poison at an element's place.
template <class T>
KERNELSMITH_BOTH Count bits_of(T value) {
  Count bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
KERNELSMITH_BOTH bool is_poison(T value, Count poison) {
  return sizeof(T) == 8 ? bits_of(value) == poison
                        : bits_of(value) == (poison & ((Count{1} << (8 * sizeof(T) % 64)) - 1));
}

/// In place of a truth of which any result passes, because only one of truth and reference is finite: a NaN
/// that no truth is.
template <class T>
struct Any {
  KERNELSMITH_BOTH static T value() {
    T any;
    any.bits = static_cast<typename T::Word>(T::kNan | T::kSign);
    return any;
  }
};
template <>
struct Any<float> {
  KERNELSMITH_BOTH static float value() { return float_of(0xffc0a1a1U); }
};
template <>
struct Any<double> {
  KERNELSMITH_BOTH static double value() {
    const Count bits = 0xfff80000a1a1a1a1ULL;
    double any = 0;
    memcpy(&any, &bits, sizeof any);
    return any;
  }
};

/// The faults of elements: wrong, not finite, not written.
constexpr int kFaults = 3;
constexpr Count kNowhere = ~Count{0};

/// The findings in elements of one output. All fields have 8 bytes.
struct Found {
  double squares = 0;  ///< of error / tolerance, over judged elements
  double worst = 0;    ///< the largest error / tolerance; infinite if the classes differ
  Count worst_at = kNowhere;
  double worst_within = 0;  ///< the largest that is not beyond 1
  Count counts[kFaults] = {0, 0, 0};
  Count firsts[kFaults] = {kNowhere, kNowhere, kNowhere};
};

KERNELSMITH_BOTH void join(Found& all, const Found& part) {
  all.squares += part.squares;
  if (part.worst > all.worst || (part.worst == all.worst && part.worst_at < all.worst_at)) {
    all.worst = part.worst;
    all.worst_at = part.worst_at;
  }
  all.worst_within = larger(all.worst_within, part.worst_within);
  for (int fault = 0; fault < kFaults; ++fault) {
    all.counts[fault] += part.counts[fault];
    if (part.firsts[fault] < all.firsts[fault]) all.firsts[fault] = part.firsts[fault];
  }
}

KERNELSMITH_BOTH void count_fault(Found& found, int fault, Count at) {
  ++found.counts[fault];
  if (at < found.firsts[fault]) found.firsts[fault] = at;
}

KERNELSMITH_BOTH double sum_of_wave(double value) {
  for (int other = KERNELSMITH_LANES / 2; other > 0; other /= 2) value += KERNELSMITH_FROM_LANE(value, other);
  return value;
}
KERNELSMITH_BOTH double most_of_wave(double value) {
  for (int other = KERNELSMITH_LANES / 2; other > 0; other /= 2)
    value = larger(value, KERNELSMITH_FROM_LANE(value, other));
  return value;
}

/// Joins the lanes' findings; lane 0 writes those of its wave.
KERNELSMITH_BOTH void report(Found found, Found* out) {
  for (int other = KERNELSMITH_LANES / 2; other > 0; other /= 2) {
    Found beside;
    double* const reals[] = {&beside.squares, &beside.worst, &beside.worst_within};
    const double* const own[] = {&found.squares, &found.worst, &found.worst_within};
    for (int i = 0; i < 3; ++i) *reals[i] = KERNELSMITH_FROM_LANE(*own[i], other);
    beside.worst_at = KERNELSMITH_FROM_LANE(found.worst_at, other);
    for (int fault = 0; fault < kFaults; ++fault) {
      beside.counts[fault] = KERNELSMITH_FROM_LANE(found.counts[fault], other);
      beside.firsts[fault] = KERNELSMITH_FROM_LANE(found.firsts[fault], other);
    }
    join(found, beside);
  }
  if (KERNELSMITH_LANE == 0) out[KERNELSMITH_WAVE] = found;
}

/// The policies of docs/tolerance.md that follow from reals.
enum Policy { kByBudget = 0, kAllclose = 1, kNormwise = 2 };

/// How the tolerances of an output follow from its truth and the reference's answers.
struct Derivation {
  Budget budget;
  double unit;          ///< roundoff of the output's type
  double least_error;   ///< of the reference, if the output is too small to show it
  double least_spread;  ///< like it, for D
  double on_value;      ///< an element's tolerance is this times |truth| and what its block shares
  Count policy;         ///< a Policy
};

/// The sums over an output's judged elements, from which its limits follow.
struct Sums {
  double granted = 0, own = 0,
         judged = 0;  ///< squares of what is granted and of the reference's errors; elements
};

/// For each block of `row` elements: writes the truth as elements of T, the part of the tolerance that the
/// block's elements share, and the block's sums. D is the RMS of the truth over the block. `low` is the
/// answer in the declared precision; it may be `own`.
template <class T>
KERNELSMITH_BOTH void derive(const double* truth, const T* own, const T* low, Count count, Count row,
                             const Derivation* how, T* values, double* blocks, Sums* sums) {
  const Budget& budget = how->budget;
  const bool by_budget = how->policy != kAllclose;
  for (Count block = KERNELSMITH_WAVE; block * row < count; block += KERNELSMITH_WAVES) {
    const Count begin = block * row, end = begin + row < count ? begin + row : count;
    double squares = 0, error = 0;
    const auto error_at = [&](Count i) {
      double off = larger(fabs(static_cast<double>(widened(own[i])) - truth[i]), how->least_error);
      const double other = fabs(static_cast<double>(widened(low[i])) - truth[i]);
      return is_finite(other) ? larger(off, other) : off;
    };
    const auto is_judged = [&](Count i) {
      return is_finite(widened(Narrowing<T, double>::of(truth[i]))) && is_finite(widened(own[i]));
    };
    for (Count i = begin + KERNELSMITH_LANE; i < end; i += KERNELSMITH_LANES) {
      if (!is_judged(i)) continue;
      squares += truth[i] * truth[i];
      error = larger(error, beyond_rounding(error_at(i), how->unit, fabs(truth[i])));
    }
    const double spread =
        by_budget ? larger(sqrt(sum_of_wave(squares) / static_cast<double>(end - begin)), how->least_spread)
                  : 0;
    const double shared = allowed(budget, spread, 0, by_budget ? most_of_wave(error) : 0);
    Sums of_block;
    for (Count i = begin + KERNELSMITH_LANE; i < end; i += KERNELSMITH_LANES) {
      T value = Narrowing<T, double>::of(truth[i]);
      const auto y = widened(value), r = widened(own[i]);
      if (is_judged(i)) {
        const double stored = fabs(static_cast<double>(y));
        const double tolerance = how->policy == kNormwise ? 1 : shared + how->on_value * stored;
        const double of_budget = granted(budget, fabs(truth[i]), spread, fabs(truth[i])) / tolerance;
        const double of_own = error_at(i) / tolerance;
        of_block.granted += of_budget * of_budget;
        of_block.own += of_own * of_own;
        of_block.judged += 1;
      } else if (y != y ? r == r : !is_finite(y) ? y != r : true) {
        value = Any<T>::value();
      }
      values[i] = value;
    }
    of_block = {sum_of_wave(of_block.granted), sum_of_wave(of_block.own), sum_of_wave(of_block.judged)};
    if (KERNELSMITH_LANE != 0) continue;
    blocks[block] = shared;
    sums[block] = of_block;
  }
}

/// The error of an element, divided by its tolerance: `steep` |truth| + `shared`, or the larger of the two.
template <class Real>
KERNELSMITH_BOTH Real quotient(Real actual, Real truth, Real steep, Real shared, unsigned either) {
  const Real error = actual < truth ? truth - actual : actual - truth;
  const Real by_value = steep * (truth < 0 ? -truth : truth);
  const Real larger_one = by_value > shared ? by_value : shared;
  return KERNELSMITH_DIVIDED(error, either != 0 ? larger_one : shared + by_value);
}

/// The loads that a thread has in flight for each array: a compiler does not begin one before the check of
/// the one before.
constexpr unsigned kTogether = 8;

/// Counts an element that is not within its tolerance, unless its class decides and is right.
template <class T, class Real>
KERNELSMITH_BOTH void count_beyond(T actual, T value, Real q, Count at, unsigned per_element, Count poison,
                                   Found& found, Count* list, Count capacity) {
  const bool unwritten = is_poison(actual, poison), in_sum = is_finite(q);
  const bool same = same_class(static_cast<Real>(widened(actual)), static_cast<Real>(widened(value)));
  if (in_sum) found.squares += static_cast<double>(q) * static_cast<double>(q);
  if (!unwritten && bits_of(value) == bits_of(Any<T>::value())) return;
  if (!unwritten && same && (!is_finite(widened(value)) || (per_element == 0 && in_sum))) return;
  count_fault(found, unwritten ? 2 : same ? 0 : 1, at);
  const double size = in_sum ? static_cast<double>(q) : static_cast<double>(float_of(0x7f800000U));
  if (size > found.worst) {
    found.worst = size;
    found.worst_at = at;
  }
  if (list == nullptr) return;
  const Count place = KERNELSMITH_NEXT(list);
  if (place < capacity) list[1 + place] = at;
}

/// Compares an output, or a slice of it that begins at element `first`, with its truth. The tolerance of an
/// element is on_value |truth| + its block's part, or with `either` the larger of the two. If `per_element`
/// is 0, only the class of an element and the sum of squares count. Indices of wrong elements are written to
/// `list`, of which `list[0]` is the number and `capacity` the places after it; it may be null. A block is
/// read once, and again if an element is beyond its tolerance.
template <class T>
KERNELSMITH_BOTH void look(const T* __restrict__ actual, const T* __restrict__ values,
                           const double* __restrict__ blocks, Count count, Count row, double on_value,
                           unsigned either, unsigned per_element, Count poison, Count first, Found* out,
                           Count* list, Count capacity) {
  using Real = typename Computed<T>::Type;
  const Real steep = static_cast<Real>(on_value);
  Found found;
  for (Count block = KERNELSMITH_WAVE; block * row < count; block += KERNELSMITH_WAVES) {
    const Count begin = block * row;
    const auto length = static_cast<unsigned>(begin + row < count ? row : count - begin);
    const T *const written = actual + begin, *const truth = values + begin;
    Real shared = static_cast<Real>(blocks[block]);
    if (!(shared > 0)) shared = static_cast<Real>(1e-44);  // A float near it is 0, and 0 / 0 would be wrong.
    Real squares = 0, worst = 0;
    unsigned worst_at = 0;
    bool all_within = true;
    const auto add = [&](unsigned i, Real c, Real t) {
      const Real q = quotient(c, t, steep, shared, either);
      const bool within = q <= 1;
      all_within &= within;
      const Real kept = within ? q : 0;
      squares += kept * kept;
      worst_at = kept > worst ? i : worst_at;
      worst = kept > worst ? kept : worst;
    };
    unsigned i = KERNELSMITH_LANE;
    for (; i + (kTogether - 1) * KERNELSMITH_LANES < length; i += kTogether * KERNELSMITH_LANES) {
      T c[kTogether], t[kTogether];
      KERNELSMITH_UNROLL
      for (unsigned k = 0; k < kTogether; ++k) {
        c[k] = (written + i)[k * KERNELSMITH_LANES];
        t[k] = (truth + i)[k * KERNELSMITH_LANES];
      }
      KERNELSMITH_UNROLL
      for (unsigned k = 0; k < kTogether; ++k)
        add(i + k * KERNELSMITH_LANES, static_cast<Real>(widened(c[k])), static_cast<Real>(widened(t[k])));
    }
    for (; i < length; i += KERNELSMITH_LANES)
      add(i, static_cast<Real>(widened(written[i])), static_cast<Real>(widened(truth[i])));
    found.squares += static_cast<double>(squares);
    if (static_cast<double>(worst) > found.worst_within) {
      found.worst_within = static_cast<double>(worst);
      if (found.worst_within > found.worst) {
        found.worst = found.worst_within;
        found.worst_at = first + begin + worst_at;
      }
    }
    if (all_within) continue;
    for (i = KERNELSMITH_LANE; i < length; i += KERNELSMITH_LANES) {
      const Real c = static_cast<Real>(widened(written[i])), t = static_cast<Real>(widened(truth[i]));
      const Real q = quotient(c, t, steep, shared, either);
      if (q <= 1) continue;
      count_beyond(written[i], truth[i], q, first + begin + i, per_element, poison, found, list, capacity);
    }
  }
  report(found, out);
}

/// Compares elements that must equal one of two answers, as words of their size.
template <class T>
KERNELSMITH_BOTH void look_bits(const T* actual, const T* one, const T* other, Count count, Count poison,
                                Found* out) {
  Found found;
  const Count step = KERNELSMITH_WAVES * KERNELSMITH_LANES;
  for (Count i = KERNELSMITH_WAVE * KERNELSMITH_LANES + KERNELSMITH_LANE; i < count; i += step) {
    if (actual[i] == one[i] || actual[i] == other[i]) continue;
    count_fault(found, is_poison(actual[i], poison) ? 2 : 0, i);
    found.worst = 2;  // A wrong integer has no size.
    if (i < found.worst_at) found.worst_at = i;
  }
  report(found, out);
}

/// The sum of words, each times a weight of its place, which SplitMix64 draws from the key. A change of words
/// by d goes unnoticed if the sum of d[i] * weight[i] is 0 modulo 2^64.
template <class T>
KERNELSMITH_BOTH void keyed_hash(const T* __restrict__ words, Count count, Count key, Count* out) {
  Count total = 0;
  const Count step = KERNELSMITH_WAVES * KERNELSMITH_LANES;
  for (Count from = KERNELSMITH_WAVE * KERNELSMITH_LANES + KERNELSMITH_LANE; from < count;
       from += kTogether * step) {
    T loaded[kTogether];
    KERNELSMITH_UNROLL
    for (unsigned k = 0; k < kTogether; ++k) loaded[k] = from + k * step < count ? words[from + k * step] : 0;
    KERNELSMITH_UNROLL
    for (unsigned k = 0; k < kTogether; ++k) {
      Count weight = (from + k * step) * 0x9E3779B97F4A7C15ULL + key;
      weight = (weight ^ (weight >> 30)) * 0xBF58476D1CE4E5B9ULL;
      weight = (weight ^ (weight >> 27)) * 0x94D049BB133111EBULL;
      total += loaded[k] * (weight ^ (weight >> 31));
    }
  }
  for (int other = KERNELSMITH_LANES / 2; other > 0; other /= 2) total += KERNELSMITH_FROM_LANE(total, other);
  if (KERNELSMITH_LANE == 0) out[KERNELSMITH_WAVE] = total;
}

}  // namespace kernelsmith::rule

#define KERNELSMITH_REAL_KERNELS(NAME, T)                                                                 \
  KERNELSMITH_KERNEL void kernelsmith_derive_##NAME(                                                      \
      const double* truth, const kernelsmith::rule::T* own, const kernelsmith::rule::T* low,              \
      kernelsmith::rule::Count count, kernelsmith::rule::Count row,                                       \
      const kernelsmith::rule::Derivation* how, kernelsmith::rule::T* values, double* blocks,             \
      kernelsmith::rule::Sums* sums) {                                                                    \
    kernelsmith::rule::derive(truth, own, low, count, row, how, values, blocks, sums);                    \
  }                                                                                                       \
  KERNELSMITH_KERNEL void kernelsmith_look_##NAME(                                                        \
      const kernelsmith::rule::T* actual, const kernelsmith::rule::T* values, const double* blocks,       \
      kernelsmith::rule::Count count, kernelsmith::rule::Count row, double on_value, unsigned either,     \
      unsigned per_element, kernelsmith::rule::Count poison, kernelsmith::rule::Count first,              \
      kernelsmith::rule::Found* out, kernelsmith::rule::Count* list, kernelsmith::rule::Count capacity) { \
    kernelsmith::rule::look(actual, values, blocks, count, row, on_value, either, per_element, poison,    \
                            first, out, list, capacity);                                                  \
  }
#define KERNELSMITH_WORD_KERNELS(BYTES, T)                                                         \
  KERNELSMITH_KERNEL void kernelsmith_look_bits_##BYTES(                                           \
      const T* actual, const T* one, const T* other, kernelsmith::rule::Count count,               \
      kernelsmith::rule::Count poison, kernelsmith::rule::Found* out) {                            \
    kernelsmith::rule::look_bits(actual, one, other, count, poison, out);                          \
  }                                                                                                \
  KERNELSMITH_KERNEL void kernelsmith_hash_##BYTES(const T* words, kernelsmith::rule::Count count, \
                                                   kernelsmith::rule::Count key,                   \
                                                   kernelsmith::rule::Count* out) {                \
    kernelsmith::rule::keyed_hash(words, count, key, out);                                         \
  }

// A device's program has the kernels of one type: KERNELSMITH_KERNELS_f32.
#define KERNELSMITH_KERNELS_f64 KERNELSMITH_REAL_KERNELS(f64, F64)
#define KERNELSMITH_KERNELS_f32 KERNELSMITH_REAL_KERNELS(f32, F32)
#define KERNELSMITH_KERNELS_f16 KERNELSMITH_REAL_KERNELS(f16, F16)
#define KERNELSMITH_KERNELS_bf16 KERNELSMITH_REAL_KERNELS(bf16, Bf16)
#define KERNELSMITH_KERNELS_f8e4m3 KERNELSMITH_REAL_KERNELS(f8e4m3, F8e4m3)
#define KERNELSMITH_KERNELS_f8e5m2 KERNELSMITH_REAL_KERNELS(f8e5m2, F8e5m2)
#define KERNELSMITH_KERNELS_1 KERNELSMITH_WORD_KERNELS(1, unsigned char)
#define KERNELSMITH_KERNELS_2 KERNELSMITH_WORD_KERNELS(2, unsigned short)
#define KERNELSMITH_KERNELS_4 KERNELSMITH_WORD_KERNELS(4, unsigned)
#define KERNELSMITH_KERNELS_8 KERNELSMITH_WORD_KERNELS(8, kernelsmith::rule::Count)
