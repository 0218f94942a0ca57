// The generated C++: the order of the entry's arguments, its types, and the generator's declaration.
#include "signature.hpp"

#include "testing.hpp"

namespace kernelsmith::cpu {
namespace {

Task gather() {
  Task task;
  task.entry = "gather";
  task.sizes = {{"cols", 2}, {"rows", 3}};
  task.size_order = {"rows", "cols"};
  task.tensors.resize(4);
  task.tensors[0].name = "x";
  task.tensors[1].name = "at";
  task.tensors[1].dtype = Dtype::i32;
  task.tensors[1].init = TensorInit::generated;
  task.tensors[2].name = "keep";
  task.tensors[2].dtype = Dtype::boolean;
  task.tensors[3].name = "y";
  task.tensors[3].role = TensorRole::out;
  return task;
}

TEST(Signature, HasTensorsThenSizesInTheTasksOrder) {
  Task task = gather();
  EXPECT_THAT(
      task_header(task, OraclePrecision::declared),
      HasSubstr("extern \"C\" void gather(const float* __restrict x, const std::int32_t* __restrict at, "
                "const bool* __restrict keep, float* __restrict y, std::int64_t rows, "
                "std::int64_t cols);"));
  task.size_order.clear();  // a task that a program made
  EXPECT_THAT(parameter_list(task), HasSubstr("std::int64_t cols, std::int64_t rows"));
}

TEST(Signature, DeclaresAGeneratorWhereThereIsOne) {
  Task task = gather();
  EXPECT_THAT(task_header(task, OraclePrecision::declared), Not(HasSubstr("gather_inputs")));
  task.inputs = Source::create({{"inputs.cpp", "//\n"}}).value();
  EXPECT_THAT(task_header(task, OraclePrecision::declared),
              HasSubstr("extern \"C\" void gather_inputs(const float* x, std::int32_t* at, const bool* keep, "
                        "std::int64_t rows, std::int64_t cols, std::uint64_t seed);"));
}

TEST(Signature, WidensRealsOnly) {
  EXPECT_EQ(element_bytes(Dtype::f32, OraclePrecision::declared), 4U);
  EXPECT_EQ(element_bytes(Dtype::f32, OraclePrecision::f64), sizeof(double));
  EXPECT_EQ(element_bytes(Dtype::f32, OraclePrecision::long_double), sizeof(long double));
  EXPECT_EQ(element_bytes(Dtype::i32, OraclePrecision::f64), 4U);
}

TEST(Signature, HasNoTypeForNarrowReals) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2})
    EXPECT_TRUE(cpp_type(dtype).empty()) << name_of(dtype);
}

}  // namespace
}  // namespace kernelsmith::cpu
