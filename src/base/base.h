/* SPDX-License-Identifier: MIT */
/*
 * base: what every room needs and no room owns: errors that carry their reason, a string
 * buffer, growable arrays, a string index, small parsers of user text.
 *
 * Conventions of the whole library:
 *  - a function that can fail returns 0 or -errno and describes the reason in its
 *    struct nw_error; out parameters are written only on success;
 *  - x_free(NULL) and x_free() of a zeroed object are legal;
 *  - nothing here or above prints or exits; only cmd/ does.
 */
#ifndef NOPWATCH_BASE_BASE_H
#define NOPWATCH_BASE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define nw_cleanup(fn)	     __attribute__((cleanup(fn)))
#define nw_format(fmt, args) __attribute__((format(printf, fmt, args)))
#define nw_must_check	     __attribute__((warn_unused_result))
#define nw_likely(cond)	     __builtin_expect(!!(cond), 1)

/* Chooses between two messages, for one and for many; each is a whole sentence that grep finds. Both take the same
 * arguments. */
#define nw_plural(count, one, many) ((count) == 1 ? (one) : (many))

/* Functions that the hot path seldom (noinline) or almost never (cold) calls: the compiler keeps them out of line, so
 * the hot path does not save registers for them. */
#define nw_noinline	  __attribute__((noinline))
#define nw_inlined	  inline __attribute__((always_inline))
#define nw_cold		  __attribute__((noinline, cold))
#define nw_unlikely(cond) __builtin_expect(!!(cond), 0)
#define NW_COUNT(array)	  (sizeof(array) / sizeof((array)[0]))

/*
 * Store a + b or a * b in *out; true if that overflows. gcc has had builtins for it since version 5; older compilers
 * get the same by hand.
 */
#if defined(__clang__) || __GNUC__ >= 5
#define NW_HAVE_OVERFLOW 1
#endif
static nw_inlined bool nw_add_overflows(uint64_t a, uint64_t b, uint64_t *out)
{
#ifdef NW_HAVE_OVERFLOW
	return __builtin_add_overflow(a, b, out);
#else
	*out = a + b;
	return *out < a;
#endif
}
static nw_inlined bool nw_add_overflows_signed(int64_t a, int64_t b, int64_t *out)
{
#ifdef NW_HAVE_OVERFLOW
	return __builtin_add_overflow(a, b, out);
#else
	*out = (int64_t)((uint64_t)a + (uint64_t)b);
	return (a < 0) == (b < 0) && (*out < 0) != (a < 0);
#endif
}
static nw_inlined bool nw_mul_overflows(uint64_t a, uint64_t b, uint64_t *out)
{
	*out = a * b;
	return b && a > UINT64_MAX / b;
}
static nw_inlined bool nw_size_add_overflows(size_t a, size_t b, size_t *out)
{
	*out = a + b;
	return *out < a;
}
static nw_inlined bool nw_size_mul_overflows(size_t a, size_t b, size_t *out)
{
	*out = a * b;
	return b && a > SIZE_MAX / b;
}

/* ---- errors ------------------------------------------------------------------------- */

/*
 * The reason of a failure: WHAT happened, WHERE and WHY in one sentence without a final
 * newline, and optionally what to DO about it. Filled by the function that fails; a caller
 * may put its own context in front (nw_error_context). Texts that are too long are cut.
 */
struct nw_error {
	int code;   /* positive errno */
	bool usage; /* the command line is wrong: exit status 2 rather than 1 */
	char what[768];
	char hint[512];
};

/* Fill err (may be NULL) and return -code, so that a caller can write `return nw_fail(...)`. */
int nw_fail(struct nw_error *err, int code, const char *fmt, ...) nw_format(3, 4);

/* nw_fail() with EINVAL, for a mistake on the command line. */
int nw_fail_usage(struct nw_error *err, const char *fmt, ...) nw_format(2, 3);

/* Adds what the user can do about it. */
void nw_error_hint(struct nw_error *err, const char *fmt, ...) nw_format(2, 3);

