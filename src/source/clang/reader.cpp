#include "source/clang/reader.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "source/clang/classify.h"
#include "source/syntax/identifier.h"

namespace stallscope {
namespace {

constexpr unsigned kDeepestNode = 300;  ///< of expressions and blocks inside each other
constexpr size_t kMostTypes = 400'000;  ///< of one file
constexpr size_t kMostHidden = 4'096;

ParsedFile parse(const clang::Api& api, const std::string& path, const std::string& text,
                 const std::vector<std::string>& arguments, unsigned flags,
                 const std::vector<std::string>& emptied = {}) {
  std::vector<const char*> raw;
  raw.reserve(arguments.size());
  for (const std::string& argument : arguments) raw.push_back(argument.c_str());
  std::vector<clang::UnsavedFile> files = {{path.c_str(), text.data(), text.size()}};
  for (const std::string& header : emptied) files.push_back({header.c_str(), "\n", 1});
  clang::TranslationUnit unit = nullptr;
  const int done =
      api.parseTranslationUnit2(api.index, path.c_str(), raw.data(), static_cast<int>(raw.size()),
                                files.data(), static_cast<unsigned>(files.size()), flags, &unit);
  return {api, done == clang::kSuccess ? unit : nullptr};
}

/// Of the processes that want one prefix, one at a time is past this; gone with its holder.
class PrefixLock {
 public:
  /// `how`: of flock(): LOCK_EX waits, LOCK_EX | LOCK_NB may be left without it.
  PrefixLock(std::string path, int how)
      : path_(std::move(path)), file_(open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    while (file_ >= 0 && !held_) {
      held_ = flock(file_, how) == 0;
      if (!held_ && errno != EINTR) break;
    }
  }
  PrefixLock(const PrefixLock&) = delete;
  PrefixLock& operator=(const PrefixLock&) = delete;
  ~PrefixLock() {
    // Whoever has it open, or makes it anew, looks for the prefix first.
    if (held_) (void)unlink(path_.c_str());
    if (file_ >= 0) (void)close(file_);
  }
  bool held() const { return held_; }

 private:
  const std::string path_;
  const int file_;
  bool held_ = false;
};

/// The headers of ATen that only bodies of functions ask for, which are skipped: a third of its
/// files, a fifth of the time.
std::vector<std::string> asked_for_by_bodies(const std::string& aten) {
  std::vector<std::string> out;
  if (aten.empty()) return out;
  out.push_back(aten + "/NativeFunctions.h");
  std::error_code ec;
  for (std::filesystem::directory_iterator it(aten + "/ops", ec), end; !ec && it != end;
       it.increment(ec)) {
    if (std::string path = it->path().string(); path.ends_with("_ops.h"))
      out.push_back(std::move(path));
  }
  return out;
}

constexpr std::string_view kEnding = ".pch";
constexpr std::string_view kLockEnding = ".lock";

/// Removes what processes that were killed have left half written beside `precompiled`, which this
/// one has the lock of.
void remove_unfinished(const std::string& precompiled) {
  namespace fs = std::filesystem;
  std::error_code ec;
  std::vector<fs::path> found;
  const fs::path folder = fs::path(precompiled).parent_path();
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    if (name.find(std::string(kEnding) + '.') != std::string::npos && !name.ends_with(kLockEnding))
      found.push_back(it->path());
  }
  for (const fs::path& file : found) {
    const std::string of = file.string().substr(0, file.string().rfind(kEnding) + kEnding.size());
    std::error_code ignored;
    if (of == precompiled || PrefixLock(of + std::string(kLockEnding), LOCK_EX | LOCK_NB).held())
      fs::remove(file, ignored);
  }
}

/// Compiles the prefix into `request.precompiled`, unless that is there by then.
bool precompile(const clang::Api& api, const ClangRequest& request) {
  std::error_code ec;
  const PrefixLock lock(request.precompiled + std::string(kLockEnding), LOCK_EX);
  if (std::filesystem::exists(request.precompiled, ec)) return true;
  if (lock.held()) remove_unfinished(request.precompiled);
  const std::string path = request.precompiled + ".h";
  const unsigned flags = clang::kIncomplete | clang::kForSerialization |
                         clang::kSkipFunctionBodies | clang::kKeepGoing;
  std::string text;
  for (const std::string& header : request.prefix) text += "#include \"" + header + "\"\n";
  if (!request.uses.empty()) text += "#include \"" + request.uses + "\"\n";
  const ParsedFile unit =
      parse(api, path, text, request.arguments, flags, asked_for_by_bodies(request.aten));
  if (!unit) return false;
  const std::string made = request.precompiled + "." + std::to_string(getpid());
  if (api.saveTranslationUnit(unit.get(), made.c_str(), 0) == 0)
    std::filesystem::rename(made, request.precompiled, ec);
  else
    ec = std::make_error_code(std::errc::io_error);
  if (ec) std::filesystem::remove(made, ec);
  return std::filesystem::exists(request.precompiled, ec);
}

class TypeReader {
 public:
  TypeReader(const clang::Api& api, clang::TranslationUnit unit, const ClangRequest& request)
      : api_(api),
        classify_(api),
        text_(request.text),
        main_(api.getFile(unit, request.path.c_str())) {
    names_.emplace("", 0);
    descend(api.getTranslationUnitCursor(unit), {this, 0, false, true});
    finish(unit);
  }

