// In which form a server is asked for its replies: as each call says, until replies in that form cannot be
// read. The client's own, on its thread.
#pragma once

namespace kernelsmith::llm {

class ReplyForm {
 public:
  /// So many replies in a row that cannot be read are no accident of the network, and may all be paid for.
  static constexpr unsigned kMostInARow = 3;

  enum class Next {
    again,  ///< another attempt
    other,  ///< the next attempt tries the other form
    none,   ///< neither form can be read
  };

  /// Whether calls ask for the other form than they say.
  bool is_other() const { return is_other_; }

  /// Whether nobody has read that form yet: then one call tries it, and the others wait.
  bool is_trying() const { return is_trying_; }

  /// A reply in that form was read. True if it is the first one in the other form.
  bool read(bool other) {
    in_a_row_ = 0;
    const bool first = is_trying_ && other;
    if (is_trying_ && !other) is_other_ = tried_ = false;  // the form works after all
    is_trying_ = false;
    return first;
  }

  /// One in that form could not be.
  Next unreadable(bool other) {
    if (other != is_other_) return Next::again;  // it was asked for before the form changed
    ++in_a_row_;
    if (is_trying_ || (tried_ && in_a_row_ >= kMostInARow)) return Next::none;
    if (in_a_row_ < kMostInARow) return Next::again;
    in_a_row_ = 0;
    is_other_ = is_trying_ = tried_ = true;
    return Next::other;
  }

 private:
  unsigned in_a_row_ = 0;
  bool is_other_ = false, is_trying_ = false, tried_ = false;
};

}  // namespace kernelsmith::llm