/* Put "CONTEXT: " in front of the reason. Returns -err->code. */
int nw_error_context(struct nw_error *err, const char *fmt, ...) nw_format(2, 3);

/* strerror() that also knows the kernel's own ENOTSUPP (524). Never NULL, thread safe. */
const char *nw_strerror(int code);

/* nw_fail() for a failed allocation. */
int nw_no_memory(struct nw_error *err);

/*
 * Libraries return NULL where there is nothing as well as where memory ran out, but leave the reason of the latter in errno.
 * Set errno to 0 before calling them. Returns -errno if memory, descriptors or a device have failed since; 0 otherwise.
 */
int nw_shortage(void);
/* Does this positive errno mean that the machine ran out of something (memory, descriptors, a device)? Such an error
 * says nothing about the request. */
bool nw_is_shortage(int code);

/* ---- string buffer ------------------------------------------------------------------ */

/*
 * A string that grows. Zero-initialised is empty and valid. An allocation that fails sets
 * `failed` and drops the addition; all later calls are harmless, so that a writer checks
 * once, at its end.
 */
struct nw_buf {
	char *data; /* NUL-terminated when not NULL */
	size_t len;
	size_t room;
	bool failed;
};

void nw_buf_add(struct nw_buf *buf, const void *data, size_t len);
void nw_buf_adds(struct nw_buf *buf, const char *text);
void nw_buf_addc(struct nw_buf *buf, char c);
/* Appends a number in decimal. */
void nw_buf_addu(struct nw_buf *buf, uint64_t number);
void nw_buf_printf(struct nw_buf *buf, const char *fmt, ...) nw_format(2, 3);
void nw_buf_vprintf(struct nw_buf *buf, const char *fmt, va_list args) nw_format(2, 0);
/* Empty the buffer, keep its memory. */
void nw_buf_clear(struct nw_buf *buf);
/* Shortens the text to len bytes; len is at most its length. */
void nw_buf_cut(struct nw_buf *buf, size_t len);
void nw_buf_free(struct nw_buf *buf);
/* The text, "" when empty; valid until the next call with this buffer. */
const char *nw_buf_str(const struct nw_buf *buf);
/* Give the text away: the caller frees it. NULL when an allocation has failed. */
char *nw_buf_take(struct nw_buf *buf);
/* Read fd to its end into buf. Returns 0 or -errno. */
int nw_buf_read(struct nw_buf *buf, int fd);
/* Reads fd to its end into buf, if it ends: a file of more than `most` bytes is -EFBIG. Returns 0 or -errno. */
int nw_buf_read_most(struct nw_buf *buf, int fd, size_t most);
/* Read a whole file of the kernel's (/proc, tracefs), whose path is one below `dir`. Returns 0 or -errno. */
int nw_buf_read_file(struct nw_buf *buf, int dir, const char *path);
/*
 * Names and strings come from programs and files that are traced, and end on terminals. All that
 * is shown passes one of these, or the JSON writer, which asks nw_is_control(), too.
 */

/* Does the character do something in place of being seen? These are C0, DEL, C1, line separators, characters that
 * change the direction of writing (Unicode TR 9), so that one text looks like another, and other invisible format
 * characters (category Cf: zero width, tags, ...). */
bool nw_is_control(uint32_t code);
/* Add text so that a terminal shows it harmlessly: controls, quotes, backslashes and bytes that
 * are not UTF-8 become \n, \t, \", \\ or \xNN. */
void nw_buf_add_escaped(struct nw_buf *buf, const char *text, size_t len);

/* Adds a sentence so that a terminal shows it harmlessly. Controls are escaped as by nw_buf_add_escaped(), but quotes and
 * backslashes stay, so that text that was escaped before is not escaped twice. */
void nw_buf_add_sentence(struct nw_buf *buf, const char *text, size_t len);

/* Appends text as one word of a POSIX shell, in single quotes; control characters are written by printf. */
void nw_buf_add_shell(struct nw_buf *buf, const char *text);

