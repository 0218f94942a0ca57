// An oracle whose reference is a C++ lambda, run in float, double or long double: what the truth makes of a
// reference is tested without a compiler or a sandbox.
#pragma once

#include <cstring>
#include <span>

#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

#include "testing.hpp"
#include "truth/elements.hpp"

namespace kernelsmith::fake {

/// One call of the reference, which computes with R's.
template <class R>
struct Call {
  using Real = R;
  /// Whether this is the reference in its own precision. For a task of f64 this is known by R = double.
  bool declared = false;
  std::size_t shape = 0;
  std::vector<std::vector<Real>> reals;             ///< by tensor; empty if it holds integers
  std::vector<std::vector<std::int64_t>> integers;  ///< by tensor; empty if it holds reals
  Status status;                                    ///< what the oracle answers

  const std::vector<Real>& in(std::size_t tensor) const { return reals[tensor]; }
  std::vector<Real>& out(std::size_t tensor) { return reals[tensor]; }
};

inline bool has_f64(const Task& task) {
  for (const TensorSpec& tensor : task.tensors)
    if (tensor.dtype == Dtype::f64) return true;
  return false;
}

/// `Function` takes a Call<Real>& of any Real, reads and writes its tensors.
template <class Function>
class FakeOracle final : public Oracle {
 public:
  FakeOracle(std::shared_ptr<const Task> task, OraclePrecision precision, Function function)
      : task_(std::move(task)),
        shapes_(shapes_of(*task_)),
        precision_(precision),
        function_(std::move(function)),
        buffers_(task_->tensors.size()) {}

  OraclePrecision precision() const override { return precision_; }

  std::span<std::byte> input(std::size_t shape, std::size_t tensor) override {
    buffers_[tensor].resize(bytes(shape, tensor));
    return buffers_[tensor];
  }

  Status answer(std::size_t shape) override {
    if (precision_ == OraclePrecision::long_double) return run<long double>(shape);
    if (precision_ == OraclePrecision::f64 || has_f64(*task_)) return run<double>(shape);
    return run<float>(shape);
  }

  std::span<const std::byte> output(std::size_t, std::size_t tensor) override { return buffers_[tensor]; }

 private:
  const TensorSpec& spec(std::size_t tensor) const { return task_->tensors[tensor]; }
  bool is_real(std::size_t tensor) const { return traits_of(spec(tensor).dtype).real; }

  /// Calls `visit` with an element of the type that the buffer holds.
  template <class Visit>
  void visit_elements(std::size_t tensor, const Visit& visit) const {
    if (is_real(tensor) && precision_ == OraclePrecision::f64) return visit(double{});
    if (is_real(tensor) && precision_ == OraclePrecision::long_double) return visit(0.0L);
    truth::visit_dtype(spec(tensor).dtype, visit);
  }

  std::size_t bytes(std::size_t shape, std::size_t tensor) const {
    std::size_t size = 0;
    visit_elements(tensor, [&]<class T>(T) { size = sizeof(T); });
    return shapes_[shape].extents[tensor].elements * size;
  }

  template <class Real>
  Status run(std::size_t shape) {
    Call<Real> call;
    call.declared = precision_ == OraclePrecision::declared;
    call.shape = shape;
    call.reals.resize(buffers_.size());
    call.integers.resize(buffers_.size());
    for (std::size_t t = 0; t < buffers_.size(); ++t) {
      if (spec(t).role == TensorRole::out) buffers_[t].assign(bytes(shape, t), std::byte{0});
      take(t, call);
    }
    function_(call);
    for (std::size_t t = 0; t < buffers_.size(); ++t)
      if (spec(t).role != TensorRole::in) put(t, call);
    return call.status;
  }

  template <class Real>
  void take(std::size_t tensor, Call<Real>& call) const {
    visit_elements(tensor, [&]<class T>(T) {
      for (std::size_t i = 0; i < buffers_[tensor].size() / sizeof(T); ++i) {
        const auto value = truth::widened(truth::load<T>(buffers_[tensor].data(), i));
        if (is_real(tensor))
          call.reals[tensor].push_back(static_cast<Real>(value));
        else
          call.integers[tensor].push_back(static_cast<std::int64_t>(value));
      }
    });
  }

  template <class Real>
  void put(std::size_t tensor, const Call<Real>& call) {
    visit_elements(tensor, [&]<class T>(T) {
      for (std::size_t i = 0; i < buffers_[tensor].size() / sizeof(T); ++i) {
        if constexpr (truth::RealType<T>)
          truth::store(buffers_[tensor].data(), i, truth::element_from<T>(call.reals[tensor][i]));
        else if constexpr (std::is_same_v<T, truth::Boolean>)
          truth::store(buffers_[tensor].data(), i,
                       T{static_cast<std::uint8_t>(call.integers[tensor][i] != 0 ? 1 : 0)});
        else
          truth::store(buffers_[tensor].data(), i, static_cast<T>(call.integers[tensor][i]));
      }
    });
  }

  std::shared_ptr<const Task> task_;
  std::vector<TaskShape> shapes_;
  OraclePrecision precision_;
  Function function_;
  std::vector<std::vector<std::byte>> buffers_;  ///< by tensor; of the last shape that was asked for
};

/// The oracles of a task whose reference is `function`.
template <class Function>
OracleFactory oracles_of(const Task& task, const Function& function) {
  return [shared = std::make_shared<const Task>(task), function](const std::stop_token&) -> Result<Oracles> {
    Oracles oracles;
    oracles.declared = std::make_unique<FakeOracle<Function>>(shared, OraclePrecision::declared, function);
    if (const OraclePrecision precision = truth_precision(*shared); precision != OraclePrecision::declared)
      oracles.wide = std::make_unique<FakeOracle<Function>>(shared, precision, function);
    return oracles;
  };
}

inline TensorSpec tensor(std::string name, TensorRole role, std::vector<std::string> shape,
                         Dtype dtype = Dtype::f32, TensorInit init = TensorInit::normal) {
  TensorSpec spec;
  spec.name = std::move(name);
  spec.role = role;
  spec.dtype = dtype;
  spec.shape = std::move(shape);
  spec.init = init;
  return spec;
}

inline Task task_of(std::vector<TensorSpec> tensors, std::vector<Sizes> timed,
                    std::vector<Sizes> check = {}) {
  Task task;
  task.name = "test";
  task.tensors = std::move(tensors);
  task.timed = std::move(timed);
  task.check = std::move(check);
  for (const auto& [name, value] : task.timed.front()) task.size_order.push_back(name);
  return task;
}

template <class T>
Bytes bytes_from(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace kernelsmith::fake
