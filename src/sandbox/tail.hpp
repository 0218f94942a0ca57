// Tail: the last bytes of a stream, in bounded memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelsmith {

class Tail {
 public:
  explicit Tail(std::uint64_t kept) : kept_(kept) {}

  void add(std::string_view bytes) {
    seen_ += bytes.size();
    text_ += bytes;
    if (text_.size() > 2 * kept_) cut();
  }

  std::string take() {
    if (text_.size() > kept_) cut();
    return std::move(text_);
  }

  std::uint64_t seen() const { return seen_; }
  bool truncated() const { return seen_ > kept_; }

 private:
  void cut() { text_.erase(0, text_.size() - kept_); }

  std::uint64_t kept_, seen_ = 0;
  std::string text_;
};

}  // namespace kernelsmith