/* Decodes the character at text. Returns its bytes (1..4), or 0 if they are not well-formed UTF-8. */
size_t nw_utf8_decode(const unsigned char *text, size_t len, uint32_t *out);
/* Encodes a character (up to U+10FFFF). Returns the number of bytes, 1..4. */
size_t nw_utf8_encode(uint32_t code, char out[4]);

/* asprintf into a fresh string; NULL when out of memory. The caller frees. */
char *nw_text(const char *fmt, ...) nw_format(1, 2);

/* ---- growable arrays ---------------------------------------------------------------- */

/*
 *	NW_VEC(struct nw_site) sites = {0};
 *	struct nw_site *site = nw_vec_add(&sites);	zeroed, or NULL: out of memory
 *	nw_vec_each (&sites, it) use(it);
 *	nw_vec_free(&sites);				frees the array, not what it points to
 *
 * Pointers into the array die with the next nw_vec_add().
 */
#define NW_VEC(type)          \
	struct {              \
		type *item;   \
		size_t count; \
		size_t room;  \
	}

#define nw_vec_new(vec)                                                 \
	nw_vec_grow((void **)&(vec)->item, &(vec)->count, &(vec)->room, \
		    sizeof(*(vec)->item))
#ifdef __cppcheck__ /* which cannot parse typeof */
#define nw_vec_add(vec) nw_vec_new(vec)
#define nw_vec_each(vec, it) \
	for (auto it = (vec)->item; it < (vec)->item + (vec)->count; it++)
#else
#define nw_vec_add(vec) ((__typeof__((vec)->item))nw_vec_new(vec))
/* An empty array has no address that could be added to. Not the type of `item`: with that, gcc 4.8
 * takes over that a const array's is const. */
#define nw_vec_each(vec, it)                             \
	for (__typeof__(*(vec)->item) *it = (vec)->item; \
	     (vec)->count && it < (vec)->item + (vec)->count; it++)
#endif
/*
 * Searches a sorted array by halves. The expression `in_front` tells whether the element `it` sorts before the
 * wanted one. Returns the number of the first element that does not sort before it, or count.
 */
#ifdef __cppcheck__
#define nw_vec_lower_bound(vec, it, in_front) ((vec)->count / 2)
#else
#define nw_vec_lower_bound(vec, it, in_front)                                         \
	__extension__({                                                               \
		size_t nw_low = 0, nw_high = (vec)->count;                            \
		while (nw_low < nw_high) {                                            \
			size_t nw_middle = nw_low + (nw_high - nw_low) / 2;           \
			const __typeof__(*(vec)->item) *it = &(vec)->item[nw_middle]; \
			if (in_front)                                                 \
				nw_low = nw_middle + 1;                               \
			else                                                          \
				nw_high = nw_middle;                                  \
		}                                                                     \
		nw_low;                                                               \
	})
#endif
#define nw_vec_free(vec)                        \
	do {                                    \
		free((vec)->item);              \
		(vec)->item = NULL;             \
		(vec)->count = (vec)->room = 0; \
	} while (0)

/* The body of nw_vec_add(): makes room for one more element and returns it zeroed; NULL when out of memory. */
void *nw_vec_grow(void **item, size_t *count, size_t *room, size_t size);

typedef NW_VEC(uint32_t) nw_vec_u32;

/* A list of strings that it owns. */
typedef NW_VEC(char *) nw_strings;
/* These return 0 or -ENOMEM. */
int nw_strings_add(nw_strings *list, const char *text, size_t len) nw_must_check;
int nw_strings_addf(nw_strings *list, const char *fmt, ...) nw_format(2, 3) nw_must_check;
/* Adds a message whose loss must not end the command. If memory is short, the list says that a message is missing. */
void nw_strings_tell(nw_strings *list, const char *fmt, ...) nw_format(2, 3);
bool nw_strings_has(const nw_strings *list, const char *text);
void nw_strings_free(nw_strings *list);
/*
 * Adds the words of a line to a list. Blanks separate words; '...' keeps blanks in one, and nothing else quotes.
 * Returns 0, -ENOMEM, or -EBADMSG: a quote has no end, and the words in front of it were added.
 */
