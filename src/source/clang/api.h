// The part of libclang's C interface that is used, declared here: the library
// is opened when it is needed, of any version from 14 on, and needs no headers
// to build. Names and values are those of clang-c/Index.h, which keeps them
// stable; tests/source/clang_abi_test.cpp compares them where it is installed.
#pragma once

#include <string>

#include "base/result.h"

namespace stallscope::clang {

using Index = void*;
using TranslationUnit = void*;
using File = void*;
using ClientData = void*;

struct String {
  const void* data;
  unsigned flags;
};
struct Cursor {
  int kind;
  int xdata;
  const void* data[3];
};
struct Type {
  int kind;
  void* data[2];
};
struct Location {
  const void* ptr_data[2];
  unsigned int_data;
};
struct Range {
  const void* ptr_data[2];
  unsigned begin_int_data, end_int_data;
};
struct UnsavedFile {
  const char* name;
  const char* contents;
  unsigned long length;  // NOLINT(google-runtime-int): libclang's
};

/// Values of enum CXCursorKind.
enum CursorKind : int {
  kStructDecl = 2,
  kClassDecl = 4,
  kFieldDecl = 6,
  kFunctionDecl = 8,
  kVarDecl = 9,
  kParmDecl = 10,
  kCxxMethod = 21,
  kNamespace = 22,
  kClassTemplate = 31,
  kCxxBaseSpecifier = 44,
  kFirstExpr = 100,
  kDeclRefExpr = 101,
  kMemberRefExpr = 102,
  kCallExpr = 103,
  kParenExpr = 111,
  kThisExpr = 132,
  kFirstStmt = 200,
  kIfStmt = 205,
};

/// Values of enum CXTypeKind.
enum TypeKind : int {
  kBool = 3,
  kCharU = 4,
  kCharS = 13,
  kLongDouble = 23,
  kFloat128 = 30,
  kHalf = 31,
  kFloat16 = 32,
  kBFloat16 = 39,
  kPointer = 101,
  kLValueReference = 103,
  kRValueReference = 104,
  kRecord = 105,
  kEnum = 106,
  kConstantArray = 112,
  kIncompleteArray = 114,
  kVariableArray = 115,
};

/// Bits of enum CXTranslationUnit_Flags.
enum ParseFlag : unsigned {
  kIncomplete = 0x02,
  kForSerialization = 0x10,
  kSkipFunctionBodies = 0x40,
  kKeepGoing = 0x200,
};

inline constexpr int kVisitContinue = 1;
inline constexpr int kSuccess = 0;

using Visitor = int (*)(Cursor cursor, Cursor parent, ClientData data);
using InclusionVisitor = void (*)(File file, Location* stack, unsigned size, ClientData data);

/// Functions of the library that was opened, and the index that all files share.
struct Api {
  Index index;
  Index (*createIndex)(int exclude_pch, int show_diagnostics);
  int (*parseTranslationUnit2)(Index, const char* file, const char* const* arguments, int count,
                               UnsavedFile*, unsigned unsaved, unsigned flags, TranslationUnit*);
  int (*saveTranslationUnit)(TranslationUnit, const char* path, unsigned options);
  void (*disposeTranslationUnit)(TranslationUnit);
  Cursor (*getTranslationUnitCursor)(TranslationUnit);
  File (*getFile)(TranslationUnit, const char* path);
  int (*File_isEqual)(File, File);
  String (*getFileName)(File);
  void (*getInclusions)(TranslationUnit, InclusionVisitor, ClientData);
  unsigned (*visitChildren)(Cursor, Visitor, ClientData);
  Location (*getCursorLocation)(Cursor);
  Range (*getCursorExtent)(Cursor);
  Location (*getRangeStart)(Range);
  Location (*getRangeEnd)(Range);
  void (*getExpansionLocation)(Location, File*, unsigned* line, unsigned* column, unsigned* offset);
  void (*getFileLocation)(Location, File*, unsigned* line, unsigned* column, unsigned* offset);
  String (*getCursorSpelling)(Cursor);
  Cursor (*getCursorReferenced)(Cursor);
  Cursor (*getCursorSemanticParent)(Cursor);
  unsigned (*isInvalidDeclaration)(Cursor);
  unsigned (*CXXMethod_isStatic)(Cursor);
  int (*Cursor_getNumArguments)(Cursor);
  Cursor (*Cursor_getArgument)(Cursor, unsigned);
  Type (*getCursorType)(Cursor);
  Type (*getCanonicalType)(Type);
  Type (*getPointeeType)(Type);
  Type (*getArrayElementType)(Type);
  Cursor (*getTypeDeclaration)(Type);
  int (*Type_getNumTemplateArguments)(Type);
  Type (*Type_getTemplateArgumentAsType)(Type, unsigned);
  const char* (*getCString)(String);
  void (*disposeString)(String);
  String (*getClangVersion)();

  std::string text(String given) const;
};

/// Opens the library at `path` (or of that name) into this process.
Result<Api> open_library(const std::string& path);

}  // namespace stallscope::clang
