#include "foreign_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>

namespace kernelsmith::task {
namespace {

/// Synonyms, separated by spaces.
struct Name {
  std::string_view ours, others;
};

constexpr std::array<Name, 12> kDtypes = {
    {{"f64", " double float64 fp64 "},
     {"f32", " float float32 fp32 single "},
     {"f16", " half float16 fp16 __half "},
     {"bf16", " bfloat16 bfloat __nv_bfloat16 "},
     {"f8e4m3", " e4m3 e4m3fn float8_e4m3 float8_e4m3fn fp8_e4m3 "},
     {"f8e5m2", " e5m2 float8_e5m2 fp8_e5m2 "},
     {"i64", " int64 s64 long longlong long_long "},
     {"i32", " int int32 s32 integer "},
     {"i8", " int8 s8 char signed_char "},
     {"u8", " uint8 byte uchar unsigned_char "},
     {"bool", " boolean bool_ bool8 "},
     // Types that we lack, so none of our names is suggested for them.
     {"",
      " i16 int16 short u16 uint16 u32 uint32 uint unsigned u64 uint64 ulong size f8 fp8 float8 i4 int4 u4 "
      "uint4 i128 u128 f128 float128 complex64 complex128 tf32 "}}};

constexpr std::array<Name, 3> kRoles = {
    {{"in", " input inputs read readonly const source src argument "},
     {"out", " output outputs write writeonly result return destination dst "},
     {"inout", " in_out input_output io rw readwrite read_write inplace in_place mutable "}}};

constexpr std::array<Name, 7> kInits = {{{"normal", " randn gaussian gauss standard_normal "},
                                         {"uniform", " rand random "},
                                         {"integer", " int integers randint "},
                                         {"range", " label labels index indices arange "},
                                         {"offsets", " indptr row_ptr rowptr row_offsets crow_indices csr "},
                                         {"permutation", " randperm perm shuffle shuffled permuted "},
                                         {"one_hot", " onehot "}}};

constexpr std::array<Name, 3> kBounds = {{{"low", " min minimum lower from begin start "},
                                          {"high", " max maximum upper to end stop "},
                                          {"offsets", " indptr row_ptr rowptr "}}};

constexpr std::array<Name, 3> kToleranceKeys = {
    {{"rtol", " relative relative_tolerance rel_tol reltol r_tol relative_error eps epsilon "},
     {"atol", " absolute absolute_tolerance abs_tol abstol a_tol absolute_error "},
     {"policy", " kind mode type method "}}};

constexpr std::array<Name, 4> kPolicies = {{{"auto", " automatic default budget "},
                                            {"exact", " bitwise bit_exact equal identical "},
                                            {"normwise", " norm l2 rms frobenius "},
                                            {"allclose", " isclose close rtol atol "}}};

std::optional<std::string_view> ours_for(const std::string& word, std::span<const Name> names) {
  const auto means = [&](const Name& name) { return name.others.find(" " + word + " ") != name.others.npos; };
  const auto found = std::ranges::find_if(names, means);
  return found == names.end() ? std::nullopt : std::optional(found->ours);
}

/// In small letters, with _ for spaces and hyphens: "Unsigned Char" is unsigned_char.
std::string plain(std::string_view word) {
  std::string text;
  for (const char c : word)
    text += c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::optional<std::string_view> dtype_meant_by(std::string_view word) {
  // The part after the last . or : of torch.float32, std::int64_t and the like.
  if (const auto scope = word.find_last_of(".:"); scope != word.npos) word.remove_prefix(scope + 1);
  std::string name = plain(word);
  if (name.ends_with("_t")) name.resize(name.size() - 2);
  return ours_for(name, kDtypes);
}

std::optional<std::string_view> role_meant_by(std::string_view word) { return ours_for(plain(word), kRoles); }

std::optional<std::string_view> init_meant_by(std::string_view word) { return ours_for(plain(word), kInits); }

std::optional<std::string_view> bound_meant_by(std::string_view word) {
  return ours_for(plain(word), kBounds);
}

std::optional<std::string_view> tolerance_key_meant_by(std::string_view word) {
  return ours_for(plain(word), kToleranceKeys);
}

std::optional<std::string_view> policy_meant_by(std::string_view word) {
  return ours_for(plain(word), kPolicies);
}

}  // namespace kernelsmith::task
