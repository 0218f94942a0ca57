// Reads device images of clang's offloading compilers: a bundle of images for several targets in a section of
// the host's object. Each image is an ELF file with a note that describes its kernels in MessagePack. A
// candidate influences the bytes through the compiler, so they are parsed as untrusted data. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

#include "toolchain/image_facts.hpp"

namespace kernelsmith::cuda {

/// The names that one vendor's compiler uses in images and their notes.
struct CodeObjectFormat {
  std::uint16_t machine = 0;    ///< machine of the ELF file
  const char* section = "";     ///< section of the host's object with the bundle
  const char* target = "";      ///< prefix of the bundle's entry; the architecture follows
  const char* note_owner = "";  ///< "AMDGPU"
  std::uint32_t note_type = 0;  ///< type of the owner's notes
  const char* kernels = "";     ///< the key of the list of kernels
  const char *offset = "", *size = "", *kind = "";        ///< keys of a parameter
  const char *registers = "", *shared = "", *local = "";  ///< keys of a kernel
  const char* unknown_stack = "";                         ///< key for an unknown stack size; may be empty
};

/// The image for `arch` in a host object, in a bundle, or the image itself. Errors: bad_input.
Result<std::vector<std::byte>> find_image(std::span<const std::byte> bytes, const CodeObjectFormat& format,
                                          const std::string& arch);

/// Reads the kernels of an image. Hidden parameters, which the driver fills in, are left out. Errors:
/// bad_input.
Result<ImageFacts> read_code_object(std::span<const std::byte> image, const CodeObjectFormat& format);

}  // namespace kernelsmith::cuda
