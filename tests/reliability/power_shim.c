/* Records what a process does to the files of one folder, in order, for tests/reliability/power.py.
 *
 * POWER_FOLDER: the folder (absolute, no symbolic links). POWER_LOG: the file to which records are appended.
 * A record: kind (1 byte), number of the inode (8), offset or size (8), lengths of path and data (4 + 4), path, data;
 * all little-endian as the machine has them. A call and its record are one: the order in the log is the order on disk.
 * SQLite's -shm is left out: it is mapped, and made anew after a crash.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static size_t folder_length;
static int log_file = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("POWER_LOG");
    folder = getenv("POWER_FOLDER");
    if (path == NULL || folder == NULL) return;
    folder_length = strlen(folder);
    log_file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int watched(const char *path) {
    size_t length = strlen(path);
    if (log_file < 0 || length < folder_length || strncmp(path, folder, folder_length) != 0) return 0;
    if (path[folder_length] != '\0' && path[folder_length] != '/') return 0;
    return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

/* The path of an open file, "" where it is none of ours. */
static int path_of(int fd, char path[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = '\0';
    return watched(path);
}

/* A path as it was given, made absolute. */
static int absolute(int at, const char *given, char path[PATH_MAX]) {
    char base[PATH_MAX];
    if (log_file < 0) return 0;
    if (given[0] == '/') {
        snprintf(path, PATH_MAX, "%s", given);
        return watched(path);
    }
    char link[64];
    if (at == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, base, PATH_MAX - 1);
    if (length < 0) return 0;
    base[length] = '\0';
    if (snprintf(path, PATH_MAX, "%s/%s", base, given) >= PATH_MAX) return 0;
    return watched(path);
}

static void record(char kind, uint64_t inode, uint64_t where, const char *path, const void *data, size_t length) {
    struct __attribute__((packed)) { char kind; uint64_t inode, where; uint32_t path, data; } head = {
        kind, inode, where, (uint32_t)strlen(path), (uint32_t)length};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)path, head.path}, {(void *)data, length}};
    int before = errno;
    ssize_t all = (ssize_t)(sizeof head + head.path + length);
    if (syscall(SYS_writev, log_file, parts, 3) != all) abort();
    errno = before;
}

static uint64_t inode_of(int fd) {
    struct stat found;
    return fstat(fd, &found) == 0 ? (uint64_t)found.st_ino : 0;
}

/* Called by the recorded process itself: something was acknowledged. */
void power_mark(const char *text) {
    pthread_mutex_lock(&order);
    if (log_file >= 0) record('M', 0, 0, "", text, strlen(text));
    pthread_mutex_unlock(&order);
}

/* --- files appear, vanish, change their names ------------------------------------------------------------- */

