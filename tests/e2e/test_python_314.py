"""CPython 3.14 by its published debug offsets: a program that lays its memory out as 3.14 does, and calls itself a
free-threaded build when told to. (The real one is in the other tests, where it is found.)"""
import json

import pytest

from python_packages import free_threaded_interpreters

# What the interpreter of 3.14 has in memory, as far as a stack is read: _Py_DebugOffsets, one interpreter, one thread,
# a shim of C code below two frames, their code objects with texts of one and two bytes a letter.
IMAGE = r"""
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "collect/annotate.h"

typedef union { uint8_t bytes[4096]; uint64_t words[512]; } Block;
static Block interpreter, state, type, codes[2], frames[3], texts[3], tables[2];
Block _PyRuntime;
const unsigned long Py_Version = 0x030e00f0;

static void put(Block* block, int offset, uint64_t value) { memcpy(block->bytes + offset, &value, 8); }
static void put_pointer(Block* block, int offset, const Block* to) { put(block, offset, (uintptr_t)to); }

const char* Py_GetVersion(void) { return "3.14.0 (main, Oct  7 2025) [GCC]"; }
int Py_IsInitialized(void) { return 1; }
void* PyGILState_GetThisThreadState(void) { return &state; }

static void set_text(Block* text, const char* data, size_t letters, int width) {
  put(text, 16, letters);
  /* two bits of how it is interned, then kind, compact, ascii; the rest is never set */
  text->bytes[32] = (uint8_t)(2 | width << 2 | 1 << 5 | (width == 1) << 6);
  memcpy(text->bytes + 33, "utf", 3);
  memcpy(text->bytes + (width == 1 ? 40 : 56), data, letters * width);
}
static void set_code(Block* code, const Block* name, const Block* table, const uint8_t* lines, size_t bytes) {
  put_pointer(code, 8, &type);
  const int first_line = 7;
  memcpy(code->bytes + 68, &first_line, 4);
  put_pointer(code, 112, &texts[0]);
  put_pointer(code, 120, name);
  put_pointer(code, 128, name);
  put_pointer(code, 136, table);
  put((Block*)table, 16, bytes);
  memcpy(((Block*)table)->bytes + 32, lines, bytes);
}
static void set_frame(Block* frame, const Block* code, const Block* previous, int unit, int owner) {
  put(frame, 0, (uintptr_t)code | 1); /* a tag in the low bits */
  put_pointer(frame, 8, previous);
  put(frame, 56, (uintptr_t)code + 208 + 2 * unit);
  frame->bytes[74] = (uint8_t)owner;
}

__attribute__((noinline)) void block(void) {
  stallscope_api_begin("cudaDeviceSynchronize", (stallscope_api){.call = STALLSCOPE_API_DEVICE_SYNC, .device = 0});
  stallscope_end();
}

int main(int argc, char** argv) {
  memcpy(_PyRuntime.bytes, "xdebugpy", 8);
  put(&_PyRuntime, 8, Py_Version);
  put(&_PyRuntime, 16, argc > 1 && strcmp(argv[1], "free-threaded") == 0);
  put(&_PyRuntime, 40, 2048); /* where the list of interpreters begins */
  put(&_PyRuntime, 64, 24);   /* next of an interpreter */
  put(&_PyRuntime, 72, 32);   /* its threads */
  put_pointer(&_PyRuntime, 2048, &interpreter);
  put_pointer(&interpreter, 32, &state);
  put_pointer(&state, 16, &interpreter);
  put_pointer(&state, 72, &frames[0]);
  put(&state, 152, 1);
  put(&state, 160, (uint64_t)gettid());
  put_pointer(&type, 24, &texts[2]);
  memcpy(texts[2].bytes, "code", 5);
  set_text(&texts[0], "/w/fake.py", 10, 1);
  static Block inner, outer;
  const uint16_t name[] = {'p', 0x00e5, 0x4e16};
  set_text(&inner, (const char*)name, 3, 2);
  set_text(&outer, "<module>", 8, 1);
  /* one unit on the first line; then two units one line below */
  const uint8_t lines[] = {0x80, 0x10, 0xd9, 1, 2};
  set_code(&codes[0], &inner, &tables[0], lines, sizeof lines);
  set_code(&codes[1], &outer, &tables[1], lines, sizeof lines);
  set_frame(&frames[0], &codes[0], &frames[1], 2, 0);
  set_frame(&frames[1], &codes[1], &frames[2], 0, 1);
  set_frame(&frames[2], &type, 0, 0, 3); /* the interpreter's own */
  block();
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while (now.tv_sec + 1e-9 * now.tv_nsec < end.tv_sec + 1e-9 * end.tv_nsec + 0.6);
  puts("done");
  return 0;
}
"""
STACK = [("p\u00e5\u4e16", "/w/fake.py", 8), ("<module>", "/w/fake.py", 7)]


@pytest.fixture
def record(tool, compile_c, tmp_path):
    program = compile_c("python3.14", IMAGE, "-rdynamic")

    def run(*arguments):
        out = tmp_path / "out"
        done = tool("run", "-q", "--force", "-o", out, "--", program, *arguments)
        assert done.stdout == "done\n"
        return [json.loads(line) for line in tool("dump", out).stdout.splitlines()], tool.report(out)
    return run


def python_frames(event):
    return [(frame["function"], frame["file"], frame["line"]) for frame in event.get("stack", ())
            if isinstance(frame, dict) and frame.get("kind") == "python"]


def test_stacks_by_the_published_offsets(record):
    events, report = record()
    call, = [event for event in events if event["name"] == "cudaDeviceSynchronize"]
    assert python_frames(call) == STACK
    samples = [event for event in events if event["kind"] == "sample"]
    assert len(samples) >= 5 and all(python_frames(event) == STACK for event in samples)
    assert not [warning for warning in report["warnings"] if "free-threaded" in warning]


def declined(events, report):
    assert not [event for event in events if event["kind"] == "sample"]
    assert not [event for event in events if python_frames(event)]
    warnings = [warning for warning in report["warnings"] if "free-threaded build" in warning]
    assert any("not sampled" in warning for warning in warnings), report["warnings"]
    return warnings


def test_a_free_threaded_build_is_declined_and_said(record):
    warnings = declined(*record("free-threaded"))
    assert any("blocking calls" in warning for warning in warnings), warnings


@pytest.mark.parametrize("python", [pytest.param(path, id="%d.%dt" % version)
                                    for version, path in free_threaded_interpreters().items()])
def test_a_real_free_threaded_build_is_declined_and_said(tool, tmp_path, python):
    program, out = tmp_path / "program.py", tmp_path / "out"
    program.write_text("import time\nend = time.monotonic() + 0.6\nwhile time.monotonic() < end: pass\nprint('done')\n")
    done = tool("run", "-q", "-o", out, "--", python, program)
    assert done.stdout == "done\n"
    declined([json.loads(line) for line in tool("dump", out).stdout.splitlines()], tool.report(out))
