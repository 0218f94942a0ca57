// Files that somebody else may have made: read and written without following links, and without waiting for
// ever.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// "DOING: what the system says of `number`" (an errno): `disk_full`, `permission`, `not_found` or `io`.
Error system_error(std::string_view doing, const std::filesystem::path& path, int number);

/// Makes a folder and those above it. Refuses (`invalid_argument`) one below "~": only a shell, and only
/// without quotes, knows whose home that is.
Status make_folders(const std::filesystem::path& folder);

/// All of a regular file of at most `limit` bytes. A symbolic link, folder, pipe, device or larger file is
/// `bad_input`: none of them is opened in a way that blocks, nor read. Otherwise as system_error().
Result<std::string> read_regular_file(const std::filesystem::path& path, std::size_t limit);

/// The same of a descriptor that was opened with O_NONBLOCK; `path` is for messages.
Result<std::string> read_regular_file(const Descriptor& file, const std::filesystem::path& path,
                                      std::size_t limit);

/// Takes away the mark that some editors put before UTF-8: compilers drop it, and other readers stumble.
void drop_byte_order_mark(std::string& text);

/// `bad_input` if it holds a zero byte, as programs, archives and UTF-16 do: then it is no source text.
Status check_text(std::string_view bytes, const std::string& where);

enum class Flush { no, yes };

/// Writes a file that was not there: what lies under the name, if only a link, is removed and not written to.
/// On an Error a part of it may be left.
Status write_new_file(const std::filesystem::path& path, std::string_view bytes, Flush flush);

/// Replaces the file by a rename, so that a reader sees the old bytes or the new ones.
Status replace_file(const std::filesystem::path& path, std::string_view bytes, Flush flush = Flush::no);

/// Flushes a folder's entries to the disk.
Status flush_folder(const std::filesystem::path& folder);

}  // namespace kernelsmith