static int opened(int at, const char *given, int flags, mode_t mode) {
    char path[PATH_MAX];
    if (!(flags & (O_CREAT | O_TRUNC)) || !absolute(at, given, path))
        return REAL(openat)(at, given, flags, mode);
    pthread_mutex_lock(&order);
    int is_new = faccessat(at, given, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    int fd = REAL(openat)(at, given, flags, mode);
    if (fd >= 0 && is_new) record('C', inode_of(fd), 0, path, "", 0);
    else if (fd >= 0 && (flags & O_TRUNC)) record('T', inode_of(fd), 0, path, "", 0);
    pthread_mutex_unlock(&order);
    return fd;
}

#define MODE_OF(flags)                              \
    mode_t mode = 0;                                \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {        \
        va_list more;                               \
        va_start(more, flags);                      \
        mode = va_arg(more, mode_t);                \
        va_end(more);                               \
    }

int open(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int at, const char *path, int flags, ...) { MODE_OF(flags) return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE_OF(flags) return opened(at, path, flags | O_LARGEFILE, mode); }

int unlinkat(int at, const char *given, int flags) {
    char path[PATH_MAX];
    if (!absolute(at, given, path)) return REAL(unlinkat)(at, given, flags);
    pthread_mutex_lock(&order);
    int result = REAL(unlinkat)(at, given, flags);
    if (result == 0) record('U', 0, 0, path, "", 0);
    pthread_mutex_unlock(&order);
    return result;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int renameat(int from_at, const char *from, int to_at, const char *to) {
    char old_path[PATH_MAX], new_path[PATH_MAX];
    int both = absolute(from_at, from, old_path) & absolute(to_at, to, new_path);
    if (!both) return REAL(renameat)(from_at, from, to_at, to);
    pthread_mutex_lock(&order);
    int result = REAL(renameat)(from_at, from, to_at, to);
    if (result == 0) record('R', 0, 0, old_path, new_path, strlen(new_path));
    pthread_mutex_unlock(&order);
    return result;
}
int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int mkdirat(int at, const char *given, mode_t mode) {
    char path[PATH_MAX];
    if (!absolute(at, given, path)) return REAL(mkdirat)(at, given, mode);
    pthread_mutex_lock(&order);
    int result = REAL(mkdirat)(at, given, mode);
    if (result == 0) record('D', 0, 0, path, "", 0);
    pthread_mutex_unlock(&order);
    return result;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/* --- what is in them -------------------------------------------------------------------------------------- */

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return syscall(SYS_pwrite64, fd, data, length, offset);
    pthread_mutex_lock(&order);
    ssize_t done = syscall(SYS_pwrite64, fd, data, length, offset);
    if (done > 0) record('W', inode_of(fd), (uint64_t)offset, path, data, (size_t)done);
    pthread_mutex_unlock(&order);
    return done;
}
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return pwrite(fd, data, length, offset); }

ssize_t write(int fd, const void *data, size_t length) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return syscall(SYS_write, fd, data, length);
    pthread_mutex_lock(&order);
    ssize_t done = syscall(SYS_write, fd, data, length);
    off_t end = lseek(fd, 0, SEEK_CUR);
    if (done > 0) record('W', inode_of(fd), (uint64_t)(end - done), path, data, (size_t)done);
    pthread_mutex_unlock(&order);
    return done;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    ssize_t all = 0;
    for (int i = 0; i < count; i++) {
        ssize_t done = pwrite(fd, parts[i].iov_base, parts[i].iov_len, offset + all);
        if (done < 0) return all > 0 ? all : done;
        all += done;
        if ((size_t)done < parts[i].iov_len) break;
    }
    return all;
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) { return pwritev(fd, parts, count, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return syscall(SYS_writev, fd, parts, count);
    ssize_t all = 0;
    for (int i = 0; i < count; i++) {
        ssize_t done = write(fd, parts[i].iov_base, parts[i].iov_len);
        if (done < 0) return all > 0 ? all : done;
        all += done;
        if ((size_t)done < parts[i].iov_len) break;
    }
    return all;
}

int ftruncate(int fd, off_t size) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_lock(&order);
    int result = (int)syscall(SYS_ftruncate, fd, size);
    if (result == 0) record('T', inode_of(fd), (uint64_t)size, path, "", 0);
    pthread_mutex_unlock(&order);
    return result;
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

/* A way of writing that is not recorded would make the log a lie. */
int posix_fallocate(int fd, off_t offset, off_t length) {
    char path[PATH_MAX];
    if (path_of(fd, path)) abort();
    return REAL(posix_fallocate)(fd, offset, length);
}
int posix_fallocate64(int fd, off64_t offset, off64_t length) { return posix_fallocate(fd, offset, length); }
int fallocate(int fd, int mode, off_t offset, off_t length) {
    char path[PATH_MAX];
    if (path_of(fd, path)) abort();
    return REAL(fallocate)(fd, mode, offset, length);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t length) { return fallocate(fd, mode, offset, length); }

/* --- what is on the disk ---------------------------------------------------------------------------------- */

static int synced(int fd, long call) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return (int)syscall(call, fd);
    pthread_mutex_lock(&order);
    int result = (int)syscall(call, fd);
    if (result == 0) record('S', inode_of(fd), 0, path, "", 0);
    pthread_mutex_unlock(&order);
    return result;
}
int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }
