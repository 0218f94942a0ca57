
#include <kernelsmith/evaluator/entry_parameters.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

std::string exchanged(const std::string& text) {
  const ParameterGroups due = {{"x", "y"}, {"rows", "cols"}};
  return exchanged_parameters(Source::create({{"kernel.cpp", text}}).value(), "softmax", due);
}

TEST(EntryParameters, InAnotherOrderAreTold) {
  EXPECT_THAT(exchanged("extern \"C\" void softmax(const float* x, float* y, long cols, long rows) {}"),
              AllOf(HasSubstr("kernel.cpp defines softmax with (cols, rows)"),
                    HasSubstr("called with (rows, cols)")));
  EXPECT_THAT(exchanged("void softmax(float* y, const float* __restrict x, long rows, long cols) {}"),
              HasSubstr("(y, x)"));
  EXPECT_THAT(
      exchanged(
          "void softmax(const float* a, float* b,\n  long cols /* rows */, long rows, cudaStream_t s)\n{}"),
      HasSubstr("(cols, rows)"));
  EXPECT_THAT(
      exchanged("void softmax(const float*, float*, long, long);\n"
                "void call() { softmax(a, b, cols, rows); }\n"
                "void softmax(const float* x, float* y, long cols, long rows) { softmax(x, y, 1, 1); }"),
      HasSubstr("(cols, rows)"))
      << "the definition counts";
}

TEST(EntryParameters, InTheirOrderOrWithOtherNamesAreNot) {
  for (const char* text :
       {"void softmax(const float* x, float* y, long rows, long cols) {}",
        "void softmax(const float* in, float* out, long m, long n) {}",
        "void softmax(const float* x, float* y, long cols, long n) {}",
        "void softmax(const float*, float*, std::int64_t, std::int64_t) {}", "void softmax(float* y) {}",
        "void softmax(const float* x, float* y, long cols, long rows);",
        "// void softmax(float* x, float* y, long cols, long rows) {}\n", "void softmax(float* x", "",
        "void other(const float* x, float* y, long cols, long rows) {}"})
    EXPECT_THAT(exchanged(text), IsEmpty()) << text;
}

}  // namespace
}  // namespace kernelsmith
