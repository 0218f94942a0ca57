// What a search knows about the values of a program's knobs. This is plain data: the engine keeps it and a
// proposer learns from it, and neither needs to know how the code writes knobs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/digest.hpp>

namespace kernelsmith {

/// The index of each knob's value in its list.
using KnobPoint = std::vector<std::size_t>;

/// A knob that all programs of one structure have.
struct KnobList {
  std::string name;                 ///< empty if the code gives no name
  std::vector<std::string> values;  ///< at least one

  friend bool operator==(const KnobList&, const KnobList&) = default;
};

/// A program's knobs and their current values.
struct KnobSetting {
  Digest structure;             ///< digest of the program without the values of its knobs
  std::vector<KnobList> knobs;  ///< in order, at least one; equal structures have equal lists
  KnobPoint point;

  friend bool operator==(const KnobSetting&, const KnobSetting&) = default;
};

/// The result of a point.
struct KnobObservation {
  KnobPoint point;
  std::optional<double> fitness;  ///< the median, higher is better; empty for a rejection
  double deviation = 0;           ///< the standard deviation of the fitness

  friend bool operator==(const KnobObservation&, const KnobObservation&) = default;
};

/// Observations in their order. Copies share all but the last few: a search gives a copy to each tuned child
/// and keeps adding to its own.
class KnobObservations {
 public:
  KnobObservations() = default;
  KnobObservations(std::initializer_list<KnobObservation> list) {
    for (const KnobObservation& one : list) push_back(one);
  }

  std::size_t size() const { return chunks_.size() * kChunk + latest_.size() - skipped_; }
  const KnobObservation& operator[](std::size_t i) const {
    const std::size_t at = skipped_ + i, chunk = at / kChunk;
    return (chunk < chunks_.size() ? *chunks_[chunk] : latest_)[at % kChunk];
  }

  void push_back(KnobObservation one) {
    latest_.push_back(std::move(one));
    if (latest_.size() == kChunk)
      chunks_.push_back(std::make_shared<const Chunk>(std::exchange(latest_, {})));
  }
  void replace(std::size_t i, KnobObservation one) {
    const std::size_t at = skipped_ + i, chunk = at / kChunk;
    if (chunk == chunks_.size()) {
      latest_[at % kChunk] = std::move(one);
      return;
    }
    Chunk changed = *chunks_[chunk];  // shared with readers
    changed[at % kChunk] = std::move(one);
    chunks_[chunk] = std::make_shared<const Chunk>(std::move(changed));
  }

  /// The last `count` observations, or all.
  KnobObservations last(std::size_t count) const {
    const std::size_t first = skipped_ + size() - std::min(count, size());
    KnobObservations last;
    last.chunks_.assign(chunks_.begin() + static_cast<std::ptrdiff_t>(first / kChunk), chunks_.end());
    last.latest_ = latest_;
    last.skipped_ = first % kChunk;
    return last;
  }

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = KnobObservation;
    using difference_type = std::ptrdiff_t;
    using pointer = const KnobObservation*;
    using reference = const KnobObservation&;

    Iterator() = default;
    Iterator(const KnobObservations& all, std::size_t at) : all_(&all), at_(at) {}
    reference operator*() const { return (*all_)[at_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {*all_, at_++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const KnobObservations* all_ = nullptr;
    std::size_t at_ = 0;
  };
  using const_iterator = Iterator;
  using iterator = Iterator;
  using value_type = KnobObservation;
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  friend bool operator==(const KnobObservations& a, const KnobObservations& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  /// A chunk is small enough to be copied with each history, and large enough that a history is a short list
  /// of chunks.
  static constexpr std::size_t kChunk = 128;
  using Chunk = std::vector<KnobObservation>;

  std::vector<std::shared_ptr<const Chunk>> chunks_;  ///< full ones
  Chunk latest_;
  std::size_t skipped_ = 0;  ///< number of observations of the first chunk that are skipped
};

/// What is known about a structure when one of its programs is to be tuned.
struct KnobHistory {
  KnobObservations seen;           ///< observations in the order in which they took effect
  std::vector<KnobPoint> pending;  ///< proposed, and not judged yet
  std::size_t asked = 0;           ///< the number of children that were asked for and have not arrived
  /// Set while at most one program of the structure is known. It has for each knob the value in the best
  /// program of another structure that has the same knob (name and list). If there are several such
  /// structures, the one that shares the most knobs counts.
  std::vector<std::optional<std::size_t>> elsewhere;

  friend bool operator==(const KnobHistory&, const KnobHistory&) = default;
};

}  // namespace kernelsmith