  ClangTypes take() { return std::move(out_); }

 private:
  struct Walk {
    TypeReader* self;
    unsigned depth;
    bool conditional;  ///< under an `if` of a macro's own
    bool top;          ///< directly in the file
    unsigned child = 0;
  };
  /// Bytes of the file, of what is written in it; `known` is false elsewhere.
  struct Place {
    uint32_t offset = 0;
    bool known = false;
  };
  struct Span {
    uint32_t first = 0, last = 0;
    bool known = false;
  };

  void descend(clang::Cursor cursor, Walk walk) {
    if (walk.depth > kDeepestNode) return;
    api_.visitChildren(
        cursor,
        [](clang::Cursor at, clang::Cursor parent, clang::ClientData data) {
          auto& in = *static_cast<Walk*>(data);
          in.self->one(at, parent, in);
          ++in.child;
          return clang::kVisitContinue;
        },
        &walk);
  }

  void one(clang::Cursor cursor, clang::Cursor parent, const Walk& walk) {
    if (walk.top && !expansion(api_.getCursorLocation(cursor)).known) return;
    Walk below{this, walk.depth + 1, walk.conditional, false};
    if (parent.kind == clang::kIfStmt && walk.child > 0 && in_macro_body(parent, "if"))
      below.conditional = true;
    if (cursor.kind == clang::kVarDecl || cursor.kind == clang::kParmDecl ||
        cursor.kind == clang::kFieldDecl) {
      declared(cursor);
    } else if (cursor.kind >= clang::kFirstExpr && cursor.kind < clang::kFirstStmt) {
      expression(cursor);
      if (cursor.kind == clang::kCallExpr) call(cursor, below.conditional);
    }
    descend(cursor, below);
  }

  Place place(clang::Location at, bool expanded) const {
    clang::File file = nullptr;
    unsigned line = 0, column = 0, offset = 0;
    (expanded ? api_.getExpansionLocation : api_.getFileLocation)(at, &file, &line, &column,
                                                                  &offset);
    return {offset, file && api_.File_isEqual(file, main_) != 0 && offset <= text_.size()};
  }
  Place expansion(clang::Location at) const { return place(at, true); }

  /// What a macro's argument is made of lies where it is written, its body where it is used.
  Span span(clang::Cursor cursor) const {
    const clang::Range range = api_.getCursorExtent(cursor);
    const Place first = place(api_.getRangeStart(range), false);
    const Place last = place(api_.getRangeEnd(range), false);
    return {first.offset, last.offset, first.known && last.known && first.offset < last.offset};
  }

  bool says(uint32_t offset, std::string_view word) const {
    return std::string_view(text_).substr(offset).starts_with(word) &&
           (offset + word.size() >= text_.size() ||
            !is_identifier_char(text_[offset + word.size()]));
  }

  /// Whether a statement stands in a macro: its keyword is not where it would be written.
  bool in_macro_body(clang::Cursor statement, std::string_view keyword) const {
    const Place at = place(api_.getCursorLocation(statement), false);
    return at.known && !says(at.offset, keyword);
  }

  uint32_t name_id(const std::string& name) {
    const auto [entry, added] = names_.emplace(name, static_cast<uint32_t>(out_.names.size()));
    if (added) out_.names.push_back(name);
    return entry->second;
  }

