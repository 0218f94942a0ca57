#include "safetensors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/untrusted_files.hpp>

#include "arena_schema.hpp"
#include "arena_words.hpp"

namespace kernelsmith::arena {
namespace {

constexpr std::string_view kPointer = "version https://git-lfs";
constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeader = std::uint64_t{16} << 20;  // some hundred thousand tensors

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kStoredDtypes = {
    {{"F64", "float64"},
     {"F32", "float32"},
     {"F16", "float16"},
     {"BF16", "bfloat16"},
     {"F8_E4M3", "float8_e4m3fn"},
     {"F8_E5M2", "float8_e5m2"},
     {"I64", "int64"},
     {"I32", "int32"},
     {"I16", "int16"},
     {"I8", "int8"},
     {"BOOL", "bool"}}};

std::string_view torch_name(std::string_view stored) {
  for (const auto& [name, torch] : kStoredDtypes)
    if (name == stored) return torch;
  return stored;
}

bool is_count(const nlohmann::json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{1} << 53;
}

bool are_counts(const nlohmann::json& value) {
  return value.is_array() && std::ranges::all_of(value, is_count);
}

bool is_entry(const nlohmann::json& value, std::uint64_t room) {
  if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() ||
      !value.contains("shape") || !are_counts(value["shape"]) || !value.contains("data_offsets"))
    return false;
  const nlohmann::json& offsets = value["data_offsets"];
  return are_counts(offsets) && offsets.size() == 2 && offsets[0] <= offsets[1] &&
         offsets[1].get<std::uint64_t>() <= room;
}

/// `count` bytes from `at` on.
Result<std::string> read_part(std::ifstream& in, std::uint64_t at, std::uint64_t count,
                              const std::string& where) {
  std::string bytes(count, '\0');
  in.clear();
  in.seekg(static_cast<std::streamoff>(at));
  in.read(bytes.data(), static_cast<std::streamsize>(count));
  if (static_cast<std::uint64_t>(in.gcount()) != count)
    return fail(ErrorCode::io, "the file ends too early", where);
  return bytes;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

Result<std::map<std::string, StoredTensor>> parse_safetensors_header(std::string_view json,
                                                                     std::uint64_t room,
                                                                     const std::string& where) {
  const auto header = nlohmann::json::parse(json, nullptr, false);
  if (!header.is_object()) return fail(ErrorCode::bad_input, "this is not a safetensors file", where);
  std::map<std::string, StoredTensor> tensors;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    if (!is_entry(value, room))
      return fail(ErrorCode::bad_input, "the entry of '" + name + "' is broken", where);
    StoredTensor tensor{.dtype = value["dtype"],
                        .shape = value["shape"],
                        .begin = value["data_offsets"][0],
                        .end = value["data_offsets"][1]};
    tensors.emplace(name, std::move(tensor));
  }
  return tensors;
}

Result<std::string> read_safetensor(const std::filesystem::path& file, const std::string& key,
                                    const std::string& dtype, const std::vector<std::int64_t>& shape,
                                    std::uint64_t most) {
  const std::string where = file.string();
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(file, error);
  if (error) return system_error("the file cannot be read", file, error.value());
  std::ifstream in(file, std::ios::binary);
  if (!in) return system_error("the file cannot be opened", file, errno);
  if (size < kLengthBytes) return fail(ErrorCode::bad_input, "this is not a safetensors file", where);
  const auto start = read_part(in, 0, std::min<std::uint64_t>(size, kPointer.size()), where);
  if (!start) return start.error();
  if (*start == kPointer)
    return fail(ErrorCode::bad_input, "this is a pointer of Git LFS, not the file itself", where,
                "run `git lfs pull` in the data set");
  const std::uint64_t length = little_endian(std::string_view(*start).substr(0, kLengthBytes));
  if (length > std::min(kMostHeader, size - kLengthBytes))
    return fail(ErrorCode::bad_input, "this is not a safetensors file", where);
  const std::uint64_t body = kLengthBytes + length;
  const auto json = read_part(in, kLengthBytes, length, where);
  if (!json) return json.error();
  const auto tensors = parse_safetensors_header(*json, size - body, where);
  if (!tensors) return tensors.error();
  const auto found = tensors->find(key);
  if (found == tensors->end())
    return fail(ErrorCode::bad_input, "the file has no tensor '" + key + "'", where);
  const StoredTensor& tensor = found->second;
  if (torch_name(tensor.dtype) != dtype || tensor.shape != shape)
    return fail(ErrorCode::bad_input,
                "'" + key + "' is " + std::string(torch_name(tensor.dtype)) + "[" + in_list(tensor.shape) +
                    "]; the definition says " + dtype + "[" + in_list(shape) + "]",
                where);
  double due = element_bytes(dtype);
  for (const std::int64_t extent : shape) due *= static_cast<double>(extent);
  if (static_cast<double>(tensor.end - tensor.begin) != due)
    return fail(ErrorCode::bad_input, "'" + key + "' has more or fewer bytes than its shape", where);
  if (tensor.end - tensor.begin > most)
    return fail(ErrorCode::bad_input,
                "'" + key + "' has " + std::to_string(tensor.end - tensor.begin) +
                    " bytes, and a task keeps values of at most " + std::to_string(most),
                where, "choose a smaller workload (--workload)");
  return read_part(in, body + tensor.begin, tensor.end - tensor.begin, where);
}

}  // namespace kernelsmith::arena
