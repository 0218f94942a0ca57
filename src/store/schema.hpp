// The layout of run.db and its version; docs/formats.md explains it.
#pragma once

#include <string_view>

#include "sqlite.hpp"

namespace kernelsmith::detail {

/// Format 2 has a checksum for each event; runs of format 1 have none, and get none.
Result<bool> has_checksums(const Database& database);

/// Makes the tables of a new database.
Status create_schema(Database& database, std::string_view run_id);

/// Refuses a database that is not ours or holds anything but our tables as we make them (`corrupt`), or of
/// another format (`version`).
Status check_schema(const Database& database, const std::filesystem::path& file);

}  // namespace kernelsmith::detail