  void note(uint32_t first, uint32_t last, const Classified& type) {
    if (type.type == TypeClass::unknown) {
      types_.erase({first, last});
    } else if (types_.size() < kMostTypes) {
      types_[{first, last}] = type;
    }
  }

  void declared(clang::Cursor cursor) {
    // What has an unknown type is an int to clang.
    if (api_.isInvalidDeclaration(cursor) != 0) return;
    const std::string name = api_.text(api_.getCursorSpelling(cursor));
    const Place at = place(api_.getCursorLocation(cursor), false);
    if (name.empty() || !at.known || !says(at.offset, name)) return;
    note(at.offset, at.offset + static_cast<uint32_t>(name.size()),
         classify_.of(api_.getCursorType(cursor)));
  }

  /// Conversions have the bytes of what they convert; the innermost, as it is written, stays.
  void expression(clang::Cursor cursor) {
    if (cursor.kind == clang::kThisExpr) return;
    const Span at = span(cursor);
    if (!at.known) return;
    const bool plain = cursor.kind == clang::kDeclRefExpr || cursor.kind == clang::kMemberRefExpr ||
                       cursor.kind == clang::kCallExpr;
    Classified type;
    const bool invalid = cursor.kind == clang::kDeclRefExpr &&
                         api_.isInvalidDeclaration(api_.getCursorReferenced(cursor)) != 0;
    if (!invalid) type = classify_.of(api_.getCursorType(cursor));
    if (plain || type.type != TypeClass::unknown) note(at.first, at.last, type);
  }

  struct First {
    const TypeReader* self;
    clang::Cursor found{};
    bool any = false;
  };
  /// The first child; kind 0 when there is none.
  clang::Cursor first_child(clang::Cursor cursor) const {
    First first{this, {}, false};
    api_.visitChildren(
        cursor,
        [](clang::Cursor at, clang::Cursor, clang::ClientData data) {
          auto& in = *static_cast<First*>(data);
          in.found = at;
          in.any = true;
          return 0;
        },
        &first);
    return first.any ? first.found : clang::Cursor{};
  }

  /// What parentheses and conversions are around.
  clang::Cursor bare(clang::Cursor cursor) const {
    for (unsigned i = 0;
         i < 8 && (cursor.kind == clang::kFirstExpr || cursor.kind == clang::kParenExpr); ++i)
      cursor = first_child(cursor);
    return cursor;
  }

  void call(clang::Cursor cursor, bool conditional) {
    const clang::Cursor callee = bare(first_child(cursor));
    if (callee.kind != clang::kDeclRefExpr && callee.kind != clang::kMemberRefExpr) return;
    const clang::Cursor function = api_.getCursorReferenced(callee);
    if (function.kind != clang::kFunctionDecl && function.kind != clang::kCxxMethod) return;
    const std::string name = api_.text(api_.getCursorSpelling(function));
    if (name.empty() || name.starts_with("operator") || name.starts_with("__")) return;
    const std::string path = classify_.qualified_name(function);
    if (path.starts_with("std.")) return;
    const bool method = callee.kind == clang::kMemberRefExpr;
    const Place written = place(api_.getCursorLocation(callee), false);
    if (!written.known) return;
    if (!says(written.offset, name) && !qualifies(written.offset, name)) {
      if (!conditional) hide(cursor, callee, name, path, method);
      return;
    }
    const Span at = span(cursor);
    if (!method && at.known && is_library_name(path)) calls_[{at.first, at.last}] = name_id(path);
  }

  /// Whether a qualified name that ends in `name` is written there.
  bool qualifies(uint32_t offset, std::string_view name) const {
    size_t at = offset;
    while (at < text_.size() && (is_identifier_char(text_[at]) || text_[at] == ':')) ++at;
    return std::string_view(text_).substr(offset, at - offset).ends_with(name);
  }

