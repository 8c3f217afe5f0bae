// fiber.h -- fibers: stacks and the switch between them.
// SPDX-License-Identifier: Apache-2.0
//
// A fiber is a stack and a saved stack pointer. fiber_switch() pushes the registers a callee must
// preserve, swaps stack pointers, pops them and returns: no system call, no signal mask. All lanes
// come by the same places in the code, so that even the processor's prediction of returns is right
// most of the time. Machines other than x86-64 and aarch64 use ucontext, slower by its system
// calls.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simt_types.h"

#if SIMT__ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(SIMT_UCONTEXT)
#if defined(__x86_64__) || defined(__aarch64__)
#define SIMT_UCONTEXT 0
#else
#define SIMT_UCONTEXT 1
#endif
#endif
#if SIMT_UCONTEXT
#include <ucontext.h>
#endif

#ifndef SIMT_STACK_BYTES
#define SIMT_STACK_BYTES (SIMT__ASAN ? 256 * 1024 : 64 * 1024)
#endif

struct simt__fiber {
  void *stack_pointer;
  char *stack;  // lowest usable byte; the page below it is the guard
  size_t stack_bytes;
#if SIMT_UCONTEXT
  ucontext_t context;
#endif
#if SIMT__ASAN
  void *fake_stack;
#endif
};

// fiber_prepare(fiber, entry, colour): the next switch to the fiber runs entry, which never
// returns, on its stack from the top.

#if SIMT_UCONTEXT

static inline void fiber_prepare(simt__fiber *fiber, void (*entry)(void), size_t) {
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = fiber->stack_bytes;
  fiber->context.uc_link = NULL;
  makecontext(&fiber->context, entry, 0);
}
static inline void fiber_swap(simt__fiber *from, simt__fiber *to) {
  swapcontext(&from->context, &to->context);
}

#else

extern "C" void simt__swap(void **save, void *load);
extern "C" void simt__enter(void);

#define SIMT__FUNCTION(name, ...)                                                                  \
  __asm__(".text\n.p2align 4\n.globl " name "\n.hidden " name "\n.type " name ", %function\n" name \
          ":\n" __VA_ARGS__ ".size " name ", . - " name "\n")

#if defined(__x86_64__)
SIMT__FUNCTION("simt__swap",
               "  pushq %rbp\n"
               "  pushq %rbx\n"
               "  pushq %r12\n"
               "  pushq %r13\n"
               "  pushq %r14\n"
               "  pushq %r15\n"
               "  movq %rsp, (%rdi)\n"
               "  movq %rsi, %rsp\n"
               "  popq %r15\n"
               "  popq %r14\n"
               "  popq %r13\n"
               "  popq %r12\n"
               "  popq %rbx\n"
               "  popq %rbp\n"
               "  ret\n");
SIMT__FUNCTION("simt__enter",
               "  .cfi_startproc\n"
               "  .cfi_undefined rip\n"
               "  callq *%rbx\n"
               "  ud2\n"
               "  .cfi_endproc\n");
enum { saved_words = 7, entry_word = 6, main_word = 4 };
#else
SIMT__FUNCTION("simt__swap",
               "  sub sp, sp, #160\n"
               "  stp x19, x20, [sp, #0]\n"
               "  stp x21, x22, [sp, #16]\n"
               "  stp x23, x24, [sp, #32]\n"
               "  stp x25, x26, [sp, #48]\n"
               "  stp x27, x28, [sp, #64]\n"
               "  stp x29, x30, [sp, #80]\n"
               "  stp d8, d9, [sp, #96]\n"
               "  stp d10, d11, [sp, #112]\n"
               "  stp d12, d13, [sp, #128]\n"
               "  stp d14, d15, [sp, #144]\n"
               "  mov x9, sp\n"
               "  str x9, [x0]\n"
               "  mov sp, x1\n"
               "  ldp x19, x20, [sp, #0]\n"
               "  ldp x21, x22, [sp, #16]\n"
               "  ldp x23, x24, [sp, #32]\n"
               "  ldp x25, x26, [sp, #48]\n"
               "  ldp x27, x28, [sp, #64]\n"
               "  ldp x29, x30, [sp, #80]\n"
               "  ldp d8, d9, [sp, #96]\n"
               "  ldp d10, d11, [sp, #112]\n"
               "  ldp d12, d13, [sp, #128]\n"
               "  ldp d14, d15, [sp, #144]\n"
               "  add sp, sp, #160\n"
               "  ret\n");
