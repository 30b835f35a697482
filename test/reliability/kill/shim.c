/*
 * Loaded into the daemon with LD_PRELOAD. Counts the system calls that leave the process for a file below one of `SHIM_ROOTS` or for
 * a TCP connection, and at the one that `SHIM_AT` names it kills the process or lets the call fail.
 *
 *   SHIM_ROOTS  directories, separated by ':'
 *   SHIM_CALLS  names of calls that count, separated by ',' (see `NAMES`)
 *   SHIM_AT     number of the call, from 1; 0 only counts
 *   SHIM_ONLY   of that number: counts only this call of a path with this ending, like `write /receipts.jsonl`
 *   SHIM_DO     before | after | tear (half of the bytes, then the end) | NAME OF AN ERROR, like EIO | swap
 *   SHIM_REPEAT 1: an error comes back from every further call as well
 *   SHIM_WHILE  errors come only while there is a file of this name
 *   SHIM_MATCH  of `swap`: counts only renames, links and unlinks of this path, and puts `SHIM_SWAP` there right before
 *   SHIM_TRACE  a file for what was seen: it is mapped, so a killed process has written everything
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define LINE 160
#define MOST_LINES 8192

/* What a test reads back (trace.ts): a header of one line, then a line for each call. */
struct trace {
  _Atomic uint32_t count;
  _Atomic uint32_t is_hit;
  char rest[LINE - 8];
  char lines[MOST_LINES][LINE];
};

static struct trace unmapped, *trace = &unmapped;
static const char *roots, *calls, *action, *match, *swap, *condition, *only;
static uint32_t at;
static _Atomic uint32_t of_only;
static int failure, is_repeated, is_on;

static int errno_of(const char *name) {
  static const struct { const char *name; int number; } known[] = {
    {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE}, {"EACCES", EACCES}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS},
    {"ECONNRESET", ECONNRESET}, {"EPIPE", EPIPE}, {"EINTR", EINTR}, {"ESTALE", ESTALE},
  };
  for (size_t n = 0; n < sizeof known / sizeof *known; n += 1)
    if (strcmp(known[n].name, name) == 0) return known[n].number;
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  const char *number = getenv("SHIM_AT"), *file = getenv("SHIM_TRACE");
  roots = getenv("SHIM_ROOTS");
  calls = getenv("SHIM_CALLS");
  action = getenv("SHIM_DO");
  match = getenv("SHIM_MATCH");
  swap = getenv("SHIM_SWAP");
  condition = getenv("SHIM_WHILE");
  only = getenv("SHIM_ONLY");
  if (roots == NULL || calls == NULL || action == NULL || number == NULL || file == NULL) return;
  at = (uint32_t)strtoul(number, NULL, 10);
  failure = errno_of(action);
  is_repeated = getenv("SHIM_REPEAT") != NULL;
  int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(struct trace)) != 0) abort();
  trace = mmap(NULL, sizeof(struct trace), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (trace == MAP_FAILED) abort();
  close(fd);
  /* A child of the daemon is not the daemon. */
  unsetenv("LD_PRELOAD");
  is_on = 1;
}

/* Whether a list like "a,b,c" has the word. */
static int lists(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *p = list; (p = strstr(p, word)) != NULL; p += 1)
    if ((p == list || p[-1] == ',') && (p[length] == ',' || p[length] == '\0')) return 1;
  return 0;
}

static int is_below_root(const char *path) {
  for (const char *p = roots; p != NULL && *p != '\0'; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
    size_t length = strcspn(p, ":");
    if (strncmp(path, p, length) == 0 && (path[length] == '/' || path[length] == '\0')) return 1;
  }
  return 0;
}

