// SPDX-License-Identifier: MIT
/*
 * Names and types of arguments that are not in notes, from files that describe probes. provider_file.c and tapset.c
 * read the formats.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scan.h"

enum {
	MOST_PROBES = 65536,
	MOST_BYTES = 4 << 20,
	MOST_FILES = 4096,
	MOST_DEPTH = 4, /* of directories of tapsets: ARCH, linux, ... */
};

struct nw_described *nw_types_add(struct nw_types *types)
{
	return types->probes.count < MOST_PROBES ? nw_vec_add(&types->probes) : NULL;
}

static void forget_from(struct nw_types *types, size_t first)
{
	for (size_t i = first; i < types->probes.count; i++) {
		struct nw_described *probe = &types->probes.item[i];
		free(probe->program);
		free(probe->provider);
		free(probe->name);
		nw_vec_free(&probe->args);
	}
	types->probes.count = first;
}

void nw_types_free(struct nw_types *types)
{
	forget_from(types, 0);
	nw_vec_free(&types->probes);
}

/* ---- files -------------------------------------------------------------------------- */

static int read_text(const char *path, struct nw_buf *out, struct nw_error *err)
{
	int fd = nw_open_regular(AT_FDCWD, path);

	if (fd == -EISDIR || fd == -ENXIO)
		return nw_fail(err, EINVAL, "'%s' is not a regular file", path);
	if (fd < 0)
		return nw_fail(err, -fd, "cannot open '%s': %s", path, nw_strerror(-fd));
	int ret = nw_buf_read_most(out, fd, MOST_BYTES);
	close(fd);
	if (ret == -EFBIG)
		return nw_fail(err, EFBIG, "'%s' is too large to describe probes", path);
	return ret < 0 ? nw_fail(err, -ret, "cannot read '%s': %s", path, nw_strerror(-ret))
		       : 0;
}

static bool ends_in(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len >= end_len && strcmp(path + len - end_len, end) == 0;
}

/* Is it a tapset? The name tells; otherwise a file with a provider is no tapset. */
static bool is_tapset(const char *path, const char *text)
{
	if (ends_in(path, ".stp") || ends_in(path, ".stpm"))
		return true;
	return !ends_in(path, ".d") && !strstr(text, "provider ") && strstr(text, ".mark");
}

int nw_types_read(struct nw_types *types, const char *path, struct nw_error *err)
{
	size_t before = types->probes.count;
	struct nw_buf text = {0};
	int ret = read_text(path, &text, err);

	if (ret == 0) {
		const char *start = nw_buf_str(&text);
		struct nw_scan scan = {.file = path,
				       .at = start,
				       .end = start + text.len,
				       .line = 1,
				       .tapset = is_tapset(path, start),
				       .err = err};
		ret = scan.tapset ? nw_types_tapset(&scan, types)
				  : nw_types_provider_file(&scan, types);
	}
	nw_buf_free(&text);
	if (ret == 0 && types->probes.count == before) {
		ret = nw_fail(err, ENOENT, "'%s' describes no USDT probes", path);
		nw_error_hint(
			err,
			"write DTrace's `provider NAME { probe NAME(TYPE); };` or SystemTap's `probe process(\"FILE\").mark(\"NAME\") { name = $arg1 }`");
	}
	if (ret < 0)
		forget_from(types, before);
	for (size_t i = before; i < types->probes.count; i++)
		types->probes.item[i].given = true;
	return ret;
}

/* ---- directories -------------------------------------------------------------------- */

static void find_in(struct nw_types *types, const char *directory, unsigned int depth,
		    unsigned int *files);

/* Reads an installed tapset, or a directory of them. They are optional, so errors in them are not reported. */
static void find_one(struct nw_types *types, const char *path, unsigned int depth,
		     unsigned int *files)
{
	size_t before = types->probes.count;
	struct stat st;

	if (stat(path, &st) < 0)
		return;
	if (S_ISDIR(st.st_mode) && depth < MOST_DEPTH) {
		find_in(types, path, depth + 1, files);
	} else if (S_ISREG(st.st_mode) && ends_in(path, ".stp") && *files < MOST_FILES) {
		++*files;
		if (nw_types_read(types, path, NULL) < 0)
			return;
		for (size_t i = before; i < types->probes.count; i++)
			types->probes.item[i].given = false;
	}
}

