#include "source/clang/api.h"

#include <dlfcn.h>

namespace stallscope::clang {
namespace {

template <typename F>
bool bind(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::string Api::text(String given) const {
  const char* bytes = getCString(given);
  std::string out = bytes ? bytes : "";
  disposeString(given);
  return out;
}

Result<Api> open_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    return Error{.message = why ? why : "cannot be opened", .file = path};
  }
  Api api{};
  bool all = true;
#define STALLSCOPE_BIND(name) all = bind(library, "clang_" #name, api.name) && all
  STALLSCOPE_BIND(createIndex);
  STALLSCOPE_BIND(parseTranslationUnit2);
  STALLSCOPE_BIND(saveTranslationUnit);
  STALLSCOPE_BIND(disposeTranslationUnit);
  STALLSCOPE_BIND(getTranslationUnitCursor);
  STALLSCOPE_BIND(getFile);
  STALLSCOPE_BIND(File_isEqual);
  STALLSCOPE_BIND(getFileName);
  STALLSCOPE_BIND(getInclusions);
  STALLSCOPE_BIND(visitChildren);
  STALLSCOPE_BIND(getCursorLocation);
  STALLSCOPE_BIND(getCursorExtent);
  STALLSCOPE_BIND(getRangeStart);
  STALLSCOPE_BIND(getRangeEnd);
  STALLSCOPE_BIND(getExpansionLocation);
  STALLSCOPE_BIND(getFileLocation);
  STALLSCOPE_BIND(getCursorSpelling);
  STALLSCOPE_BIND(getCursorReferenced);
  STALLSCOPE_BIND(getCursorSemanticParent);
  STALLSCOPE_BIND(isInvalidDeclaration);
  STALLSCOPE_BIND(CXXMethod_isStatic);
  STALLSCOPE_BIND(Cursor_getNumArguments);
  STALLSCOPE_BIND(Cursor_getArgument);
  STALLSCOPE_BIND(getCursorType);
  STALLSCOPE_BIND(getCanonicalType);
  STALLSCOPE_BIND(getPointeeType);
  STALLSCOPE_BIND(getArrayElementType);
  STALLSCOPE_BIND(getTypeDeclaration);
  STALLSCOPE_BIND(Type_getNumTemplateArguments);
  STALLSCOPE_BIND(Type_getTemplateArgumentAsType);
  STALLSCOPE_BIND(getCString);
  STALLSCOPE_BIND(disposeString);
  STALLSCOPE_BIND(getClangVersion);
#undef STALLSCOPE_BIND
  if (!all) {
    dlclose(library);
    return Error{.message = "is no libclang, or too old a one", .file = path};
  }
  api.index = api.createIndex(1, 0);
  return api;
}

}  // namespace stallscope::clang