/* The path of a descriptor, or "tcp". @returns whether it is of interest */
static int name_fd(int fd, char *into, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, into, size - 1);
  if (length < 0) return 0;
  into[length] = '\0';
  if (strncmp(into, "socket:", 7) != 0) return is_below_root(into);
  struct sockaddr_storage address;
  socklen_t room = sizeof address;
  if (getpeername(fd, (struct sockaddr *)&address, &room) != 0) return 0;
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return 0;
  snprintf(into, size, "tcp");
  return 1;
}

/* A path as it was given: from a directory, or through /proc/self/fd/N. */
static int name_path(int directory, const char *path, char *into, size_t size) {
  char start[2048];
  int fd = -1, used = 0;
  if (path == NULL) return 0;
  if (sscanf(path, "/proc/self/fd/%d%n", &fd, &used) == 1 && used > 0) {
    if (!name_fd(fd, start, sizeof start)) return 0;
    snprintf(into, size, "%s%s", start, path + used);
    return 1;
  }
  if (path[0] != '/' && directory != AT_FDCWD) {
    if (!name_fd(directory, start, sizeof start)) return 0;
    snprintf(into, size, "%s/%s", start, path);
    return 1;
  }
  snprintf(into, size, "%s", path);
  return is_below_root(into);
}

/* Whether a call is the one that `SHIM_ONLY` is about. */
static int is_only(const char *name, const char *what) {
  size_t length = strlen(name), all = strlen(what);
  if (strncmp(only, name, length) != 0 || only[length] != ' ') return 0;
  const char *ending = only + length + 1;
  return all >= strlen(ending) && strcmp(what + all - strlen(ending), ending) == 0;
}

