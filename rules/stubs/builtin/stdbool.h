// Where the compiler's own is missing.
#ifndef __cplusplus
#define bool _Bool
#define true 1
#define false 0
#endif
