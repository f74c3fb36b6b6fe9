// Loaded in front of the C library (LD_PRELOAD): makes the N-th call that changes a file fail, or kills the process there.
//
//   FAULT_AT=N        the call, counted from 1 over the whole process, from when FAULT_AT is set
//   FAULT_KIND=once   that call fails; `full`: from there on nothing can be made or grow; `kill`: SIGKILL in front of the call
//   FAULT_ERRNO=E     what a failing call says
//   FAULT_NOTE=FILE   gets the number of calls so far, and `fired` once the fault has come
//   FAULT_CLOCK=S     each look at the wall clock is S seconds before or after the real time, in turns
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls, looks;

static long number(const char *name) {
    const char *text = getenv(name);
    return text == NULL ? 0 : atol(text);
}

static void note(long count, const char *what) {
    const char *file = getenv("FAULT_NOTE");
    if (file == NULL) return;
    char line[64];
    int length = snprintf(line, sizeof line, "%ld%s\n", count, what);
    long descriptor = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0644);
    syscall(SYS_write, descriptor, line, length);
    syscall(SYS_close, descriptor);
}

// Whether this call is to fail; `grows`: it makes something or makes it larger, which a full disk refuses.
static int fails(int grows) {
    long at = number("FAULT_AT");
    const char *kind = getenv("FAULT_KIND");
    if (at == 0 || kind == NULL) return 0;
    long count = atomic_fetch_add(&calls, 1) + 1;
    int full = strcmp(kind, "full") == 0;
    int fired = full ? count >= at && grows : count == at;
    note(count, fired ? " fired" : "");
    if (fired && strcmp(kind, "kill") == 0) syscall(SYS_kill, getpid(), SIGKILL);
    if (fired) errno = (int)number("FAULT_ERRNO");
    return fired;
}

static int regular(int descriptor) {
    struct stat status;
    int before = errno, found = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    errno = before;
    return found;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALL(result, name, parameters, arguments, grows) \
    result name parameters { return fails(grows) ? -1 : REAL(name) arguments; }
#define CALL_ON(result, name, parameters, arguments, descriptor) \
    result name parameters { return regular(descriptor) && fails(1) ? -1 : REAL(name) arguments; }
#define OPEN(name, first, call) \
    int name(first const char *path, int flags, ...) { \
        va_list list; \
        va_start(list, flags); \
        int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, int) : 0; \
        va_end(list); \
        return (flags & (O_WRONLY | O_RDWR | O_CREAT)) && strncmp(path, "/dev/", 5) != 0 && fails(1) ? -1 : REAL(name) call; \
    }
#define COMMA ,

OPEN(open, , (path, flags, mode))
OPEN(open64, , (path, flags, mode))
OPEN(openat, int folder COMMA, (folder, path, flags, mode))
OPEN(openat64, int folder COMMA, (folder, path, flags, mode))
CALL_ON(ssize_t, write, (int to, const void *data, size_t size), (to, data, size), to)
CALL_ON(ssize_t, pwrite64, (int to, const void *data, size_t size, off64_t at), (to, data, size, at), to)
CALL_ON(ssize_t, writev, (int to, const struct iovec *data, int count), (to, data, count), to)
CALL_ON(ssize_t, sendfile, (int to, int from, off_t *at, size_t size), (to, from, at, size), to)
CALL_ON(ssize_t, copy_file_range, (int from, off64_t *at, int to, off64_t *there, size_t size, unsigned flags),
        (from, at, to, there, size, flags), to)
CALL_ON(int, fsync, (int file), (file), file)
CALL_ON(int, fdatasync, (int file), (file), file)
CALL(int, rename, (const char *from, const char *to), (from, to), 0)
CALL(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), 0)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), 1)
CALL(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), 1)
CALL(int, unlink, (const char *path), (path), 0)
CALL(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags), 0)
CALL(int, rmdir, (const char *path), (path), 0)

static long step(void) {
    long seconds = number("FAULT_CLOCK");
    return seconds == 0 ? 0 : atomic_fetch_add(&looks, 1) % 2 ? -seconds : seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = REAL(clock_gettime)(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += step();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int result = REAL(gettimeofday)(now, zone);
    if (result == 0) now->tv_sec += step();
    return result;
}

time_t time(time_t *at) {
    time_t now = REAL(time)(NULL) + step();
    if (at != NULL) *at = now;
    return now;
}
