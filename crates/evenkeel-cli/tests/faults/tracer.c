// Ends a program at one of its system calls: cc -O1 tracer.c -o tracer; tracer AT LOG PROGRAM [ARGUMENT ...]
//
//   AT   number of the system call at whose entry the program is killed (SIGKILL), from 1, whichever thread makes it;
//        0: none, the calls are only counted
//   LOG  file that gets "count\n"
//
// Every system call of every thread counts, from the loader's first on: the calls that a shim between program and C library
// never sees are among them. The exit code is 0 where the program was killed, else the program's own; 125 where the tracer
// itself fails. Tracing a child of one's own needs no special rights.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/ptrace.h>

enum { FAILED = 125 };

static int fails(const char *what) {
    fprintf(stderr, "tracer: %s: %s\n", what, strerror(errno));
    return FAILED;
}

static int is_entry(pid_t thread) {
    struct ptrace_syscall_info info;
    long size = ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);
    return size > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

int main(int count, char **words) {
    if (count < 4) return FAILED;
    long at = atol(words[1]), calls = 0;
    pid_t child = fork();
    if (child < 0) return fails("fork");
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(fails("a program cannot be traced here"));
        raise(SIGSTOP);
        execv(words[3], words + 3);
        _exit(fails(words[3]));
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return FAILED;
    // The program does not outlive its tracer.
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
                   PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, options) != 0) return fails("options");
    int running = 0, code = FAILED;
    pid_t thread = child;
    long signal = 0;
    for (;;) {
        // A thread that another one has ended is gone already.
        if (ptrace(PTRACE_SYSCALL, thread, NULL, signal) != 0 && errno != ESRCH) return fails("go on");
        signal = 0;
        thread = waitpid(-1, &status, __WALL);
        while (thread > 0 && !WIFSTOPPED(status)) {
            if (thread == child) {
                code = WIFEXITED(status) ? WEXITSTATUS(status) : at > 0 && calls >= at ? 0 : 128 + WTERMSIG(status);
                goto ended;
            }
            thread = waitpid(-1, &status, __WALL);
        }
        if (thread < 0) return fails("wait");
        int stopped = WSTOPSIG(status), event = status >> 16;
        if (event == PTRACE_EVENT_EXEC) {
            running = 1;
        } else if (stopped == (SIGTRAP | 0x80)) {
            if (running && is_entry(thread) && ++calls == at) kill(child, SIGKILL);
        } else if (event == 0 && stopped != SIGSTOP) {
            // A signal of the program's own. The first stop of a new thread is SIGSTOP, and is ours.
            signal = stopped;
        }
    }
ended:;
    FILE *log = fopen(words[2], "w");
    if (log == NULL) return fails(words[2]);
    fprintf(log, "%ld\n", calls);
    fclose(log);
    return code;
}
