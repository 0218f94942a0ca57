// Tensors in a safetensors file: a number of eight bytes, so many bytes of JSON, then the tensors' bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::arena {

struct StoredTensor {
  std::string dtype;  ///< the file's own name, such as "BF16"
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes after the header
};

/// Reads the JSON of a file with `room` bytes after its header. Errors: bad_input.
Result<std::map<std::string, StoredTensor>> parse_safetensors_header(std::string_view json,
                                                                     std::uint64_t room,
                                                                     const std::string& where);

/// The bytes of the tensor `key`, which must have this dtype (PyTorch's name) and shape. Errors: not_found,
/// io; bad_input for other tensors, for more than `most` bytes, and for a pointer of Git LFS in place of the
/// file.
Result<std::string> read_safetensor(const std::filesystem::path& file, const std::string& key,
                                    const std::string& dtype, const std::vector<std::int64_t>& shape,
                                    std::uint64_t most);

}  // namespace kernelsmith::arena
