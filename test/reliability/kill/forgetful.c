/*
 * Loaded into the daemon with LD_PRELOAD, behind shim.so: a disk that forgets. What is written goes where it belongs, but a shadow
 * directory has only what a power cut would leave: the bytes of a file as of its last fsync, the names in a directory as of its own.
 * Nothing is really synced. `forgetful-disk.ts` fills the shadow before a start, and makes it true after a cut.
 *
 *   FORGET_ROOTS   directories, separated by ':'
 *   FORGET_SHADOW  bytes/INODE, names/INODE (lines `INODE f|d NAME`), and gone/INODE: what lost its last name, so that its number stays taken
 *
 * Pessimistic: a rename is durable in each of its two directories by itself, and a new file that was synced has no name before its
 * directory was synced.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *roots, *shadow;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
  roots = getenv("FORGET_ROOTS");
  shadow = getenv("FORGET_SHADOW");
}

/* Beside the calls that shim.so counts. */
static int raw_open(const char *path, int flags) { return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600); }

static int is_ours(int fd) {
  char link[64], path[4096];
  if (roots == NULL || shadow == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = '\0';
  for (const char *p = roots; p != NULL; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
    size_t length = strcspn(p, ":");
    if (strncmp(path, p, length) == 0 && (path[length] == '/' || path[length] == '\0')) return 1;
  }
  return 0;
}

static void must(int is_so) {
  if (!is_so) abort();
}

/* Through the descriptor itself where it can be read: closing another one would drop SQLite's locks. */
static void copy_bytes(int fd, int to) {
  static char block[1 << 16];
  int from = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY ? -1 : fd;
  if (from < 0) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    must((from = raw_open(path, O_RDONLY)) >= 0);
  }
  off_t at = 0;
  for (ssize_t size; (size = syscall(SYS_pread64, from, block, sizeof block, at)) > 0; at += size)
    must(syscall(SYS_write, to, block, size) == size);
  if (from != fd) syscall(SYS_close, from);
}

static void copy_names(int fd, int to) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int again = raw_open(path, O_RDONLY | O_DIRECTORY);
  DIR *directory = fdopendir(again);
  must(directory != NULL);
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (entry->d_type != DT_REG && entry->d_type != DT_DIR) continue;
    int size = snprintf(line, sizeof line, "%lu %c %s\n", entry->d_ino, entry->d_type == DT_DIR ? 'd' : 'f', entry->d_name);
    must(syscall(SYS_write, to, line, size) == size);
  }
  closedir(directory);
}

/* Whole or not at all, whenever the cut comes. */
static int keep(int fd) {
  char path[4096], fresh[4096];
  struct stat stats;
  must(fstat(fd, &stats) == 0);
  int is_directory = S_ISDIR(stats.st_mode);
  snprintf(path, sizeof path, "%s/%s/%lu", shadow, is_directory ? "names" : "bytes", stats.st_ino);
  snprintf(fresh, sizeof fresh, "%s/fresh", shadow);
  pthread_mutex_lock(&one_at_a_time);
  int to = raw_open(fresh, O_WRONLY | O_CREAT | O_TRUNC);
  must(to >= 0);
  if (is_directory) copy_names(fd, to);
  else copy_bytes(fd, to);
  syscall(SYS_close, to);
  must(syscall(SYS_renameat2, AT_FDCWD, fresh, AT_FDCWD, path, 0) == 0);
  pthread_mutex_unlock(&one_at_a_time);
  return 0;
}

/* Keeps what is about to lose its last name: a cut may bring the name back. */
static void save(int directory, const char *path) {
  char gone[4096];
  struct stat stats;
  int before = errno;
  int fd = roots == NULL ? -1 : (int)syscall(SYS_openat, directory, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
  if (fd >= 0 && is_ours(fd) && fstat(fd, &stats) == 0 && S_ISREG(stats.st_mode) && stats.st_nlink == 1) {
    snprintf(gone, sizeof gone, "%s/gone/%lu", shadow, stats.st_ino);
    must(syscall(SYS_linkat, directory, path, AT_FDCWD, gone, 0) == 0 || errno == EEXIST || errno == ENOENT);
  }
  if (fd >= 0) syscall(SYS_close, fd);
  errno = before;
}

#define REAL(name, ...)                                                            \
  static int (*real)(__VA_ARGS__);                                                 \
  if (real == NULL) real = (int (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

int fsync(int fd) { REAL("fsync", int); return is_ours(fd) ? keep(fd) : real(fd); }
int fdatasync(int fd) { REAL("fdatasync", int); return is_ours(fd) ? keep(fd) : real(fd); }

int unlink(const char *path) { REAL("unlink", const char *); save(AT_FDCWD, path); return real(path); }
int unlinkat(int at, const char *path, int flags) {
  REAL("unlinkat", int, const char *, int);
  if ((flags & AT_REMOVEDIR) == 0) save(at, path);
  return real(at, path, flags);
}
int rename(const char *from, const char *to) { REAL("rename", const char *, const char *); save(AT_FDCWD, to); return real(from, to); }
int renameat(int a, const char *from, int b, const char *to) {
  REAL("renameat", int, const char *, int, const char *);
  save(b, to);
  return real(a, from, b, to);
}

/* An empty directory is set aside, so that its number stays taken as well. */
int rmdir(const char *path) {
  REAL("rmdir", const char *);
  char gone[4096];
  struct stat stats;
  int fd = roots == NULL ? -1 : raw_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), is_empty = 1;
  if (fd < 0 || !is_ours(fd)) return real(path);
  must(fstat(fd, &stats) == 0);
  DIR *directory = fdopendir(fd);
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) is_empty = 0;
  closedir(directory);
  if (!is_empty) return real(path);
  snprintf(gone, sizeof gone, "%s/gone/%lu", shadow, stats.st_ino);
  return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, gone, 0);
}