int nw_words_add(nw_strings *words, const char *line) nw_must_check;

/* ---- string index ------------------------------------------------------------------- */

/*
 * A hash table of numbers: each is the place of an item in an array of the caller, who compares the items. A zeroed
 * table is empty and valid.
 */
struct nw_hash_table {
	struct nw_hash_table_slot {
		uint32_t hash;
		uint32_t number; /* + 1; 0: the slot is free */
	} * slot;		 /* open addressing */
	size_t slots;		 /* power of two */
	size_t count;
};

/* Adds an item's number; returns -ENOMEM on failure. An item that is equal must not be in the table. */
int nw_hash_table_add(struct nw_hash_table *table, uint64_t hash,
		      size_t number) nw_must_check;
/* Removes an item of an array whose last item then takes its place: both by their hashes and numbers. */
void nw_hash_table_remove(struct nw_hash_table *table, uint64_t hash, size_t number,
			  uint64_t last_hash, size_t last);
void nw_hash_table_free(struct nw_hash_table *table);

/* Finds the next item whose hash is this one. *at: 0 at first; it counts the slots that were looked at. */
static inline bool nw_hash_table_next(const struct nw_hash_table *table, uint64_t hash,
				      size_t *at, size_t *number)
{
	while (*at < table->slots) {
		const struct nw_hash_table_slot *slot =
			&table->slot[((uint32_t)hash + (*at)++) & (table->slots - 1)];
		if (!slot->number)
			return false;
		*number = slot->number - 1;
		if (slot->hash == (uint32_t)hash)
			return true;
	}
	return false;
}

