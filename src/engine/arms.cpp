#include <cmath>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/engine/arms.hpp>

namespace kernelsmith {
namespace {

std::string text_of(const ArmSums& sums) {
  std::string text;
  for (const double one : {sums.tries, sums.accepted, sums.better, sums.gain, sums.usd, sums.tokens})
    text += " " + number_text(one);
  return text;
}

}  // namespace

const double ArmRecord::kHalfLife = 100;

ArmSums& ArmSums::operator+=(const ArmSums& other) {
  tries += other.tries;
  accepted += other.accepted;
  better += other.better;
  gain += other.gain;
  usd += other.usd;
  tokens += other.tokens;
  return *this;
}

ArmSums& ArmSums::operator*=(double factor) {
  tries *= factor;
  accepted *= factor;
  better *= factor;
  gain *= factor;
  usd *= factor;
  tokens *= factor;
  return *this;
}

void ArmRecord::add(const OperatorChoice& arm, const ArmSums& one_try) {
  static const double kept = std::exp2(-1 / kHalfLife);
  for (auto& [name, each] : arms_) each.lately *= kept;
  Arm& own = arms_[arm];
  own.all += one_try;
  own.lately += one_try;
}

Arm ArmRecord::total() const {
  Arm sum;
  for (const auto& [name, arm] : arms_) {
    sum.all += arm.all;
    sum.lately += arm.lately;
  }
  return sum;
}

std::string ArmRecord::to_text() const {
  std::string text;
  for (const auto& [name, arm] : arms_)
    text += "arm " + std::string(name_of(name.op)) + " \"" + name.model + "\"" + text_of(arm.all) +
            " lately" + text_of(arm.lately) + "\n";
  return text;
}

}  // namespace kernelsmith
