#include "toolchain/wide_reals.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace kernelsmith::cuda {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<std::string_view, 2> kPairsOfReals = {"__half2", "__nv_bfloat162"};

/// Functions whose double form has the name without "f", by their number of arguments.
constexpr std::array<std::string_view, 38> kUnary = {
    "exp",   "exp2",  "exp10", "expm1", "log",   "log2",  "log10",  "log1p",  "sqrt",   "cbrt",
    "rsqrt", "rcbrt", "sin",   "cos",   "tan",   "sinpi", "cospi",  "asin",   "acos",   "atan",
    "sinh",  "cosh",  "tanh",  "asinh", "acosh", "atanh", "erf",    "erfc",   "erfinv", "erfcx",
    "fabs",  "floor", "ceil",  "trunc", "rint",  "round", "tgamma", "normcdf"};
constexpr std::array<std::string_view, 9> kBinary = {"pow",   "fmax",     "fmin",  "fmod",     "fdim",
                                                     "atan2", "copysign", "hypot", "remainder"};
constexpr std::array<std::string_view, 6> kOthers = {"fma",   "ldexp",  "sincos",
                                                     "lrint", "lround", "nearbyint"};

/// Functions whose double form has another name.
constexpr std::array<Pair, 49> kRenamed = {{
    {"__expf", "expf"},
    {"__exp10f", "exp10f"},
    {"__logf", "logf"},
    {"__log2f", "log2f"},
    {"__log10f", "log10f"},
    {"__powf", "powf"},
    {"__sinf", "sinf"},
    {"__cosf", "cosf"},
    {"__tanf", "tanf"},
    {"__tanhf", "tanhf"},
    {"__sincosf", "sincos"},
    {"__saturatef", "kernelsmith_saturate"},
    {"__fdividef", "kernelsmith_divide"},
    {"__fdiv_rn", "__ddiv_rn"},
    {"__frcp_rn", "__drcp_rn"},
    {"__fsqrt_rn", "__dsqrt_rn"},
    {"__frsqrt_rn", "rsqrtf"},
    {"__fadd_rn", "__dadd_rn"},
    {"__fsub_rn", "__dsub_rn"},
    {"__fmul_rn", "__dmul_rn"},
    {"__fmaf_rn", "__fma_rn"},
    {"__float2int_rn", "__double2int_rn"},
    {"__float2int_rz", "__double2int_rz"},
    {"__float2int_rd", "__double2int_rd"},
    {"__float2int_ru", "__double2int_ru"},
    {"__float2uint_rn", "__double2uint_rn"},
    {"__float2uint_rz", "__double2uint_rz"},
    {"__float2ll_rn", "__double2ll_rn"},
    {"__float2ll_rz", "__double2ll_rz"},
    {"__int2float_rn", "__int2double_rn"},
    {"__uint2float_rn", "__uint2double_rn"},
    {"__ll2float_rn", "__ll2double_rn"},
    {"__double2float_rn", "kernelsmith_same"},
    {"__half2float", "kernelsmith_same"},
    {"__float2half", "kernelsmith_same"},
    {"__float2half_rn", "kernelsmith_same"},
    {"__double2half", "kernelsmith_same"},
    {"__bfloat162float", "kernelsmith_same"},
    {"__float2bfloat16", "kernelsmith_same"},
    {"__float2bfloat16_rn", "kernelsmith_same"},
    {"__double2bfloat16", "kernelsmith_same"},
    {"__half22float2", "kernelsmith_same"},
    {"__float22half2_rn", "kernelsmith_same"},
    {"__bfloat1622float2", "kernelsmith_same"},
    {"__float22bfloat162_rn", "kernelsmith_same"},
    {"__floats2half2_rn", "make_double2"},
    {"__floats2bfloat162_rn", "make_double2"},
    {"__halves2half2", "make_double2"},
    {"__halves2bfloat162", "make_double2"},
}};

