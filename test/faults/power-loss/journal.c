/*
 * A library to preload into a process. It keeps a journal of the process's system calls on the files in one folder, and
 * of the HTTP responses and POSTs that the process sends. Linux only, 64 bits. Two environment variables configure it:
 * JOURNAL_FOLDER is the folder to watch, without its subfolders. JOURNAL_FILE is the file to which the library appends.
 *
 * The library records a change before the call, a sync after the call, and a response or request before sending it. The
 * journal therefore never claims more durability than the files have.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPENED = 1, WRITE, TRUNCATE, SYNC, SYNC_FOLDER, UNLINK, RENAME, ANSWER, FAULT, REQUEST };

struct head {
  uint32_t kind;
  uint32_t length;
  uint64_t inode; /* ANSWER: the remote port */
  uint64_t offset; /* TRUNCATE: the size; ANSWER: the status */
};

static int journal = -1;
static char folder[PATH_MAX];
static size_t folder_length;
/* Held from writing a record until its call returns, so that the journal has the kernel's order. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
  const char *where = getenv("JOURNAL_FOLDER");
  const char *file = getenv("JOURNAL_FILE");
  if (where == NULL || file == NULL || realpath(where, folder) == NULL) return;
  folder_length = strlen(folder);
  int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  journal = (int)syscall(SYS_openat, AT_FDCWD, file, flags, 0600);
}

static void record(enum kind kind, uint64_t inode, uint64_t offset, const struct iovec *data, int count) {
  struct iovec parts[64];
  struct head head = {kind, 0, inode, offset};
  if (count > 63) abort();
  for (int i = 0; i < count; i++) {
    head.length += (uint32_t)data[i].iov_len;
    parts[i + 1] = data[i];
  }
  parts[0] = (struct iovec){&head, sizeof head};
  long expected = (long)(sizeof head + head.length);
  if (syscall(SYS_writev, journal, parts, count + 1) != expected) abort();
}

static void record_text(enum kind kind, uint64_t inode, uint64_t offset, const char *text) {
  struct iovec data = {(void *)text, strlen(text)};
  record(kind, inode, offset, &data, 1);
}

/* Returns the name within the folder, "" for the folder itself, or NULL for any other path. */
static const char *name_in(const char *path) {
  if (strncmp(path, folder, folder_length) != 0) return NULL;
  if (path[folder_length] == '\0') return "";
  return path[folder_length] == '/' ? path + folder_length + 1 : NULL;
}

static const char *name_of(int fd, char *path) {
  char link[32];
  if (journal < 0 || fd == journal) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return NULL;
  path[length] = '\0';
  return name_in(path);
}

static uint64_t inode_of(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

/*
 * The first bytes identify a response or request. The remote port identifies the delivery that a response belongs to.
 */
static void note_http(int fd, const struct iovec *data, int count) {
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  if (journal < 0 || count < 1 || data[0].iov_len < 12) return;
  int request = memcmp(data[0].iov_base, "POST /api/", 10) == 0;
  if (!request && memcmp(data[0].iov_base, "HTTP/1.", 7) != 0) return;
  if (getpeername(fd, (struct sockaddr *)&peer, &length) != 0) return;
  uint16_t port = peer.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&peer)->sin6_port
                                             : ((struct sockaddr_in *)&peer)->sin_port;
  pthread_mutex_lock(&lock);
  if (request) record(REQUEST, ntohs(port), 0, data, count);
  else record(ANSWER, ntohs(port), (uint64_t)atoi((const char *)data[0].iov_base + 9), NULL, 0);
  pthread_mutex_unlock(&lock);
}

