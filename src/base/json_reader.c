// SPDX-License-Identifier: MIT
/* See json_reader.h. */
#include "json_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

#ifdef NW_HAVE_JSONC
#include <json.h>

/* The functions of json-c that are called. Unless json-c is linked, it is opened on first use. */
/* clang-format off */
#define FUNCTIONS(each) \
	each(json_tokener_new_ex) \
	each(json_tokener_set_flags) \
	each(json_tokener_parse_ex) \
	each(json_tokener_get_error) \
	each(json_tokener_error_desc) \
	each(json_tokener_free) \
	each(json_object_put) \
	each(json_object_get_type) \
	each(json_object_get_object) \
	each(json_object_object_get_ex) \
	each(json_object_array_length) \
	each(json_object_array_get_idx) \
	each(json_object_get_string) \
	each(json_object_get_string_len) \
	each(json_object_get_int64) \
	each(json_object_get_double) \
	each(json_object_get_boolean)
/* clang-format on */

/* Looked up once and constant from then on: a linker's table, not state. */
static struct {
#define POINTER(name) __typeof__(&(name)) name;
	FUNCTIONS(POINTER)
} jsonc;
static bool is_open;

static void look_up(void)
{
#ifdef NW_LINKED_JSONC
#define ADDRESS(name) (void (*)(void))(name)
#else
#define ADDRESS(name) NULL
#endif
#define ROW(name) {#name, (size_t)((char *)&jsonc.name - (char *)&jsonc), ADDRESS(name)},
	const struct nw_library_function functions[] = {FUNCTIONS(ROW)};

	is_open = nw_library_open(NW_JSONC_LIBRARY, functions, NW_COUNT(functions), &jsonc);
}

int nw_json_can_read(struct nw_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	return pthread_once(&once, look_up) == 0 && is_open
		       ? 0
		       : nw_fail(err, EOPNOTSUPP,
				 "JSON cannot be read: the library json-c is missing (%s)",
				 NW_JSONC_LIBRARY);
}

int nw_json_read(const char *text, size_t len, nw_json_value **out, struct nw_error *err)
{
	int ret = nw_json_can_read(err);

	*out = NULL;
	if (ret < 0)
		return ret;
	if (len > INT32_MAX)
		return nw_fail(err, EINVAL, "not JSON: longer than 2 GiB");
	struct json_tokener *tokener = jsonc.json_tokener_new_ex(NW_JSON_MOST_DEPTH);
	if (!tokener)
		return nw_no_memory(err);
	jsonc.json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	/* Where json-c gets no memory for a value, it reads a null in its place without an error, and errno may be that of a later number. */
	errno = 0;
	*out = jsonc.json_tokener_parse_ex(tokener, text, (int)len);
	bool no_memory = nw_shortage() < 0;
	enum json_tokener_error error = jsonc.json_tokener_get_error(tokener);
	no_memory |= error == json_tokener_success && !*out && *text == '{';
	if (no_memory) {
		nw_json_value_free(*out);
		*out = NULL;
		ret = nw_no_memory(err);
	} else if (error == json_tokener_continue) {
		ret = nw_fail(err, ENODATA, "not JSON: it ends in the middle of a value");
	} else if (error != json_tokener_success) {
		ret = nw_fail(err, EINVAL, "not JSON: %s",
			      jsonc.json_tokener_error_desc(error));
	}
	jsonc.json_tokener_free(tokener);
	return ret;
}

void nw_json_value_free(nw_json_value *value)
{
	if (value)
		jsonc.json_object_put(value);
}

/* ---- values: json-c's functions take no const, though they change nothing ------------ */

static nw_json_value *typed(const nw_json_value *value, enum json_type type)
{
	nw_json_value *same = (nw_json_value *)(uintptr_t)value;

	return same && jsonc.json_object_get_type(same) == type ? same : NULL;
}

const nw_json_value *nw_json_member(const nw_json_value *object, const char *key)
{
	nw_json_value *of = typed(object, json_type_object), *member = NULL;

	return of && jsonc.json_object_object_get_ex(of, key, &member) ? member : NULL;
}

