// The fenced code blocks of a model's reply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith::detail {

/// A fenced block as it stands in the reply.
struct Fence {
  std::string info;    ///< what stands behind the opening fence
  std::string before;  ///< the last line with text before the fence
  std::string text;    ///< whole lines, each with its "\n"
  bool closed = false;
};

/// The fences of ``` or ~~~, three or more, in order. Line ends may be CRLF.
std::vector<Fence> find_fences(std::string_view reply);

/// The file that a fence is for, as its info string or the line before it names it: one of `known`, or
/// another word that can only be a file's path. Empty where nothing is named.
std::string path_of(const Fence& fence, const std::vector<std::string>& known);

}  // namespace kernelsmith::detail