  /// A call that stands in a macro's body, at the macro's use.
  void hide(clang::Cursor cursor, clang::Cursor callee, const std::string& name,
            const std::string& path, bool method) {
    const Place use = expansion(api_.getCursorLocation(callee));
    if (!use.known || out_.hidden.size() >= kMostHidden) return;
    HiddenCall out;
    out.first = use.offset;
    out.last = end_of_use(use.offset);
    out.method = method;
    out.name = name_id(method || !is_library_name(path) ? name : path);
    if (method) out.receiver = part(first_child(callee), out);
    const int count = api_.Cursor_getNumArguments(cursor);
    for (int i = 0; i < std::min(count, 16); ++i)
      out.arguments.push_back(part(api_.Cursor_getArgument(cursor, static_cast<unsigned>(i)), out));
    out_.hidden.push_back(std::move(out));
  }

  /// Behind a macro's name and its arguments.
  uint32_t end_of_use(uint32_t offset) const {
    size_t at = offset;
    while (at < text_.size() && is_identifier_char(text_[at])) ++at;
    const size_t name_end = at;
    while (at < text_.size() && std::isspace(static_cast<unsigned char>(text_[at])) != 0) ++at;
    if (at >= text_.size() || text_[at] != '(') return static_cast<uint32_t>(name_end);
    unsigned open = 0;
    for (; at < text_.size(); ++at) {
      if (text_[at] == '(') ++open;
      if (text_[at] == ')' && --open == 0) return static_cast<uint32_t>(at + 1);
    }
    return static_cast<uint32_t>(name_end);
  }

  HiddenPart part(clang::Cursor given, const HiddenCall& use) {
    const clang::Cursor cursor = bare(given);
    const Span at = span(cursor.kind == 0 ? given : cursor);
    if (at.known && at.first > use.first && at.last < use.last) return {at.first, at.last, 0};
    if (cursor.kind == clang::kDeclRefExpr || cursor.kind == clang::kMemberRefExpr)
      return {0, 0, name_id(api_.text(api_.getCursorSpelling(cursor)))};
    return {};
  }

  void finish(clang::TranslationUnit unit) {
    for (const auto& [range, type] : types_)
      out_.types.push_back(
          {range.first, range.second, type.type, type.name.empty() ? 0 : name_id(type.name)});
    for (const auto& [range, name] : calls_)
      out_.calls.push_back({range.first, range.second, name});
    std::ranges::stable_sort(out_.hidden, {}, &HiddenCall::first);
    api_.getInclusions(
        unit,
        [](clang::File file, clang::Location*, unsigned depth, clang::ClientData data) {
          if (depth == 0) return;
          auto& in = *static_cast<TypeReader*>(data);
          if (auto header = stamp_of(in.api_.text(in.api_.getFileName(file))))
            in.out_.headers.push_back(std::move(*header));
        },
        this);
    auto& headers = out_.headers;
    std::ranges::sort(headers, {}, &HeaderStamp::path);
    const auto again = std::ranges::unique(headers, {}, &HeaderStamp::path);
    headers.erase(again.begin(), again.end());
  }

  const clang::Api& api_;
  TypeClassifier classify_;
  const std::string& text_;
  clang::File main_;
  ClangTypes out_;
  std::unordered_map<std::string, uint32_t> names_;
  std::map<std::pair<uint32_t, uint32_t>, Classified> types_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> calls_;
};

}  // namespace

Result<ClangTypes> read_types(const clang::Api& api, const ClangRequest& request,
                              ParsedFile& file) {
  const auto read = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = request.arguments;
    arguments.insert(arguments.end(), more.begin(), more.end());
    // As if more followed: what templates would be instantiated for at the end, no rule asks.
    file =
        parse(api, request.path, request.text, arguments, clang::kKeepGoing | clang::kIncomplete);
    return static_cast<bool>(file);
  };
  const auto types = [&] { return TypeReader(api, file.get(), request).take(); };
  if (!request.precompiled.empty()) {
    // Whether its headers, thousands of them, are what they were has been asked of a few of them.
    const std::vector<std::string> compiled = {"-include-pch", request.precompiled, "-Xclang",
                                               "-fno-validate-pch"};
    std::error_code ec;
    if (std::filesystem::exists(request.precompiled, ec)) {
      if (read(compiled)) return types();
      std::filesystem::remove(request.precompiled, ec);
    }
    if (precompile(api, request) && read(compiled)) return types();
  }
  std::vector<std::string> included;
  for (const std::string& header : request.prefix)
    included.insert(included.end(), {"-include", header});
  if (!read(included)) return Error{.message = "libclang cannot read it", .file = request.path};
  return types();
}

}  // namespace stallscope