static void end(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

enum verdict { PASS, FAIL, TEAR, END_AFTER };

/* Counts a call of interest, and says what becomes of it. `end` never returns. */
static enum verdict judge(const char *name, const char *what) {
  uint32_t number = atomic_fetch_add(&trace->count, 1) + 1;
  if (number <= MOST_LINES) snprintf(trace->lines[number - 1], LINE, "%s %s", name, what);
  if (only != NULL) number = is_only(name, what) ? atomic_fetch_add(&of_only, 1) + 1 : 0;
  int is_this = (number != 0 && number == at) || (is_repeated && failure != 0 && at != 0 && number > at);
  if (!is_this || (condition != NULL && access(condition, F_OK) != 0)) return PASS;
  atomic_store(&trace->is_hit, 1);
  if (failure != 0) return FAIL;
  if (strcmp(action, "swap") == 0) {
    int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    if (real(swap, match) != 0) abort();
    return PASS;
  }
  if (strcmp(action, "after") == 0) return END_AFTER;
  if (strcmp(action, "tear") == 0) return TEAR;
  end();
  return PASS;
}

static enum verdict judge_fd(const char *name, int fd) {
  char what[4096];
  if (!is_on || match != NULL) return PASS;
  int before = errno;
  int is_ours = name_fd(fd, what, sizeof what);
  /* Streams are written and read with the calls of files as well. */
  if (is_ours && strcmp(what, "tcp") == 0) name = name[0] == 'w' ? "send" : name[0] == 'r' ? "recv" : name;
  enum verdict verdict = is_ours && lists(calls, name) ? judge(name, what) : PASS;
  errno = before;
  return verdict;
}

static enum verdict judge_path(const char *name, int directory, const char *path) {
  char what[8192];
  if (!is_on || !lists(calls, name)) return PASS;
  int before = errno;
  int is_meant = name_path(directory, path, what, sizeof what) && (match == NULL || strcmp(what, match) == 0);
  enum verdict verdict = is_meant ? judge(name, what) : PASS;
  errno = before;
  return verdict;
}

/* A call that takes a file from one name to another. Its trace has the new one. */
static enum verdict judge_names(const char *name, int a, const char *from, int b, const char *to) {
  char what[8192];
  if (match == NULL) return judge_path(name, b, to);
  int before = errno;
  int is_it = is_on && ((name_path(a, from, what, sizeof what) && strcmp(what, match) == 0) ||
                        (name_path(b, to, what, sizeof what) && strcmp(what, match) == 0));
  enum verdict verdict = is_it ? judge(name, what) : PASS;
  errno = before;
  return verdict;
}

#define REAL(type, name, ...)                                                      \
  static type (*real)(__VA_ARGS__);                                                \
  if (real == NULL) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define RUN(type, asked, call)                                                     \
  do {                                                                             \
    enum verdict is = (asked);                                                     \
    if (is == FAIL) {                                                              \
      errno = failure;                                                             \
      return -1;                                                                   \
    }                                                                              \
    type result = (call);                                                          \
    if (is == END_AFTER || is == TEAR) end();                                      \
    return result;                                                                 \
  } while (0)

/* Calls with bytes: TEAR hands over half of them first. */
#define WRITES(symbol, name, parameters, arguments, half)                          \
  ssize_t symbol parameters {                                                      \
    static ssize_t (*real) parameters;                                             \
    if (real == NULL) real = (ssize_t(*) parameters)dlsym(RTLD_NEXT, #symbol);     \
    enum verdict is = judge_fd(name, fd);                                          \
    if (is == FAIL) {                                                              \
      errno = failure;                                                             \
      return -1;                                                                   \
    }                                                                              \
    if (is == TEAR) {                                                              \
      half;                                                                        \
    }                                                                              \
    ssize_t result = real arguments;                                               \
    if (is == END_AFTER || is == TEAR) end();                                      \
    return result;                                                                 \
  }

WRITES(write, "write", (int fd, const void *bytes, size_t size), (fd, bytes, size), size /= 2)
WRITES(pwrite, "write", (int fd, const void *bytes, size_t size, off_t from), (fd, bytes, size, from), size /= 2)
WRITES(pwrite64, "write", (int fd, const void *bytes, size_t size, off64_t from), (fd, bytes, size, from), size /= 2)
WRITES(writev, "write", (int fd, const struct iovec *parts, int count), (fd, parts, count), count = (count + 1) / 2)
WRITES(pwritev, "write", (int fd, const struct iovec *parts, int count, off_t from), (fd, parts, count, from), count = (count + 1) / 2)
WRITES(pwritev64, "write", (int fd, const struct iovec *parts, int count, off64_t from), (fd, parts, count, from), count = (count + 1) / 2)
WRITES(send, "send", (int fd, const void *bytes, size_t size, int flags), (fd, bytes, size, flags), size /= 2)
WRITES(sendto, "send", (int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t length), (fd, bytes, size, flags, to, length), size /= 2)
WRITES(sendmsg, "send", (int fd, const struct msghdr *message, int flags), (fd, message, flags), (void)0)
WRITES(read, "read", (int fd, void *bytes, size_t size), (fd, bytes, size), (void)0)
WRITES(readv, "read", (int fd, const struct iovec *parts, int count), (fd, parts, count), (void)0)
WRITES(pread, "read", (int fd, void *bytes, size_t size, off_t from), (fd, bytes, size, from), (void)0)
WRITES(pread64, "read", (int fd, void *bytes, size_t size, off64_t from), (fd, bytes, size, from), (void)0)
WRITES(preadv, "read", (int fd, const struct iovec *parts, int count, off_t from), (fd, parts, count, from), (void)0)
WRITES(preadv64, "read", (int fd, const struct iovec *parts, int count, off64_t from), (fd, parts, count, from), (void)0)
WRITES(recv, "recv", (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags), (void)0)
WRITES(recvmsg, "recv", (int fd, struct msghdr *message, int flags), (fd, message, flags), (void)0)
WRITES(copy_file_range, "copy", (int from, off64_t *a, int fd, off64_t *b, size_t size, unsigned flags), (from, a, fd, b, size, flags), size /= 2)
WRITES(sendfile, "copy", (int fd, int from, off_t *start, size_t size), (fd, from, start, size), size /= 2)
WRITES(sendfile64, "copy", (int fd, int from, off64_t *start, size_t size), (fd, from, start, size), size /= 2)

int fsync(int fd) { REAL(int, "fsync", int); RUN(int, judge_fd("fsync", fd), real(fd)); }
int fdatasync(int fd) { REAL(int, "fdatasync", int); RUN(int, judge_fd("fsync", fd), real(fd)); }
int ftruncate(int fd, off_t size) { REAL(int, "ftruncate", int, off_t); RUN(int, judge_fd("truncate", fd), real(fd, size)); }
int ftruncate64(int fd, off64_t size) { REAL(int, "ftruncate64", int, off64_t); RUN(int, judge_fd("truncate", fd), real(fd, size)); }
int fchmod(int fd, mode_t mode) { REAL(int, "fchmod", int, mode_t); RUN(int, judge_fd("chmod", fd), real(fd, mode)); }
int chmod(const char *path, mode_t mode) {
  REAL(int, "chmod", const char *, mode_t);
  RUN(int, judge_path("chmod", AT_FDCWD, path), real(path, mode));
}
int mkdir(const char *path, mode_t mode) {
  REAL(int, "mkdir", const char *, mode_t);
  RUN(int, judge_path("mkdir", AT_FDCWD, path), real(path, mode));
}
int rmdir(const char *path) {
  REAL(int, "rmdir", const char *);
  RUN(int, judge_path("unlink", AT_FDCWD, path), real(path));
}
int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  RUN(int, judge_path("unlink", AT_FDCWD, path), real(path));
}
int unlinkat(int directory, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  RUN(int, judge_path("unlink", directory, path), real(directory, path, flags));
}
int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  RUN(int, judge_names("rename", AT_FDCWD, from, AT_FDCWD, to), real(from, to));
}
int renameat(int a, const char *from, int b, const char *to) {
  REAL(int, "renameat", int, const char *, int, const char *);
  RUN(int, judge_names("rename", a, from, b, to), real(a, from, b, to));
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  REAL(int, "renameat2", int, const char *, int, const char *, unsigned);
  RUN(int, judge_names("rename", a, from, b, to), real(a, from, b, to, flags));
}
int link(const char *from, const char *to) {
  REAL(int, "link", const char *, const char *);
  RUN(int, judge_names("link", AT_FDCWD, from, AT_FDCWD, to), real(from, to));
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
  REAL(int, "linkat", int, const char *, int, const char *, int);
  RUN(int, judge_names("link", a, from, b, to), real(a, from, b, to, flags));
}

