// The form of replies that is requested from a server: streams or plain replies. Calls request their own form
// until replies in that form are unreadable. Used on the client's thread.
#pragma once

namespace kernelsmith::llm {

class ReplyForm {
 public:
  /// After this many unreadable replies in a row the form changes: they are not an accident of the network,
  /// and each may be billed.
  static constexpr unsigned kMostInARow = 3;

  enum class Next {
    again,  ///< another attempt
    other,  ///< the next attempt tries the other form
    none,   ///< neither form can be read
  };

  /// Whether calls request the form that is not their own.
  bool is_other() const { return is_other_; }

  /// Whether no reply in the other form was read yet. Then one call tries that form, and other calls wait.
  bool is_trying() const { return is_trying_; }

  /// Records a readable reply; `other` says whether it has the other form. True if it is the first such
  /// reply.
  bool read(bool other) {
    in_a_row_ = 0;
    const bool first = is_trying_ && other;
    if (is_trying_ && !other) is_other_ = tried_ = false;  // the calls' own form works after all
    is_trying_ = false;
    return first;
  }

  /// Records an unreadable reply; `other` says whether it has the other form.
  Next unreadable(bool other) {
    if (other != is_other_) return Next::again;  // the reply was requested before the form changed
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
