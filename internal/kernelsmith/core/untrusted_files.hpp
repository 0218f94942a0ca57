// Reads and writes files that somebody else may have made. It follows no links and never waits for ever.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// An Error for the errno `number` with the text "DOING: the system's message": `disk_full`, `permission`,
/// `not_found` or `io`.
Error system_error(std::string_view doing, const std::filesystem::path& path, int number);

/// Makes a folder and its parents. Refuses (`invalid_argument`) a path that begins with "~": only a shell
/// expands that, and only without quotes.
Status make_folders(const std::filesystem::path& folder);

/// Reads a regular file of at most `limit` bytes. A symbolic link, folder, pipe, device or larger file is
/// `bad_input`: it is not read, and opening it does not block. Other errors are system_error()'s.
Result<std::string> read_regular_file(const std::filesystem::path& path, std::size_t limit);

/// Reads a descriptor that was opened with O_NONBLOCK in the same way. `path` is for messages.
Result<std::string> read_regular_file(const Descriptor& file, const std::filesystem::path& path,
                                      std::size_t limit);

/// Removes the byte order mark that some editors put before UTF-8. Compilers ignore it, other readers do not.
void drop_byte_order_mark(std::string& text);

/// Refuses (`bad_input`) a text with a zero byte. Programs, archives and UTF-16 have zero bytes; source text
/// does not.
Status check_text(std::string_view bytes, const std::string& where);

enum class Flush { no, yes };

/// Writes a new file. An existing file or link of that name is removed first, not overwritten. After an Error
/// a part of the file may exist.
Status write_new_file(const std::filesystem::path& path, std::string_view bytes, Flush flush);

/// Replaces the file by a rename, so that a reader sees the old bytes or the new ones.
Status replace_file(const std::filesystem::path& path, std::string_view bytes, Flush flush = Flush::no);

/// Flushes a folder's entries to the disk.
Status flush_folder(const std::filesystem::path& folder);

}  // namespace kernelsmith
