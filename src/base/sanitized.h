#pragma once

/// STALLSCOPE_SANITIZED is defined where a sanitizer brings its own allocator:
/// GCC says so by predefined macros, Clang by a feature.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STALLSCOPE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STALLSCOPE_SANITIZED
#endif
#endif
