// Where CPython keeps what a stack walk needs, by version.
#pragma once

#include <cstdint>

namespace stallscope {

/// How co_lnotab or co_linetable is written.
enum class LineTable : uint8_t { lnotab, ranges, locations };

/// Offsets in bytes on Linux x86-64, taken from the headers of each version.
struct PythonLayout {
  int minor;           ///< of 3.x
  bool frame_objects;  ///< 3.8 to 3.10: frames are objects; later: on the data stack
  // PyThreadState
  uint32_t thread_frame;   ///< frame, or the structure that holds it
  int32_t frame_indirect;  ///< offset of the frame in that structure; -1 = direct
  uint32_t thread_id;      ///< pthread_t; from 3.11 the kernel's number follows it
  // Frame
  uint32_t frame_code, frame_previous, frame_instruction;
  int32_t frame_owner;  ///< -1 = frames have no owner
  // PyCodeObject
  uint32_t code_file, code_name, code_first_line, code_lines, code_begin;
  // str
  uint32_t text_ascii, text_compact;
  // _PyRuntime and PyInterpreterState; 0 = read from the debug offsets
  uint32_t runtime_interpreters, interpreter_threads;
  LineTable lines;
};

/// _Py_DebugOffsets, with which _PyRuntime begins from 3.13 on: first fields, the same in 3.14.
inline constexpr char kDebugCookie[] = "xdebugpy";
inline constexpr uint32_t kDebugFreeThreaded = 16, kDebugInterpretersHead = 40, kDebugNext = 64,
                          kDebugThreadsHead = 72;
/// PyThreadState
inline constexpr uint32_t kThreadNext = 8;
/// str and bytes
inline constexpr uint32_t kTextLength = 16, kTextState = 32;
inline constexpr uint32_t kBytesLength = 16, kBytesData = 32;
/// What the state word of a str says. How it is interned takes the first two bits; what lies above
/// the first byte is padding, which holds anything.
struct TextState {
  uint32_t kind;  ///< bytes per character
  bool compact, ascii;
};
constexpr TextState text_state(uint32_t word) {
  return {word >> 2 & 7, (word >> 5 & 1) != 0, (word >> 6 & 1) != 0};
}
/// Frames of this owner and above belong to the interpreter's C code.
inline constexpr uint8_t kOwnerInterpreter = 3;

/// nullptr for versions that are not known.
const PythonLayout* python_layout(int major, int minor);

}  // namespace stallscope