static off_t position(int fd) {
  int flags = fcntl(fd, F_GETFL);
  struct stat status;
  if ((flags & O_APPEND) && fstat(fd, &status) == 0) return status.st_size;
  return (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
}

/* A negative `at` means the file's current position. */
static ssize_t put(int fd, const struct iovec *data, int count, off_t at) {
  char path[PATH_MAX];
  int watched = name_of(fd, path) != NULL;
  if (watched) {
    pthread_mutex_lock(&lock);
    record(WRITE, inode_of(fd), (uint64_t)(at < 0 ? position(fd) : at), data, count);
  } else {
    note_http(fd, data, count);
  }
  long result = at < 0 ? syscall(SYS_writev, fd, data, count)
                       : syscall(SYS_pwritev, fd, data, count, (long)at, 0L);
  if (watched) {
    int error = errno;
    size_t length = 0;
    for (int i = 0; i < count; i++) length += data[i].iov_len;
    if (result != (long)length) record(FAULT, inode_of(fd), 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
  }
  return result;
}

static ssize_t put_one(int fd, const void *data, size_t length, off_t at) {
  struct iovec one = {(void *)data, length};
  return put(fd, &one, 1, at);
}

ssize_t write(int fd, const void *data, size_t length) { return put_one(fd, data, length, -1); }
ssize_t writev(int fd, const struct iovec *data, int count) { return put(fd, data, count, -1); }
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return put_one(fd, data, n, at); }
ssize_t pwrite64(int fd, const void *data, size_t n, off_t at) { return put_one(fd, data, n, at); }
ssize_t pwritev(int fd, const struct iovec *data, int n, off_t at) { return put(fd, data, n, at); }
ssize_t pwritev64(int fd, const struct iovec *data, int n, off_t at) { return put(fd, data, n, at); }

ssize_t sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *to, socklen_t size) {
  struct iovec one = {(void *)data, length};
  note_http(fd, &one, 1);
  return syscall(SYS_sendto, fd, data, length, flags, to, size);
}

ssize_t send(int fd, const void *data, size_t length, int flags) {
  return sendto(fd, data, length, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  note_http(fd, message->msg_iov, (int)message->msg_iovlen);
  return syscall(SYS_sendmsg, fd, message, flags);
}

int ftruncate(int fd, off_t size) {
  char path[PATH_MAX];
  if (name_of(fd, path) == NULL) return (int)syscall(SYS_ftruncate, fd, size);
  pthread_mutex_lock(&lock);
  record(TRUNCATE, inode_of(fd), (uint64_t)size, NULL, 0);
  int result = (int)syscall(SYS_ftruncate, fd, size);
  if (result != 0) record(FAULT, inode_of(fd), 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

static int flush(int fd, long call) {
  char path[PATH_MAX];
  const char *name = name_of(fd, path);
  if (name == NULL) return (int)syscall(call, fd);
  pthread_mutex_lock(&lock);
  int result = (int)syscall(call, fd);
  int error = errno;
  if (result == 0) record(*name == '\0' ? SYNC_FOLDER : SYNC, inode_of(fd), 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
int fsync(int fd) { return flush(fd, SYS_fsync); }
int fdatasync(int fd) { return flush(fd, SYS_fdatasync); }

static int open_at(int at, const char *path, int flags, mode_t mode) {
  pthread_mutex_lock(&lock);
  int fd = (int)syscall(SYS_openat, at, path, flags, mode);
  int error = errno;
  char real[PATH_MAX];
  const char *name = fd < 0 ? NULL : name_of(fd, real);
  if (name != NULL && *name != '\0') {
    record_text(OPENED, inode_of(fd), 0, name);
    if (flags & O_TRUNC) record(TRUNCATE, inode_of(fd), 0, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

#define MODE(last)                                          \
  mode_t mode = 0;                                          \
  if (flags & (O_CREAT | O_TMPFILE)) {                      \
    va_list rest;                                           \
    va_start(rest, last);                                   \
    mode = va_arg(rest, mode_t);                            \
    va_end(rest);                                           \
  }

int open(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return open_at(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return open_at(at, path, flags, mode); }

int unlink(const char *path) {
  const char *name = journal < 0 ? NULL : name_in(path);
  if (name == NULL) return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  pthread_mutex_lock(&lock);
  if (faccessat(AT_FDCWD, path, F_OK, 0) == 0) record_text(UNLINK, 0, 0, name);
  int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  pthread_mutex_unlock(&lock);
  return result;
}

/* `offset` is the length of the old name. The new name follows it. */
int rename(const char *from, const char *to) {
  const char *old = journal < 0 ? NULL : name_in(from);
  const char *new = journal < 0 ? NULL : name_in(to);
  if (old == NULL || new == NULL) return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  struct iovec names[2] = {{(void *)old, strlen(old)}, {(void *)new, strlen(new)}};
  pthread_mutex_lock(&lock);
  record(RENAME, 0, strlen(old), names, 2);
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
