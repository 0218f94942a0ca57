// The form of replies that is requested from a server: the call's own until replies in that form are
// unreadable. Used on the client's thread.
#pragma once

namespace kernelsmith::llm {

class ReplyForm {
 public:
  /// This many unreadable replies in a row are not an accident of the network, and all may be billed.
  static constexpr unsigned kMostInARow = 3;

  enum class Next {
    again,  ///< another attempt
    other,  ///< the next attempt tries the other form
    none,   ///< neither form can be read
  };

  /// Whether calls request the other form than their own.
  bool is_other() const { return is_other_; }

  /// Whether that form was not read yet; then one call tries it and the others wait.
  bool is_trying() const { return is_trying_; }

  /// Records a readable reply in that form. True if it is the first one in the other form.
  bool read(bool other) {
    in_a_row_ = 0;
    const bool first = is_trying_ && other;
    if (is_trying_ && !other) is_other_ = tried_ = false;  // the form works after all
    is_trying_ = false;
    return first;
  }

  /// Records an unreadable reply in that form.
  Next unreadable(bool other) {
    if (other != is_other_) return Next::again;  // it was requested before the form changed
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
