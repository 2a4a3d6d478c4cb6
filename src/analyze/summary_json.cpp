#include "analyze/summary_json.h"

#include <nlohmann/json.hpp>

#include "analyze/summary_fields.h"

namespace stallscope {
namespace {

/// Changes when a summary of an older version cannot be read any more.
constexpr int kSummaryVersion = 3;

/// Writes members into a JSON object.
class Writer {
 public:
  explicit Writer(Json& json) : json_(json) {}
  template <typename T>
  void operator()(const char* name, const T& value) {
    json_[name] = write(value);
  }

 private:
  template <typename T>
  static Json write(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<int>(value);
    } else if constexpr (Described<T>) {
      Json json = Json::object();
      Writer writer(json);
      describe(writer, const_cast<T&>(value));  // a writer changes nothing
      return json;
    } else if constexpr (IsList<T>) {
      Json json = Json::array();
      for (const auto& item : value) json.push_back(write(item));
      return json;
    } else if constexpr (IsPair<T>) {
      return Json::array({write(value.first), write(value.second)});
    } else {
      return value;
    }
  }
  Json& json_;
};

/// Reads members out of a JSON object; a missing or wrong one throws.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}
  template <typename T>
  void operator()(const char* name, T& value) {
    try {
      read(json_.at(name), value);
    } catch (const Json::exception& error) {
      throw std::runtime_error(std::string(name) + ": " + error.what());
    }
  }

 private:
  template <typename T>
  static void read(const Json& json, T& value) {
    if constexpr (std::is_enum_v<T>) {
      const int number = json.get<int>();
      if (number < 0 || number > limit_of(value))
        throw std::runtime_error("unknown value " + std::to_string(number));
      value = static_cast<T>(number);
    } else if constexpr (Described<T>) {
      Reader reader(json);
      describe(reader, value);
    } else if constexpr (IsArray<T>) {
      if (!json.is_array() || json.size() != value.size())
        throw std::runtime_error("wrong number of items");
      for (size_t i = 0; i < value.size(); ++i) read(json[i], value[i]);
    } else if constexpr (IsMap<T>) {
      if (!json.is_array()) throw std::runtime_error("no list");
      for (const Json& item : json) {
        std::pair<typename T::key_type, typename T::mapped_type> entry;
        read(item, entry);
        value.insert(std::move(entry));
      }
    } else if constexpr (IsList<T>) {
      if (!json.is_array()) throw std::runtime_error("no list");
      for (const Json& item : json) read(item, value.emplace_back());
    } else if constexpr (IsPair<T>) {
      read(json.at(0), value.first);
      read(json.at(1), value.second);
    } else {
      value = json.get<T>();
    }
  }
  const Json& json_;
};

}  // namespace

std::string to_summary_json(const RankSummary& rank) {
  Json json = Json::object();
  json["stallscopeSummary"] = kSummaryVersion;
  Writer writer(json);
  describe(writer, const_cast<RankSummary&>(rank));  // a writer changes nothing
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RankSummary> from_summary_json(std::string_view text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("stallscopeSummary", 0) != kSummaryVersion)
      return Error{.message = "no summary of this version of stallscope",
                   .file = file,
                   .remedy = "write it again with 'stallscope report --summary-only'"};
    RankSummary rank;
    Reader reader(json);
    describe(reader, rank);
    return rank;
  } catch (const std::exception& error) {
    return Error{.message = std::string("damaged summary: ") + error.what(), .file = file};
  }
}

}  // namespace stallscope
