// What a model says of its change before it gives the code.
#pragma once

#include <string>
#include <string_view>

namespace kernelsmith::memory {

/// The first two sentences of a reply, on one line; empty if code comes first, or if they are longer than 400
/// bytes or hold a tag, as thoughts do.
std::string first_sentences(std::string_view reply);

}  // namespace kernelsmith::memory
