#include "import/sqlite_reader.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>

#include "import/decimal_time.h"

namespace stallscope {
namespace {

constexpr int kStepsPerCallback = 100'000;
// A full scan of a row costs some tens of steps and a row some tens of bytes:
// several times the file's size in steps is more than any honest table needs.
constexpr uint64_t kStepsPerByte = 50;
constexpr uint64_t kLeastSteps = 1'000'000'000;
constexpr int kMaxValueBytes = 64 << 20;

// "file:" with what would end the path escaped. immutable: no locks, no journal
// is written beside the file or replayed into it.
std::string read_only_uri(const std::string& path) {
  std::string uri = "file:";
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      const auto byte = static_cast<unsigned char>(c);
      uri += '%';
      uri += kHex[byte >> 4];
      uri += kHex[byte & 15];
    } else {
      uri += c;
    }
  }
  return uri + "?mode=ro&immutable=1";
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + "\"";
}

void distrust(sqlite3* database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 64);
  sqlite3_limit(database, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

}  // namespace

void SqliteReader::Closer::operator()(sqlite3* database) const {
  sqlite3_close(database);
}
void SqliteTable::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<SqliteReader> SqliteReader::open(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return Error{.message = "is not a regular file", .file = path};
  SqliteReader reader;
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(read_only_uri(path).c_str(), &opened,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  reader.database_.reset(opened);
  if (code != SQLITE_OK)
    return Error{.message = std::string("cannot be opened: ") + sqlite3_errstr(code), .file = path};
  distrust(opened);
  const uint64_t steps =
      std::max(kLeastSteps, static_cast<uint64_t>(status.st_size) * kStepsPerByte);
  reader.budget_ = std::make_unique<Budget>(Budget{steps / kStepsPerCallback});
  sqlite3_progress_handler(
      opened, kStepsPerCallback,
      [](void* budget) { return static_cast<Budget*>(budget)->left-- == 0 ? 1 : 0; },
      reader.budget_.get());

  // rootpage is 0 for views and virtual tables.
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(opened,
                         "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0", -1,
                         &raw, nullptr) != SQLITE_OK)
    return Error{.message = std::string("is a damaged SQLite file: ") + sqlite3_errmsg(opened),
                 .file = path};
  const std::unique_ptr<sqlite3_stmt, SqliteTable::Finalizer> statement(raw);
  int step;
  while ((step = sqlite3_step(raw)) == SQLITE_ROW)
    if (const unsigned char* name = sqlite3_column_text(raw, 0))
      reader.tables_.emplace(reinterpret_cast<const char*>(name));
  if (step != SQLITE_DONE)
    return Error{.message = std::string("is a damaged SQLite file: ") + sqlite3_errmsg(opened),
                 .file = path};
  return reader;
}

SqliteTable SqliteReader::rows(std::string_view table, std::span<const std::string_view> columns,
                               std::string_view order_by) const {
  SqliteTable result;
  result.present_.assign(columns.size(), false);
  if (!has(table)) return result;
  const auto prepare = [&](const std::string& sql) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.c_str(), static_cast<int>(sql.size()), &raw,
                           nullptr) != SQLITE_OK) {
      result.error_ = sqlite3_errmsg(database_.get());
      return false;
    }
    result.statement_.reset(raw);
    return true;
  };
  if (!prepare("SELECT * FROM " + quoted(table) + " LIMIT 0")) return result;
  std::set<std::string, std::less<>> existing;
  for (int i = 0; i < sqlite3_column_count(result.statement_.get()); ++i)
    if (const char* name = sqlite3_column_name(result.statement_.get(), i)) existing.insert(name);
  std::string sql = "SELECT ";
  for (size_t i = 0; i < columns.size(); ++i) {
    result.present_[i] = existing.contains(columns[i]);
    sql += i == 0 ? "" : ", ";
    sql += result.present_[i] ? quoted(columns[i]) : "NULL";
  }
  sql += " FROM " + quoted(table);
  if (!order_by.empty()) sql += " ORDER BY " + std::string(order_by);
  prepare(sql);
  return result;
}

bool SqliteTable::next() {
  if (!statement_ || !error_.empty()) return false;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) error_ = sqlite3_errmsg(sqlite3_db_handle(statement_.get()));
  return false;
}

std::optional<int64_t> SqliteTable::integer(size_t column) const {
  const int index = static_cast<int>(column);
  switch (sqlite3_column_type(statement_.get(), index)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement_.get(), index);
    case SQLITE_FLOAT: {
      const double value = sqlite3_column_double(statement_.get(), index);
      constexpr double kLimit = 9.2e18;
      if (!(value > -kLimit && value < kLimit)) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    case SQLITE_TEXT:
      return parse_integer(text(column));
    default:
      return std::nullopt;
  }
}

std::optional<double> SqliteTable::real(size_t column) const {
  const int index = static_cast<int>(column);
  const int type = sqlite3_column_type(statement_.get(), index);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
  return sqlite3_column_double(statement_.get(), index);
}

std::string_view SqliteTable::text(size_t column) const {
  const int index = static_cast<int>(column);
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), index));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), index))};
}

}  // namespace stallscope