static void find_in(struct nw_types *types, const char *directory, unsigned int depth,
		    unsigned int *files)
{
	struct dirent **names;
	int count = scandir(directory, &names, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", directory,
							     names[i]->d_name);
		if (path && names[i]->d_name[0] != '.')
			find_one(types, path, depth, files);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

void nw_types_find(struct nw_types *types, const char *directory)
{
	unsigned int files = 0;

	find_in(types, directory, 0, &files);
}

/* ---- without a file ----------------------------------------------------------------- */

/*
 * hotspot.d of OpenJDK (src/hotspot/os/posix/dtrace): names are a pointer and a length, without a NUL. Arguments of
 * type const char * (hotspot_jni.d) have a NUL.
 */
static const struct {
	const char *program, *provider, *name, *args;
} builtin[] = {
	{"libjvm.so", "hotspot", "class__*", "class:string[arg1],class_len"},
	{"libjvm.so", "hotspot", "thread__st*",
	 "thread:string[arg1],thread_len,java_thread,native_thread,daemon"},
	{"libjvm.so", "hotspot", "method__compile__*",
	 "compiler:string[arg1],compiler_len,class:string[arg3],class_len,method:string[arg5],method_len,signature:string[arg7],signature_len"},
	{"libjvm.so", "hotspot", "compiled__method__*",
	 "class:string[arg1],class_len,method:string[arg3],method_len,signature:string[arg5],signature_len"},
	{"libjvm.so", "hotspot", "method__*",
	 "java_thread,class:string[arg2],class_len,method:string[arg4],method_len,signature:string[arg6],signature_len"},
	{"libjvm.so", "hotspot", "monitor__*",
	 "java_thread,monitor:x64,class:string[arg3],class_len"},
	{"libjvm.so", "hotspot", "object__alloc",
	 "java_thread,class:string[arg2],class_len,size"},
	{"libjvm.so", "hotspot", "mem__pool__gc__*",
	 "manager:string[arg1],manager_len,pool:string[arg3],pool_len,init,used,committed,max"},
	{"libjvm.so", "hotspot", "vmops__*", "operation:string[arg1],operation_len,mode"},
};

int nw_types_builtin(struct nw_types *types)
{
	for (size_t i = 0; i < NW_COUNT(builtin); i++) {
		nw_cleanup(nw_free_ptr) char *text = nw_text("n(%s)", builtin[i].args);
		struct nw_described *known = text ? nw_types_add(types) : NULL;
		struct nw_spec spec;
		if (!known || nw_spec_parse(text, &spec, NULL) < 0)
			return -ENOMEM;
		known->program = strdup(builtin[i].program);
		known->provider = strdup(builtin[i].provider);
		known->name = strdup(builtin[i].name);
		nw_vec_each (&spec.args, arg) {
			struct nw_named_arg *slot = nw_vec_add(&known->args);
			if (slot)
				*slot = *arg;
		}
		nw_spec_free(&spec);
		if (!known->program || !known->provider || !known->name)
			return -ENOMEM;
	}
	return 0;
}

/* ---- look-ups ----------------------------------------------------------------------- */

/* Does a description's program match a path? libpython3.so matches libpython3.so.1.0, too, because versions differ. */
static bool matches_program(const char *program, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	if (nw_glob_match(program, base))
		return true;
	nw_cleanup(nw_free_ptr) char *versions = nw_text("%s.*", program);
	return versions && ends_in(program, ".so") && nw_glob_match(versions, base);
}

/* Returns how well a description matches; 0: not at all. */
static unsigned int match_quality(const struct nw_described *known, const char *path,
				  const char *provider, const char *name)
{
	if (!nw_glob_match(known->name, name) ||
	    (known->provider && !nw_glob_match(known->provider, provider)))
		return 0;
	bool program = known->program && matches_program(known->program, path);
	/* An installed description must name this program; one that the user gives need not. */
	if (!known->given)
		return program ? 1 : 0;
	return program ? 4 : known->program ? 2 : 3;
}

const struct nw_described *nw_types_of(const struct nw_types *types, const char *path,
				       const char *provider, const char *name)
{
	const struct nw_described *best = NULL;
	unsigned int most = 0;

	nw_vec_each (&types->probes, known) {
		unsigned int quality = match_quality(known, path, provider, name);
		if (quality > most) {
			most = quality;
			best = known;
		}
	}
	return best;
}

/* Can the operand have a value of that type? */
static bool suits(const struct nw_type *type, const struct nw_operand *op)
{
	if (op->kind == NW_OPERAND_UNKNOWN || op->problem)
		return true; /* no value can be fetched, whatever its type is */
	if (!nw_is_plain_size(op->size))
		return false;
	if (type->base == NW_TYPE_STRING)
		return op->kind == NW_OPERAND_CONSTANT || op->size >= 4;
	if (type->base == NW_TYPE_FLOAT)
		return op->size * 8 == type->bits;
	return !op->is_float;
}

static bool has_name(const nw_named_args *args, const char *name)
{
	nw_vec_each (args, arg)
		if (strcmp(arg->name, name) == 0)
			return true;
	return false;
}

void nw_types_apply(const struct nw_described *known, const struct nw_point *points,
		    size_t count, nw_named_args *args)
{
	for (size_t i = 0; i < args->count && i < known->args.count; i++) {
		const struct nw_named_arg *from = &known->args.item[i];
		struct nw_named_arg *arg = &args->item[i];
		bool untyped = arg->type.base == NW_TYPE_DEFAULT;
		for (size_t j = 0; j < count && untyped; j++)
			untyped = i >= points[j].operands.count ||
				  suits(&from->type, &points[j].operands.item[i]);
		/* `class:string` without a length of its own gets the length that the description has. */
		if (untyped || (arg->type.base == NW_TYPE_STRING &&
				from->type.base == NW_TYPE_STRING && !*arg->length))
			memcpy(arg->length, from->length, sizeof(arg->length));
		if (untyped)
			arg->type = from->type;
		if (!*arg->name && *from->name && !has_name(args, from->name))
			memcpy(arg->name, from->name, sizeof(arg->name));
	}
}

/* The directory in which distributions install tapsets; SYSTEMTAP_TAPSET names another, as for stap. */
#define TAPSETS "/usr/share/systemtap/tapset"

int nw_types_load(const char *const *files, size_t count, struct nw_types *out,
		  struct nw_error *err)
{
	const char *tapsets = getenv("SYSTEMTAP_TAPSET");
	struct nw_types types = {0};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = nw_types_read(&types, files[i], err);
	if (ret == 0 && nw_types_builtin(&types) < 0)
		ret = nw_no_memory(err);
	if (ret < 0) {
		nw_types_free(&types);
		return ret;
	}
	nw_types_find(&types, tapsets ? tapsets : TAPSETS);
	*out = types;
	return 0;
}
