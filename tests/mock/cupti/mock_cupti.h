/* The control side of the mock CUPTI: a program under test loads the mock as
 * libcupti.so.13 and plays a script through it. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Plays `script`, one command a line; `#` starts a comment. Times are
/// nanoseconds after the start of play. Returns 0, or the number of the first
/// line that is wrong.
///
///   call runtime|driver NAME CBID CORR NS    ENTER callback, sleep NS, EXIT callback, API record
///        [NAME CBID]                         the driver's call that it makes itself
///   node GRAPH NODE [TYPE]                   a node is captured (CUgraphNodeType, default a
///   kernel) clone GRAPH NODE FROM_GRAPH FROM_NODE    a node is cloned, as instantiation does too
///   exec EXEC GRAPH                          a graph is made executable
///   kernel CORR DEVICE STREAM START NS NAME [GRAPH NODE]
///   memcpy CORR DEVICE STREAM KIND SRC DST BYTES START NS [GRAPH NODE]   (CUPTI's numbers)
///   peer CORR DEVICE STREAM TO_DEVICE BYTES START NS [GRAPH NODE]
///   untimed CORR DEVICE STREAM NAME          a kernel without begin and end
///   internal CORR NS                         a launch outside of any public call, taking NS
///   memset CORR DEVICE STREAM BYTES START NS [GRAPH NODE]
///   sync CORR TYPE STREAM EVENT START NS
///   event CORR STREAM EVENT
///   overhead KIND START NS
///   jit CORR ENTRY OPERATION START NS
///   context CONTEXT DEVICE NULL_STREAM
///   stream CONTEXT STREAM FLAG PRIORITY
///   graph CORR DEVICE STREAM GRAPH START NS
///   memory CORR OPERATION KIND ADDRESS BYTES AT
///   deliver           hand the filled buffer to the collector now
///   hold              keep records back until the collector flushes with force
///   drop N            report N dropped records at the next delivery
///   lose              what was not delivered is lost, as with a context that ends
///   steal             another client takes over the buffer callbacks
///   sleep NS
///
/// MOCK_CUPTI_VERSION (default 130001) chooses the API version and with it the
/// size of every record; MOCK_CUPTI_SUBSCRIBE_RESULT a failing subscription,
/// MOCK_CUPTI_ENABLE_RESULT failing activity records.
int mock_cupti_play(const char* script);

/// How many clients hold the subscription now: 0 or 1.
int mock_cupti_subscribers(void);

#ifdef __cplusplus
}
#endif
