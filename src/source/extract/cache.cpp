#include "source/extract/cache.h"

#include <type_traits>

#include "base/file.h"
#include "source/facts/cache_entry.h"
#include "source/facts/field_bytes.h"

namespace stallscope {
namespace {

/// Changes whenever analysis or this layout does.
constexpr std::string_view kFactsFormat = "facts-17";

struct FactsLayout {
  template <typename Io, typename T>
  static void describe(Io& io, T& v) {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Plain, Value>) {
      io(v.kind), io(v.certainty), io(v.flags), io(v.dependency);
    } else if constexpr (std::is_same_v<Plain, Dependency>) {
      io(v.kind), io(v.name), io(v.function), io(v.parameter);
    } else if constexpr (std::is_same_v<Plain, FunctionFacts>) {
      io(v.name), io(v.qualified), io(v.class_name), io(v.parent), io(v.first_line),
          io(v.last_line), io(v.flags);
      io(v.returns), io(v.declared), io(v.parts), io(v.entries), io(v.parameters),
          io(v.parameter_types), io(v.required), io(v.accepted), io(v.copies), io(v.allocates_at),
          io(v.frees_at);
    } else if constexpr (std::is_same_v<Plain, LoopFacts>) {
      io(v.function), io(v.parent), io(v.first_line), io(v.last_line), io(v.optimizer_step),
          io(v.backward);
      io(v.over_parameters), io(v.over_groups), io(v.over_optimizers), io(v.over_layers),
          io(v.over_devices), io(v.over_batches), io(v.over_loader), io(v.comprehension),
          io(v.runs_model), io(v.validates), io(v.generates), io(v.seldom), io(v.accumulates),
          io(v.repeats), io(v.replays), io(v.yields), io(v.fetches), io(v.plays), io(v.learns);
    } else if constexpr (std::is_same_v<Plain, CallFacts>) {
      io(v.name), io(v.form), io(v.function), io(v.loop), io(v.consumer), io(v.line), io(v.guards),
          io(v.given), io(v.receiver), io(v.object), io(v.arguments), io(v.literals),
          io(v.positional), io(v.keywords), io(v.moves_batch);
      io(v.first_byte), io(v.last_byte), io(v.column), io(v.line_text), io(v.handed),
          io(v.switches), io(v.option.function), io(v.option.parameter), io(v.option.literal);
    } else if constexpr (std::is_same_v<Plain, NamedValue>) {
      io(v.name), io(v.value), io(v.kind);
    } else if constexpr (std::is_same_v<Plain, Switch>) {
      io(v.name), io(v.value), io(v.test);
    } else if constexpr (std::is_same_v<Plain, ClassFacts>) {
      io(v.name), io(v.bases), io(v.is_module), io(v.fields), io(v.users);
    } else if constexpr (std::is_same_v<Plain, Candidate>) {
      io(v.rule), io(v.clause), io(v.function), io(v.loop), io(v.first_byte), io(v.last_byte),
          io(v.first_line);
      io(v.last_line), io(v.column), io(v.anchor_line), io(v.also), io(v.block), io(v.guards),
          io(v.subject), io(v.open), io(v.in_inner_loop), io(v.in_callers_loop), io(v.given);
      io(v.line_text), io(v.ordinal), io(v.metavariables), io(v.default_of), io(v.option.function),
          io(v.option.parameter), io(v.option.literal), io(v.switches);
    } else if constexpr (std::is_same_v<Plain, FileFacts>) {
      io(v.content_hash), io(v.language), io(v.skipped), io(v.note), io(v.readable),
          io(v.has_suppressions);
      io(v.lines_of_cells), io(v.functions), io(v.loops), io(v.calls), io(v.classes),
          io(v.dependencies);
      io(v.aliases), io(v.imports), io(v.mentions), io(v.used_words), io(v.named_values),
          io(v.switches), io(v.handed), io(v.bound), io(v.hiding_macros), io(v.candidates);
    } else {
      io(v.first), io(v.second);
    }
  }
};

/// Where a file is says what it is: tests/run.sh is a trial, a/__init__.py what its package offers.
std::string entry_of(const std::string& folder, const std::string& path, std::string_view bytes,
                     const std::string& digest) {
  return folder + "/" + content_hash(bytes) +
         content_hash(path + '\0' + digest + std::string(kFactsFormat) + STALLSCOPE_BUILD_ID);
}

}  // namespace

std::unique_ptr<FileFacts> cached_facts(const std::string& folder, const std::string& path,
                                        std::string_view bytes, const std::string& digest) {
  if (folder.empty()) return nullptr;
  const auto stored = stored_entry(entry_of(folder, path, bytes, digest));
  if (!stored) return nullptr;
  auto out = std::make_unique<FileFacts>();
  FieldReader<FactsLayout> reader(*stored);
  reader(*out);
  if (!reader.good()) return nullptr;
  out->path = path;
  return out;
}

void store_facts(const std::string& folder, const std::string& path, std::string_view bytes,
                 const std::string& digest, const FileFacts& facts) {
  if (folder.empty()) return;
  FieldWriter<FactsLayout> writer;
  writer(facts);
  store_entry(entry_of(folder, path, bytes, digest), writer.bytes);
}

}  // namespace stallscope
