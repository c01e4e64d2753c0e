/* Symbol visibility and compiler checks for the public headers; C99, C11 and C++. */
#ifndef TACIT_EXPORT_H
#define TACIT_EXPORT_H

#if defined(__GNUC__)
#define DP_API __attribute__((visibility("default")))
#define DP_MUST_CHECK __attribute__((warn_unused_result))
#define DP_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#else
#define DP_API
#define DP_MUST_CHECK
#define DP_NONNULL(...)
#endif

#endif