/* Opening to create is an effect; any other is of interest for its errors only. */
static enum verdict judge_open(int directory, const char *path, int flags) {
  return judge_path((flags & O_CREAT) != 0 ? "create" : "open", directory, path);
}

#define MODE_OF(flags)                                                             \
  mode_t mode = 0;                                                                 \
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {                                      \
    va_list more;                                                                  \
    va_start(more, flags);                                                         \
    mode = va_arg(more, mode_t);                                                   \
    va_end(more);                                                                  \
  }

int open(const char *path, int flags, ...) {
  REAL(int, "open", const char *, int, ...);
  MODE_OF(flags)
  RUN(int, judge_open(AT_FDCWD, path, flags), real(path, flags, mode));
}
int open64(const char *path, int flags, ...) {
  REAL(int, "open64", const char *, int, ...);
  MODE_OF(flags)
  RUN(int, judge_open(AT_FDCWD, path, flags), real(path, flags, mode));
}
int openat(int directory, const char *path, int flags, ...) {
  REAL(int, "openat", int, const char *, int, ...);
  MODE_OF(flags)
  RUN(int, judge_open(directory, path, flags), real(directory, path, flags, mode));
}
int openat64(int directory, const char *path, int flags, ...) {
  REAL(int, "openat64", int, const char *, int, ...);
  MODE_OF(flags)
  RUN(int, judge_open(directory, path, flags), real(directory, path, flags, mode));
}
