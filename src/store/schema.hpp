// The layout of run.db and its version; docs/formats.md explains it.
#pragma once

#include <string_view>

#include "sqlite.hpp"

namespace kernelsmith::detail {

/// Whether events have checksums. Format 2 has one for each event. Runs of format 1 have none and get none.
Result<bool> has_checksums(const Database& database);

/// Makes the tables of a new database.
Status create_schema(Database& database, std::string_view run_id);

/// Refuses a database that is not ours or that has anything but our tables exactly as we make them
/// (`corrupt`), and a database of another format (`version`).
Status check_schema(const Database& database, const std::filesystem::path& file);

}  // namespace kernelsmith::detail
