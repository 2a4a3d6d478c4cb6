// What src/source/clang/api.h declares of libclang is what its headers say.
#if __has_include(<clang-c/Index.h>)
#include <clang-c/Index.h>

#include <cstddef>

#include "source/clang/api.h"

namespace {
namespace ours = stallscope::clang;

static_assert(sizeof(ours::String) == sizeof(CXString));
static_assert(sizeof(ours::Cursor) == sizeof(CXCursor));
static_assert(sizeof(ours::Type) == sizeof(CXType));
static_assert(sizeof(ours::Location) == sizeof(CXSourceLocation));
static_assert(sizeof(ours::Range) == sizeof(CXSourceRange));
static_assert(sizeof(ours::UnsavedFile) == sizeof(CXUnsavedFile));
static_assert(offsetof(ours::Cursor, data) == offsetof(CXCursor, data));

#define STALLSCOPE_SAME(mine, theirs) static_assert(int{ours::mine} == int{theirs})
STALLSCOPE_SAME(kStructDecl, CXCursor_StructDecl);
STALLSCOPE_SAME(kClassDecl, CXCursor_ClassDecl);
STALLSCOPE_SAME(kFieldDecl, CXCursor_FieldDecl);
STALLSCOPE_SAME(kFunctionDecl, CXCursor_FunctionDecl);
STALLSCOPE_SAME(kVarDecl, CXCursor_VarDecl);
STALLSCOPE_SAME(kParmDecl, CXCursor_ParmDecl);
STALLSCOPE_SAME(kCxxMethod, CXCursor_CXXMethod);
STALLSCOPE_SAME(kNamespace, CXCursor_Namespace);
STALLSCOPE_SAME(kClassTemplate, CXCursor_ClassTemplate);
STALLSCOPE_SAME(kCxxBaseSpecifier, CXCursor_CXXBaseSpecifier);
STALLSCOPE_SAME(kFirstExpr, CXCursor_UnexposedExpr);
STALLSCOPE_SAME(kDeclRefExpr, CXCursor_DeclRefExpr);
STALLSCOPE_SAME(kMemberRefExpr, CXCursor_MemberRefExpr);
STALLSCOPE_SAME(kCallExpr, CXCursor_CallExpr);
STALLSCOPE_SAME(kParenExpr, CXCursor_ParenExpr);
STALLSCOPE_SAME(kThisExpr, CXCursor_CXXThisExpr);
STALLSCOPE_SAME(kFirstStmt, CXCursor_FirstStmt);
STALLSCOPE_SAME(kIfStmt, CXCursor_IfStmt);
STALLSCOPE_SAME(kBool, CXType_Bool);
STALLSCOPE_SAME(kCharU, CXType_Char_U);
STALLSCOPE_SAME(kCharS, CXType_Char_S);
STALLSCOPE_SAME(kLongDouble, CXType_LongDouble);
STALLSCOPE_SAME(kFloat128, CXType_Float128);
STALLSCOPE_SAME(kHalf, CXType_Half);
STALLSCOPE_SAME(kFloat16, CXType_Float16);
STALLSCOPE_SAME(kBFloat16, CXType_BFloat16);
STALLSCOPE_SAME(kPointer, CXType_Pointer);
STALLSCOPE_SAME(kLValueReference, CXType_LValueReference);
STALLSCOPE_SAME(kRValueReference, CXType_RValueReference);
STALLSCOPE_SAME(kRecord, CXType_Record);
STALLSCOPE_SAME(kEnum, CXType_Enum);
STALLSCOPE_SAME(kConstantArray, CXType_ConstantArray);
STALLSCOPE_SAME(kIncompleteArray, CXType_IncompleteArray);
STALLSCOPE_SAME(kVariableArray, CXType_VariableArray);
STALLSCOPE_SAME(kVisitContinue, CXChildVisit_Continue);
STALLSCOPE_SAME(kSuccess, CXError_Success);
static_assert(unsigned{ours::kIncomplete} == unsigned{CXTranslationUnit_Incomplete});
static_assert(unsigned{ours::kForSerialization} == unsigned{CXTranslationUnit_ForSerialization});
static_assert(unsigned{ours::kSkipFunctionBodies} ==
              unsigned{CXTranslationUnit_SkipFunctionBodies});
static_assert(unsigned{ours::kKeepGoing} == unsigned{CXTranslationUnit_KeepGoing});
#undef STALLSCOPE_SAME
}  // namespace
#endif
