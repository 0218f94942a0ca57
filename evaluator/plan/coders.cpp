// The functions of Reader that do not depend on what it reads.
#include <kernelsmith/evaluator/plan_coders.hpp>

#include "plan/text.hpp"

namespace kernelsmith::plan {
namespace {

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void Reader::refuse(std::string what) {
  if (!error_) error_ = fail(ErrorCode::bad_input, std::move(what), "byte " + std::to_string(last_));
}

std::span<const std::byte> Reader::next(std::size_t count) {
  last_ = at_;
  if (error_) return {};
  if (count > bytes_.size() - at_) {
    refuse("the plan ends too early");
    return {};
  }
  at_ += count;
  return bytes_.subspan(last_, count);
}

std::size_t Reader::length(std::size_t most) {
  std::uint32_t count = 0;
  number(count);
  if (count > most) refuse("a count of " + std::to_string(count) + "; at most " + std::to_string(most));
  if (count > bytes_.size() - at_) refuse("a count of " + std::to_string(count) + ", past the plan's end");
  return error_ ? 0 : count;
}

void Reader::flag(bool& value) {
  std::uint8_t byte = 0;
  number(byte);
  if (byte > 1) refuse("a flag that is neither 0 nor 1");
  value = byte == 1;
}

void Reader::real(double& value) {
  std::uint64_t bits = 0;
  number(bits);
  value = std::bit_cast<double>(bits);
}

void Reader::magic(std::string_view text) {
  if (characters(next(text.size())) != text)
    refuse("not a plan: it does not begin with " + std::string(text));
}

void Reader::text(std::string& value, std::size_t most) { value = characters(next(length(most))); }

void Reader::bytes(std::vector<std::byte>& value, std::size_t most) {
  const auto part = next(length(most));
  value.assign(part.begin(), part.end());
}

void Reader::pairs(std::map<int, int>& values, std::size_t most) {
  const std::size_t count = length(most);
  for (std::size_t i = 0; i < count && !error_; ++i) {
    int key = 0;
    number(key);
    number(values[key]);
  }
}

Status Reader::finish() {
  last_ = at_;
  if (at_ != bytes_.size()) refuse(counted(bytes_.size() - at_, "byte") + " after the plan's end");
  if (error_) return *error_;
  return {};
}

}  // namespace kernelsmith::plan
