// Reading an SQLite file of unknown origin: read-only, nothing in its schema is
// trusted, and which tables and columns there are is asked, never assumed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace stallscope {

class SqliteTable;

/// A database that is only ever read. Views, triggers, virtual tables and
/// loadable code are switched off; a query that runs wild is stopped.
class SqliteReader {
 public:
  /// Errors: not readable, no SQLite file, its schema damaged.
  static Result<SqliteReader> open(const std::string& path);

  /// Whether there is an ordinary table of this name.
  bool has(std::string_view table) const { return tables_.contains(table); }
  const std::set<std::string, std::less<>>& tables() const { return tables_; }

  /// A pass over the rows of `table` with these columns; one that the table
  /// lacks reads as NULL. A table that is absent has no rows.
  SqliteTable rows(std::string_view table, std::span<const std::string_view> columns,
                   std::string_view order_by = {}) const;

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  struct Budget {
    uint64_t left = 0;  ///< progress callbacks until a query counts as run wild
  };
  std::unique_ptr<sqlite3, Closer> database_;
  std::unique_ptr<Budget> budget_;
  std::set<std::string, std::less<>> tables_;
};

/// Walks the rows of one table.
class SqliteTable {
 public:
  /// True when there is a next row. After the last, error() tells whether the
  /// table ended or broke off.
  bool next();
  /// Why the rows broke off; empty when they did not.
  const std::string& error() const { return error_; }
  /// Whether the table has this column.
  bool has(size_t column) const { return present_[column]; }

  /// An integer, also when it was stored as text or as a whole real number.
  std::optional<int64_t> integer(size_t column) const;
  std::optional<double> real(size_t column) const;
  /// Text, up to the next call of next(). Empty for NULL.
  std::string_view text(size_t column) const;

 private:
  friend class SqliteReader;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  std::vector<bool> present_;
  std::string error_;
};

}  // namespace stallscope
