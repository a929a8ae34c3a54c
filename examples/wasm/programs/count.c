/* Counts lines, words and bytes, as wc does: of the files named by the arguments, of all files in a folder named so, or
   of the input. A program of WASI preview 1; the variable TITLE is printed first, if there is one. */
#include "wasi.h"

struct counts {
    u32 lines, words, bytes;
};

static char text[4096], buffer[4096], *pointers[128];
static _Alignas(8) char names[512];

static u32 length_of(const char *it) {
    u32 length = 0;
    while (it[length])
        length++;
    return length;
}

static void write_all(u32 fd, const char *from, u32 length) {
    while (length) {
        struct part part = {(void *)from, length};
        u32 size = 0;
        if (fd_write(fd, &part, 1, &size) || !size)
            proc_exit(74);
        from += size;
        length -= size;
    }
}

static void print(const char *it) {
    write_all(STDOUT, it, length_of(it));
}

static void print_number(u32 value) {
    char digits[12], *at = digits + sizeof digits;
    *--at = 0;
    *--at = ' ';
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    print(at);
}

static void print_counts(struct counts counts, const char *name) {
    print_number(counts.lines);
    print_number(counts.words);
    print_number(counts.bytes);
    print(name);
    print("\n");
}

static void complain(const char *name, i32 error) {
    char digits[] = ": error 00\n";
    digits[8] = (char)('0' + error / 10 % 10);
    digits[9] = (char)('0' + error % 10);
    write_all(STDERR, name, length_of(name));
    write_all(STDERR, digits, sizeof digits - 1);
}

/* Reads in two parts, so that scattered reads are seen. */
static i32 count(u32 fd, struct counts *counts) {
    int in_word = 0;
    for (;;) {
        struct part parts[] = {{buffer, 100}, {buffer + 100, sizeof buffer - 100}};
        u32 size = 0;
        i32 error = fd_read(fd, parts, 2, &size);
        if (error || !size)
            return error;
        counts->bytes += size;
        for (u32 i = 0; i < size; i++) {
            int is_blank = buffer[i] == ' ' || buffer[i] == '\n' || buffer[i] == '\t';
            counts->lines += buffer[i] == '\n';
            counts->words += !is_blank && !in_word;
            in_word = !is_blank;
        }
    }
}

static i32 open_in(u32 folder, const char *name, u32 length, u32 *fd) {
    return path_open(folder, FOLLOW_LINKS, name, length, 0, RIGHTS, RIGHTS, 0, fd);
}

static int is_prefix(const char *prefix, u32 length, const char *of) {
    for (u32 i = 0; i < length; i++)
        if (prefix[i] != of[i])
            return 0;
    return 1;
}

/* A path below a folder that was given: the folder's name, a slash, the rest. */
static i32 open_path(const char *path, u32 *fd) {
    for (u32 folder = FIRST_GIVEN;; folder++) {
        struct given given;
        char name[64];
        if (fd_prestat_get(folder, &given))
            return 44;
        if (given.length >= sizeof name || fd_prestat_dir_name(folder, name, given.length))
            continue;
        if (!is_prefix(name, given.length, path) || (path[given.length] != '/' && path[given.length]))
            continue;
        path += given.length;
        while (*path == '/')
            path++;
        return *path ? open_in(folder, path, length_of(path), fd) : open_in(folder, ".", 1, fd);
    }
}

/* The files of a folder, one at a time; folders in it are left out. */
static i32 count_folder(u32 folder, struct counts *counts) {
    const struct entry *entry = (const struct entry *)names;
    for (u64 cookie = 0;; cookie = entry->next) {
        u32 size, fd;
        i32 error = fd_readdir(folder, names, sizeof names, cookie, &size);
        if (error || size < sizeof *entry)
            return error;
        if (entry->kind != KIND_FILE)
            continue;
        error = open_in(folder, names + sizeof *entry, entry->length, &fd);
        if (error || (error = count(fd, counts)) || (error = fd_close(fd)))
            return error;
    }
}

static i32 count_path(const char *path) {
    struct counts counts = {0, 0, 0};
    u32 fd;
    u64 size;
    i32 error = open_path(path, &fd);
    if (error)
        return error;
    error = fd_seek(fd, 0, FROM_END, &size);
    if (!error && !(error = fd_seek(fd, 0, FROM_START, &size)))
        error = count(fd, &counts);
    else
        error = count_folder(fd, &counts);
    if (!error)
        print_counts(counts, path);
    fd_close(fd);
    return error;
}

/* Random bytes and the time are asked for and not printed: what is printed stays the same. */
static void check_machine(void) {
    u64 before, after, random[2] = {0, 0};
    if (clock_time_get(1, 1, &before) || clock_time_get(1, 1, &after) || after < before)
        proc_exit(70);
    if (random_get(random, sizeof random) || !(random[0] | random[1]))
        proc_exit(71);
}

EXPORT(_start) void _start(void) {
    u32 n, size;
    check_machine();
    if (environ_sizes_get(&n, &size) || n >= COUNT(pointers) || size > sizeof text || environ_get(pointers, text))
        proc_exit(72);
    for (u32 i = 0; i < n; i++)
        if (is_prefix("TITLE=", 6, pointers[i])) {
            print(pointers[i] + 6);
            print("\n");
        }
    if (args_sizes_get(&n, &size) || n >= COUNT(pointers) || size > sizeof text || args_get(pointers, text))
        proc_exit(73);
    u32 failed = 0;
    for (u32 i = 1; i < n; i++) {
        i32 error = count_path(pointers[i]);
        if (error) {
            complain(pointers[i], error);
            failed++;
        }
    }
    if (n <= 1) {
        struct counts counts = {0, 0, 0};
        if (count(STDIN, &counts))
            proc_exit(74);
        print_counts(counts, "");
    }
    proc_exit(failed);
}
