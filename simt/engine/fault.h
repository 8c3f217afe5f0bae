// fault.h -- a lane that touches memory that is not there.
// SPDX-License-Identifier: Apache-2.0
//
// While a launch runs, SIGSEGV and SIGBUS become a misuse like any other: the handler runs on a
// stack of its own and switches from there to the next lane; the lane at fault never comes back.
// AddressSanitizer has a better report of its own, so its builds leave the signals to it.
#ifndef SIMT_ENGINE_FAULT_H
#define SIMT_ENGINE_FAULT_H

#if SIMT__ASAN

struct fault_guard {
  fault_guard() {}
};

#else

#include <signal.h>

static std::string report_stack_overflow(const simt__lane *lane) {
  return of_lane("a lane's stack overflows", lane, "a load or store" + called_at(lane)) +
         line("stack", format("%lu bytes; SIMT_STACK_BYTES sets it",
                              (unsigned long)lane->fiber.stack_bytes));
}

static std::string report_no_memory(const simt__lane *lane, const void *address) {
  return of_lane("an access to memory that is not there", lane, "a load or store" + called_at(lane)) +
         line("address", format("0x%llx", (unsigned long long)(uintptr_t)address));
}

static std::string report_fault(const simt__lane *lane, const char *address) {
  const simt__fiber *fiber = &lane->fiber;
  size_t guard_bytes = (size_t)sysconf(_SC_PAGESIZE);
  if (address < fiber->stack && address >= fiber->stack - guard_bytes)
    return report_stack_overflow(lane);
  if (is_poison_address(address)) return report_poison_pointer(lane, "a load or store" + called_at(lane), address);
  return report_no_memory(lane, address);
}

static void on_fault(int signal_number, siginfo_t *info, void *) {
  simt__lane *me = engine.lane;
  if (!me) {  // not ours: it happens again, with the system's own handling
    signal(signal_number, SIG_DFL);
    return;
  }
  note_elsewhere(me, report_fault(me, static_cast<const char *>(info->si_addr)));
  stop(me);
}

// Takes the signals for as long as it lives.
struct fault_guard {
  struct sigaction old_segv, old_bus;
  stack_t old_stack;
  fault_guard() {
    alignas(16) static char stack[1 << 16];
    stack_t own;
    memset(&own, 0, sizeof own);
    own.ss_sp = stack;
    own.ss_size = sizeof stack;
    sigaltstack(&own, &old_stack);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    // Not deferred: the handler does not return, so nothing would unblock the signal.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, &old_segv);
    sigaction(SIGBUS, &action, &old_bus);
  }
  ~fault_guard() {
    sigaction(SIGSEGV, &old_segv, NULL);
    sigaction(SIGBUS, &old_bus, NULL);
    sigaltstack(&old_stack, NULL);
  }
};

#endif
#endif
