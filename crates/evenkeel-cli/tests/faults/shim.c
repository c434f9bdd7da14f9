// Faults on purpose, between a program and the C library (glibc): cc -shared -fPIC -O1 shim.c -o shim.so, LD_PRELOAD=shim.so
//
//   FAULTS_CALL  write | fsync | rename | open | mmap | alloc    which calls are counted
//   FAULTS_AT    number of the call that fails, from 1; none: count only
//   FAULTS_HOW   an errno, or -1 for a short write
//   FAULTS_LOG   file that gets "count\n" when the process exits
//
// Writes to stderr are left alone: the harness reads the sentence there. System calls are made directly, so that nothing here depends on what else is preloaded.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NONE = 0, WRITE = 1, FSYNC = 2, RENAME = 4, OPEN = 8, MMAP = 16, ALLOC = 32 };
enum { SHORT = -1 };

static int watched;
static long at;
static int how;
static atomic_long calls;

__attribute__((constructor)) static void begin(void) {
    const char *call = getenv("FAULTS_CALL");
    const char *number = getenv("FAULTS_AT");
    const char *kind = getenv("FAULTS_HOW");
    at = number ? atol(number) : 0;
    how = kind ? atoi(kind) : EIO;
    if (call == NULL) return;
    if (!strcmp(call, "write")) watched = WRITE;
    if (!strcmp(call, "fsync")) watched = FSYNC;
    if (!strcmp(call, "rename")) watched = RENAME;
    if (!strcmp(call, "open")) watched = OPEN;
    if (!strcmp(call, "mmap")) watched = MMAP;
    if (!strcmp(call, "alloc")) watched = ALLOC;
}

__attribute__((destructor)) static void end(void) {
    const char *log = getenv("FAULTS_LOG");
    if (log == NULL) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    int file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return;
    syscall(SYS_write, file, text, length);
    syscall(SYS_close, file);
}

// Whether this call is the one.
static int strikes(int kind) {
    if (!(watched & kind)) return 0;
    long number = atomic_fetch_add(&calls, 1) + 1;
    return at != 0 && number == at;
}

static long fails(void) {
    errno = how;
    return -1;
}

ssize_t write(int file, const void *bytes, size_t count) {
    if (file != 2 && strikes(WRITE)) {
        if (how != SHORT) return fails();
        count = count > 1 ? count / 2 : count;
    }
    return syscall(SYS_write, file, bytes, count);
}

// SQLite writes at places of its file.
ssize_t pwrite(int file, const void *bytes, size_t count, off_t place) {
    if (strikes(WRITE)) {
        if (how != SHORT) return fails();
        count = count > 1 ? count / 2 : count;
    }
    return syscall(SYS_pwrite64, file, bytes, count, place);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t place) { return pwrite(file, bytes, count, place); }

ssize_t writev(int file, const struct iovec *parts, int count) {
    if (file != 2 && strikes(WRITE)) {
        if (how != SHORT) return fails();
        count = count > 1 ? count / 2 : count;
    }
    return syscall(SYS_writev, file, parts, count);
}

int fsync(int file) { return strikes(FSYNC) ? fails() : syscall(SYS_fsync, file); }

int fdatasync(int file) { return strikes(FSYNC) ? fails() : syscall(SYS_fdatasync, file); }

int rename(const char *from, const char *to) {
    if (strikes(RENAME)) return fails();
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int opens(int directory, const char *path, int flags, mode_t mode) {
    if (strikes(OPEN)) return fails();
    return syscall(SYS_openat, directory, path, flags, mode);
}

#define MODE(last)                                     \
    mode_t mode = 0;                                   \
    if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) { \
        va_list more;                                  \
        va_start(more, last);                          \
        mode = va_arg(more, mode_t);                   \
        va_end(more);                                  \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    return opens(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags)
    return opens(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    MODE(flags)
    return opens(directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...) {
    MODE(flags)
    return opens(directory, path, flags, mode);
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    if (strikes(MMAP)) return (void *)fails();
    return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int file, off64_t offset) {
    return mmap(address, length, protection, flags, file, offset);
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size) { return strikes(ALLOC) ? no_memory() : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
    return strikes(ALLOC) ? no_memory() : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return strikes(ALLOC) ? no_memory() : __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *found = strikes(ALLOC) ? NULL : __libc_memalign(alignment, size);
    if (found == NULL) return ENOMEM;
    *memory = found;
    return 0;
}
