// Device images as clang's offloading compilers leave them: a bundle of images for several targets, in a
// section of the host's object; each image an ELF file whose note holds its kernels as MessagePack. The bytes
// come out of a compiler that a candidate fed, so they are parsed as an adversary's words. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

#include "toolchain/image_facts.hpp"

namespace kernelsmith::cuda {

/// How one vendor's compiler names what is in it.
struct CodeObjectFormat {
  std::uint16_t machine = 0;                              ///< of the ELF file
  const char* section = "";                               ///< of the host's object, which holds the bundle
  const char* target = "";                                ///< of the bundle's entry; the architecture follows
  const char* note_owner = "";                            ///< "AMDGPU"
  std::uint32_t note_type = 0;                            ///< of the owner's notes
  const char* kernels = "";                               ///< the key of the list of kernels
  const char *offset = "", *size = "", *kind = "";        ///< keys of a parameter
  const char *registers = "", *shared = "", *local = "";  ///< keys of a kernel
  const char* unknown_stack = "";  ///< key: whether the stack's size is not known; may be empty
};

/// The image for `arch` in a host object, in a bundle, or the image itself. Errors: bad_input.
Result<std::vector<std::byte>> find_image(std::span<const std::byte> bytes, const CodeObjectFormat& format,
                                          const std::string& arch);

/// What an image says of its kernels. Hidden parameters, which the driver fills in, are left out. Errors:
/// bad_input.
Result<ImageFacts> read_code_object(std::span<const std::byte> image, const CodeObjectFormat& format);

}  // namespace kernelsmith::cuda
