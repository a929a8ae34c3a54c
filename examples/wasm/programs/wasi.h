/* The part of WASI preview 1 that the programs use, declared by hand. */
#ifndef WASI_H
#define WASI_H

#include "tiny.h"

/* A part of a scattered read or write. */
struct part {
    void *bytes;
    u32 length;
};

/* What a descriptor that was open from the start is: kind 0 is a folder, the only one. */
struct given {
    u32 kind;
    u32 length;
};

/* An entry of a folder; its name follows. */
struct entry {
    u64 next, node;
    u32 length;
    u8 kind;
};

enum { STDIN, STDOUT, STDERR, FIRST_GIVEN };
enum { KIND_FOLDER = 3, KIND_FILE = 4 };
enum { FROM_START = 0, FROM_END = 2, FOLLOW_LINKS = 1 };

/* What is asked for when something is opened to be read: fd_read, fd_seek, path_open, fd_readdir. */
enum { RIGHTS = 1 << 1 | 1 << 2 | 1 << 13 | 1 << 14 };

IMPORT(wasi_snapshot_preview1, "args_sizes_get") i32 args_sizes_get(u32 *count, u32 *size);
IMPORT(wasi_snapshot_preview1, "args_get") i32 args_get(char **pointers, char *text);
IMPORT(wasi_snapshot_preview1, "environ_sizes_get") i32 environ_sizes_get(u32 *count, u32 *size);
IMPORT(wasi_snapshot_preview1, "environ_get") i32 environ_get(char **pointers, char *text);
IMPORT(wasi_snapshot_preview1, "clock_time_get") i32 clock_time_get(u32 clock, u64 precision, u64 *time);
IMPORT(wasi_snapshot_preview1, "random_get") i32 random_get(void *bytes, u32 length);
IMPORT(wasi_snapshot_preview1, "fd_close") i32 fd_close(u32 fd);
IMPORT(wasi_snapshot_preview1, "fd_prestat_get") i32 fd_prestat_get(u32 fd, struct given *result);
IMPORT(wasi_snapshot_preview1, "fd_prestat_dir_name") i32 fd_prestat_dir_name(u32 fd, char *name, u32 length);
IMPORT(wasi_snapshot_preview1, "fd_read") i32 fd_read(u32 fd, const struct part *parts, u32 count, u32 *size);
IMPORT(wasi_snapshot_preview1, "fd_readdir") i32 fd_readdir(u32 fd, void *to, u32 length, u64 cookie, u32 *size);
IMPORT(wasi_snapshot_preview1, "fd_seek") i32 fd_seek(u32 fd, i64 offset, u32 from, u64 *place);
IMPORT(wasi_snapshot_preview1, "fd_write") i32 fd_write(u32 fd, const struct part *parts, u32 count, u32 *size);
IMPORT(wasi_snapshot_preview1, "path_open")
i32 path_open(u32 folder, u32 lookup, const char *path, u32 length, u32 how, u64 rights, u64 inheriting, u32 flags, u32 *fd);
IMPORT(wasi_snapshot_preview1, "proc_exit") _Noreturn void proc_exit(u32 status);

#endif