/* Loops over the numbers of the items that have this hash: mostly one or none. */
#define nw_hash_each(table, key, number)     \
	for (size_t number, number##_at = 0; \
	     nw_hash_table_next(table, key, &number##_at, &number);)

/*
 * Numbers for strings: the first string added is 0, the next 1, and so on; the same string
 * always has the same number. Zero-initialised is empty and valid.
 */
struct nw_index {
	nw_strings text; /* by number; owned by the index */
	struct nw_hash_table table;
};

/* Returns the number of text, which is added if it is new; or -ENOMEM. */
int64_t nw_index_add(struct nw_index *index, const char *text, size_t len) nw_must_check;
/* Returns the number of text, or -ENOENT. */
int64_t nw_index_find(const struct nw_index *index, const char *text, size_t len);
void nw_index_free(struct nw_index *index);

uint64_t nw_hash_text(const char *text, size_t len);

/* Mixes an integer key into 64 bits (splitmix64's finaliser), for open addressing. */
static inline uint64_t nw_hash64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* ---- time --------------------------------------------------------------------------- */

/* The time of a clock in ns; 0: it cannot be read. */
uint64_t nw_clock_ns(clockid_t clock);

/* ---- user text ---------------------------------------------------------------------- */

/*
 * Strict parsers: the whole text must be a number, nothing more; no sign, no overflow.
 * parse_u64 takes decimal and 0x hexadecimal.
 */
int nw_parse_u64(const char *text, uint64_t *out) nw_must_check;
/* "10" (seconds), "1.5", "500ms", "20us", "2m", "1h", to nanoseconds; more than zero. */
int nw_parse_duration(const char *text, uint64_t *out_ns) nw_must_check;
/* "512K", "8M", "4096" (bytes), to bytes; more than zero. */
int nw_parse_size(const char *text, uint64_t *out_bytes) nw_must_check;

/* Like strsep() at commas, but commas inside parentheses belong to the part, as those of "title(a,b),tid". Inside them a
 * backslash takes the next character, and [...] is as in a regular expression. */
char *nw_split_keys(char **rest);
/* fnmatch(3) without special treatment of '/' and '.', in which '-' and '__' are the same
 * (DTrace writes query-start where C has query__start). */
bool nw_glob_match(const char *pattern, const char *text);
/* Adds the paths that match a pattern to out, sorted; no match is no error. -errno: a directory could not be listed
 * to its end. */
int nw_glob_files(const char *pattern, nw_strings *out) nw_must_check;
/* Does the text hold a glob character (* ? [)? */
bool nw_has_glob(const char *text);

/* Is it a letter, a digit or '_', as in the names of C? */
static inline bool nw_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Returns the Levenshtein distance, for "did you mean"; texts longer than 127 bytes are cut. */
unsigned int nw_edit_distance(const char *a, const char *b);
/* Could the user have meant `name` by typing `word`? One letter may differ, or one in four of a longer word. */
bool nw_may_mean(const char *word, const char *name);

/* The smaller and the larger of two numbers; functions, so that arguments are evaluated once. */
static inline uint64_t nw_min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}
static inline uint64_t nw_max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the path from the root, without ".", ".." and links on its way. The last part may be a link, or may not
 * exist any more. The caller frees. NULL: errno says what was short (nw_is_shortage()). */
char *nw_absolute_path(const char *path);

/* ---- files -------------------------------------------------------------------------- */

/*
 * Opens a file for reading that another user may have put there. Its type is checked before it is opened (O_PATH),
 * and the file that is opened is the one that was checked. Opening a device can have effects (a watchdog starts), and
 * a FIFO or a file without an end could block us: so only a regular file is opened. Links are followed. Returns a
 * descriptor, or -errno: EISDIR for a directory, ENXIO for anything else that is no regular file.
 */
int nw_open_regular(int dir, const char *path) nw_must_check;
/* Opens a regular file as nw_open_regular() does, by its path below another root directory ("" is ours). If the kernel
 * has openat2 (Linux 5.6), links are resolved inside that root. */
int nw_open_regular_in(const char *root, const char *path) nw_must_check;
/* May a file that this user owns be taken for what it is called? Files of root and of our own user may: nobody else can have put
 * their content there. */
bool nw_is_trusted(uid_t owner);
/* Do the permissions let other users than the owner and root write? A user's own group is that user. */
struct stat;
bool nw_others_may_write(const struct stat *st);
/* Opens the input that the user named. For a FIFO it waits, because `<(COMMAND)` is one. */
int nw_open_input(const char *path) nw_must_check;
/* Is nearly all of the open file a hole: above 64 MiB, less than a 64th of it on disk? Reading it would take time and
 * memory for bytes that nobody wrote. Moves the file's position. */
bool nw_is_hollow(int fd);
/* Does the open file lie on overlayfs? */
bool nw_is_overlay(int fd);

/* Writes all of the bytes. Returns 0 or -errno. */
int nw_write_all(int fd, const void *bytes, size_t len) nw_must_check;

/* A writer to a file, or to a pipe, a socket or a terminal, whose reader may stall. */
struct nw_writer {
	int fd;
	int pipe; /* the same pipe with O_NONBLOCK; 0: not opened yet, -1: cannot be opened */
	/* A signal has ended the run before, and is not pending any more. */
	bool ended;
	/* Nobody has read for half a second while a signal asks for the end of the run. */
	bool stalled;
};

/* Writes all of the bytes. Once a signal asks for the end of the run, a reader who reads nothing is waited for for half
 * a second. Returns 0 or -errno; -ECANCELED: the reader stalls. */
int nw_writer_put(struct nw_writer *writer, const void *bytes, size_t len) nw_must_check;
/* Closes what the writer has opened itself, which is not fd. */
void nw_writer_close(struct nw_writer *writer);
/* Says why the file cannot be written. ECANCELED: nobody reads from it. Returns -code. */
int nw_cannot_write(const char *path, int code, struct nw_error *err);

/* Modes of new files, less the umask. Measurements contain arguments, so they are private; metrics are read by a
 * collector, which is another user. */
enum {
	NW_FILE_PRIVATE = 0600,
	NW_FILE_READABLE = 0666
};

/*
 * Opens the output that the user named, as the shell's `>` does, with exceptions for files of other users: a link
 * that belongs to neither us nor root is not followed; in a directory that others can write to, another user's file
 * is refused, and ours is replaced by a new one. Writing to one of our standard files (/dev/stdout), or to a pipe
 * that we were started with, continues where it is. It waits for the reader of a FIFO until SIGINT, SIGTERM or SIGHUP is
 * pending; ended: one of them has come already, so a reader has to be there. Returns a descriptor, or -errno;
 * -EINTR: nobody reads from the FIFO.
 */
int nw_output_open(const char *path, unsigned int mode, bool ended,
		   struct nw_error *err) nw_must_check;

/*
 * A file that is replaced in one step when it is complete: a reader finds the old file or the new one as a whole, and
 * a full disk costs nothing. Write to fd. A device, a FIFO or /dev/stdout is written to directly.
 */
struct nw_replace {
	int fd;
	int dir;	  /* of the file */
	char *path;	  /* NULL: written to directly */
	const char *name; /* its last part */
	char temp[32];	  /* name of the new file; "": it has none yet */
	bool keep;	  /* the new one gets mode and owner of the old one */
	unsigned int mode, owner, group;
};

/* Checks whether the file could be replaced. Changes nothing, but removes the files that killed runs left in that
 * directory. *direct: the file would be written to directly. */
int nw_replace_try(const char *path, bool *direct, struct nw_error *err);
/* ended: see nw_output_open(). */
int nw_replace_begin(const char *path, unsigned int mode, bool ended,
		     struct nw_replace *out, struct nw_error *err);
/* Both functions close the file. */
int nw_replace_commit(struct nw_replace *replace, struct nw_error *err);
/* Puts the new file at its path unless a file exists there: -EEXIST, and the existing file stays. */
int nw_replace_commit_new(struct nw_replace *replace, struct nw_error *err);
void nw_replace_abort(struct nw_replace *replace);
/* Replaces a file by the text: a reader finds the old text or the new one at any moment, as a whole. */
int nw_replace_text(const char *path, unsigned int mode, bool ended, const char *text,
		    size_t len, struct nw_error *err);
/* Opens a file without a name on the file system of the path; -1 and errno. */
int nw_nameless_file(const char *path);

/* ---- children ----------------------------------------------------------------------- */

/*
 * For forked children. A session lives as long as any process holds the lock of its journal, and the reader of a pipe
 * waits as long as any process can write to it: so a child closes at once what it does not need.
 */

/* Sends this process the signal when `parent`, which forked it, ends. If the parent has ended already, this process
 * ends here. */
void nw_end_with_parent(pid_t parent, int signal);
/* Gives up all capabilities, and as root user and groups, for those of nobody (65534). Returns 0; -EPERM: not all of that
 * could be done, as where the user namespace has no nobody, but the rest was. */
int nw_drop_privileges(void);
/* Closes the descriptors that nopwatch opened (close-on-exec) except `keep`. The standard files, and those that
 * nopwatch was started with, stay open. */
void nw_close_own_files(const int *keep, size_t count);
/* Closes every descriptor except `keep`. The standard files then lead to /dev/null. */
void nw_close_all_files(const int *keep, size_t count);
/* Close every descriptor that is larger than `last`. */
void nw_close_files_above(int last);

/* Is a signal pending that ends the run? These signals are blocked during a run, so code that waits for something
 * else asks here. */
bool nw_is_end_pending(void);

/* ---- cleanup ------------------------------------------------------------------------ */

/* For nw_cleanup(): variables that free what they hold when they go out of scope. */
void nw_free_ptr(void *ptr_to_ptr);

/* ---- numbers for people --------------------------------------------------------------- */

/* "830ns", "12.3us", "4.56ms", "1.20s", "95.0s": three significant digits. */
void nw_duration_text(uint64_t ns, char out[16]);
/* "17/s", "2.00k/s", "1.30M/s" */
void nw_rate_text(double per_second, char out[16]);

#endif
