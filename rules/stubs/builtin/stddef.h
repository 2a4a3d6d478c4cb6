// Where the compiler's own is missing.
#ifndef STALLSCOPE_STUBS_STDDEF
#define STALLSCOPE_STUBS_STDDEF
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long double max_align_t;
#ifdef __cplusplus
#define NULL __null
namespace std { typedef decltype(nullptr) nullptr_t; }
typedef std::nullptr_t nullptr_t;
#else
#define NULL ((void*)0)
typedef __WCHAR_TYPE__ wchar_t;
#endif
typedef __WINT_TYPE__ wint_t;
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
