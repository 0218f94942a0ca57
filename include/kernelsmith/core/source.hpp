// Source: the candidate's files, usually one.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// One file of a candidate: a relative path with forward slashes, and its text.
struct SourceFile {
  std::string path;
  std::string text;

  friend auto operator<=>(const SourceFile&, const SourceFile&) = default;
};

/// A candidate's files, in order. Immutable; safe to share between threads.
class Source {
 public:
  /// An empty source.
  Source() = default;

  /// Refuses (`bad_input`) a path that is empty, absolute or a duplicate, or that contains "..", a backslash
  /// or a control byte: paths come from model replies.
  static Result<Source> create(std::vector<SourceFile> files);

  const std::vector<SourceFile>& files() const { return files_; }
  bool empty() const { return files_.empty(); }

  /// The file with that path, or null.
  const SourceFile* find(std::string_view path) const;

  /// The first file's text, or an empty text.
  std::string_view main_text() const;

  /// The number of bytes of all texts.
  std::size_t bytes() const;

  /// The digest of all paths and texts, in order.
  Digest digest() const;

  friend bool operator==(const Source&, const Source&) = default;

 private:
  std::vector<SourceFile> files_;
};

}  // namespace kernelsmith