SIMT__FUNCTION("simt__enter",
               "  .cfi_startproc\n"
               "  .cfi_undefined x30\n"
               "  blr x19\n"
               "  brk #1\n"
               "  .cfi_endproc\n");
enum { saved_words = 20, entry_word = 11, main_word = 0 };
#endif

// Stacks lie at multiples of a page, so that all lanes' hot lines would fall into the same few
// cache sets; `colour` moves each fiber's start down by another multiple of three lines.
static inline void fiber_prepare(simt__fiber *fiber, void (*entry)(void), size_t colour) {
  uintptr_t top = (uintptr_t)fiber->stack + fiber->stack_bytes - (colour % 16) * 192;
  void **frame = (void **)(top & ~(uintptr_t)63) - saved_words - 1;
  // After the pops the stack pointer is a multiple of 16, as the ABI demands before a call.
  frame = (void **)(((uintptr_t)(frame + saved_words) & ~(uintptr_t)15)) - saved_words;
  for (int i = 0; i < saved_words; ++i) frame[i] = NULL;
  frame[main_word] = (void *)(uintptr_t)entry;
  frame[entry_word] = (void *)(uintptr_t)simt__enter;
  fiber->stack_pointer = frame;
}
static inline void fiber_swap(simt__fiber *from, simt__fiber *to) {
  simt__swap(&from->stack_pointer, to->stack_pointer);
}

#endif

#if SIMT__ASAN

// AddressSanitizer is told whose stack it looks at. A fiber that will not come back passes `last`.
static simt__fiber *fiber_left;
static inline void fiber_arrived(simt__fiber *fiber) {
  const void *stack = NULL;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(fiber->fake_stack, &stack, &bytes);
  if (!fiber_left->stack) {  // the thread's own stack, seen for the first time
    fiber_left->stack = (char *)const_cast<void *>(stack);
    fiber_left->stack_bytes = bytes;
  }
}
static inline void fiber_switch(simt__fiber *from, simt__fiber *to, bool last) {
  fiber_left = from;
  __sanitizer_start_switch_fiber(last ? NULL : &from->fake_stack, to->stack, to->stack_bytes);
  fiber_swap(from, to);
  fiber_arrived(from);
}
// What never returned leaves its part of the stack poisoned: the whole of it where the fiber was
// abandoned halfway, its outermost functions where it came to its end.
static inline void fiber_reset(simt__fiber *fiber, bool abandoned) {
  size_t bytes = abandoned ? fiber->stack_bytes : 8192;
  __asan_unpoison_memory_region(fiber->stack + fiber->stack_bytes - bytes, bytes);
  fiber->fake_stack = NULL;
}

#else

static inline void fiber_arrived(simt__fiber *) {}
static inline void fiber_switch(simt__fiber *from, simt__fiber *to, bool) { fiber_swap(from, to); }
static inline void fiber_reset(simt__fiber *, bool) {}

#endif

// Stacks for `count` fibers in one mapping, each with a guard page below it. False: no memory.
static inline bool fiber_stacks(simt__fiber **fibers, int count) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t bytes = ((size_t)SIMT_STACK_BYTES + page - 1) / page * page;
  size_t pitch = bytes + page;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *memory = mmap(NULL, pitch * (size_t)count, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) return false;
  for (int i = 0; i < count; ++i) {
    char *guard = (char *)memory + pitch * (size_t)i;
    if (mprotect(guard, page, PROT_NONE) != 0) return false;
    fibers[i]->stack = guard + page;
    fibers[i]->stack_bytes = bytes;
  }
  return true;
}