struct HalfFunction {
  std::string_view name;
  std::size_t parameters;  ///< a, b and c
  std::string_view value;
};
/// Functions of __half and __nv_bfloat16. Their double forms have new names, because overloads of the
/// toolkit's functions would be ambiguous for some arguments.
constexpr std::array<HalfFunction, 22> kHalfFunctions = {{
    {"__hadd", 2, "a + b"},        {"__hsub", 2, "a - b"},      {"__hmul", 2, "a * b"},
    {"__hdiv", 2, "a / b"},        {"__hmax", 2, "fmax(a, b)"}, {"__hmin", 2, "fmin(a, b)"},
    {"__hfma", 3, "fma(a, b, c)"}, {"__hneg", 1, "-a"},         {"__habs", 1, "fabs(a)"},
    {"hexp", 1, "exp(a)"},         {"hexp2", 1, "exp2(a)"},     {"hlog", 1, "log(a)"},
    {"hlog2", 1, "log2(a)"},       {"hsqrt", 1, "sqrt(a)"},     {"hrsqrt", 1, "rsqrt(a)"},
    {"hrcp", 1, "1 / a"},          {"hsin", 1, "sin(a)"},       {"hcos", 1, "cos(a)"},
    {"htanh", 1, "tanh(a)"},       {"hfloor", 1, "floor(a)"},   {"hceil", 1, "ceil(a)"},
    {"hrint", 1, "rint(a)"},
}};
constexpr std::array<std::string_view, 4> kParameterLists = {"", "double a", "double a, double b",
                                                             "double a, double b, double c"};

std::string define(std::string_view name, std::string_view meaning) {
  return "#define " + std::string(name) + " " + std::string(meaning) + "\n";
}

std::string helper(std::string_view name, std::size_t parameters, std::string_view value,
                   std::string_view where = "__host__ __device__") {
  return std::string(where) + " inline double kernelsmith_" + std::string(name) + "(" +
         std::string(kParameterLists[parameters]) + ") { return " + std::string(value) + "; }\n";
}

/// Functions with double parameters, because the toolkit's overloads for float compute in float.
std::string helpers() {
  std::string text =
      "template <class T>\n__host__ __device__ inline T kernelsmith_same(T x) { return x; }\n"
      "__host__ __device__ inline double kernelsmith_same(float x) { return x; }\n";
  text += helper("divide", 2, "a / b") + helper("saturate", 1, "fmin(fmax(a, 0.0), 1.0)");
  for (const std::string_view name : kUnary) text += helper(name, 1, std::string(name) + "(a)");
  for (const std::string_view name : kBinary) text += helper(name, 2, std::string(name) + "(a, b)");
  for (const HalfFunction& half : kHalfFunctions)
    text += helper(half.name, half.parameters, half.value, "__device__");
  return text;
}

std::string vectors() {
  std::string text;
  for (const std::string_view count : {"1", "2", "3", "4"}) {
    text += define("float" + std::string(count), "double" + std::string(count));
    text += define("make_float" + std::string(count), "make_double" + std::string(count));
  }
  for (const std::string_view pair : kPairsOfReals) text += define(pair, "double2");
  return text;
}

}  // namespace

std::string wide_reals(const Dialect& dialect) {
  std::string text = "#include <cfloat>\n#include <cmath>\n#include <limits>\n" + helpers() + vectors();
  for (const std::string_view name : kUnary)
    text += define(std::string(name) + "f", "kernelsmith_" + std::string(name));
  for (const std::string_view name : kBinary)
    text += define(std::string(name) + "f", "kernelsmith_" + std::string(name));
  for (const std::string_view name : kOthers) text += define(std::string(name) + "f", name);
  for (const auto& [name, meaning] : kRenamed) text += define(name, meaning);
  for (const HalfFunction& half : kHalfFunctions)
    text += define(half.name, "kernelsmith_" + std::string(half.name));
  for (const std::string_view real : {dialect.half, dialect.bfloat, dialect.e4m3, dialect.e5m2})
    if (!real.empty()) text += define(real, "double");
  text += define("float", "double");
  // Without the header a candidate may use these names itself: int half = n / 2.
  text += "#ifdef __CUDA_FP16_H__\n" + define("half", "double") + define("half2", "double2") + "#endif\n";
  for (const std::string_view limit : {"MAX", "MIN", "EPSILON"}) {
    const std::string name(limit);
    text += "#undef FLT_" + name + "\n" + define("FLT_" + name, "DBL_" + name);
  }
  return text;
}

}  // namespace kernelsmith::cuda