const char *nw_json_next_member(const nw_json_value *object, void **at,
				const nw_json_value **value)
{
	nw_json_value *of = typed(object, json_type_object);
	struct lh_entry *entry = *at;

	if (!of)
		return NULL;
	entry = entry ? entry->next : jsonc.json_object_get_object(of)->head;
	*at = entry;
	*value = entry ? entry->v : NULL;
	return entry ? entry->k : NULL;
}

size_t nw_json_length(const nw_json_value *array)
{
	nw_json_value *of = typed(array, json_type_array);

	return of ? jsonc.json_object_array_length(of) : 0;
}

const nw_json_value *nw_json_element(const nw_json_value *array, size_t index)
{
	return index < nw_json_length(array) ? jsonc.json_object_array_get_idx(
						       typed(array, json_type_array), index)
					     : NULL;
}

const char *nw_json_string(const nw_json_value *value, size_t *len)
{
	nw_json_value *of = typed(value, json_type_string);

	*len = of ? (size_t)jsonc.json_object_get_string_len(of) : 0;
	return of ? jsonc.json_object_get_string(of) : NULL;
}

/* json-c holds numbers that do not fit as the nearest that does, which is an end of the range. */
bool nw_json_signed(const nw_json_value *value, int64_t *out)
{
	nw_json_value *of = typed(value, json_type_int);
	size_t len;
	char *end;

	if (of) {
		*out = jsonc.json_object_get_int64(of);
		return *out != INT64_MAX && *out != INT64_MIN;
	}
	const char *text = nw_json_string(value, &len);
	errno = 0;
	*out = text ? strtoll(text, &end, 10) : 0;
	return text && len && !errno && *end == '\0' && end == text + len && *text != ' ' &&
	       *text != '+';
}

bool nw_json_unsigned(const nw_json_value *value, uint64_t *out)
{
	int64_t number;
	size_t len;
	char *end;

	if (typed(value, json_type_int)) {
		bool fits = nw_json_signed(value, &number) && number >= 0;
		*out = fits ? (uint64_t)number : 0;
		return fits;
	}
	const char *text = nw_json_string(value, &len);
	errno = 0;
	*out = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	return text && *text >= '0' && *text <= '9' && !errno && end == text + len;
}

bool nw_json_double(const nw_json_value *value, double *out)
{
	nw_json_value *of = typed(value, json_type_double);

	if (!of)
		of = typed(value, json_type_int);
	*out = of ? jsonc.json_object_get_double(of) : 0;
	return of != NULL;
}

bool nw_json_is_true(const nw_json_value *value)
{
	nw_json_value *of = typed(value, json_type_boolean);

	return of && jsonc.json_object_get_boolean(of);
}

#else /* a build without json-c makes no values, so there is nothing to ask them */

int nw_json_can_read(struct nw_error *err)
{
	return nw_fail(err, EOPNOTSUPP,
		       "JSON cannot be read: this nopwatch was built without json-c");
}

int nw_json_read(const char *text, size_t len, nw_json_value **out, struct nw_error *err)
{
	(void)text;
	(void)len;
	*out = NULL;
	return nw_json_can_read(err);
}

/* clang-format off */
#define UNUSED __attribute__((unused))
#define NOTHING(type, result, name, ...) type name(__VA_ARGS__) { return result; }
NOTHING(const nw_json_value *, NULL, nw_json_member, UNUSED const nw_json_value *object, UNUSED const char *key)
NOTHING(const char *, NULL, nw_json_next_member, UNUSED const nw_json_value *object, UNUSED void **at, UNUSED const nw_json_value **value)
NOTHING(size_t, 0, nw_json_length, UNUSED const nw_json_value *array)
NOTHING(const nw_json_value *, NULL, nw_json_element, UNUSED const nw_json_value *array, UNUSED size_t index)
NOTHING(const char *, NULL, nw_json_string, UNUSED const nw_json_value *value, UNUSED size_t *len)
NOTHING(bool, false, nw_json_unsigned, UNUSED const nw_json_value *value, UNUSED uint64_t *out)
NOTHING(bool, false, nw_json_signed, UNUSED const nw_json_value *value, UNUSED int64_t *out)
NOTHING(bool, false, nw_json_double, UNUSED const nw_json_value *value, UNUSED double *out)
NOTHING(bool, false, nw_json_is_true, UNUSED const nw_json_value *value)
NOTHING(void, , nw_json_value_free, UNUSED nw_json_value *value)
/* clang-format on */
#endif
