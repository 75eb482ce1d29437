// SPDX-License-Identifier: MIT
/*
 * Arguments of a hit: reads the kernel's fields, and does the steps that the kernel cannot do: signs of bitfields,
 * pairs of registers, floating point. Offsets and lengths come from the trace, so each is checked against the
 * record's size before it is used.
 */
#include <string.h>

#include "base/load.h"
#include "eventheader.h"
#include "stream/pages/record.h"
#include "value.h"

/* Sign-extends the lowest bits. */
static uint64_t extend(uint64_t value, unsigned int bits)
{
	if (bits == 0 || bits >= 64)
		return value;
	uint64_t sign = (uint64_t)1 << (bits - 1);
	return ((value & ((sign << 1) - 1)) ^ sign) - sign;
}

static double as_real(uint64_t bits, unsigned int width)
{
	uint32_t narrow = (uint32_t)bits;
	float single;
	double wide;

	if (width == 32) {
		memcpy(&single, &narrow, sizeof(single));
		return (double)single;
	}
	memcpy(&wide, &bits, sizeof(wide));
	return wide;
}

static enum nw_value_kind kind_of(enum nw_base_type base)
{
	switch (base) {
	case NW_TYPE_SIGNED:
		return NW_VALUE_SIGNED;
	case NW_TYPE_HEX:
		return NW_VALUE_HEX;
	case NW_TYPE_FLOAT:
		return NW_VALUE_FLOAT;
	default:
		return NW_VALUE_UNSIGNED;
	}
}

void nw_value_number(const struct nw_fetch *fetch, uint64_t raw, struct nw_value *out)
{
	unsigned int shown = fetch->shown.bits;

	out->kind = kind_of(fetch->shown.base);
	out->bits = shown;
	if (out->kind == NW_VALUE_FLOAT) {
		/* A float that is shown as a double is still a float. */
		bool narrow = fetch->field.base == NW_TYPE_FLOAT &&
			      fetch->field.bits < shown;
		out->real = as_real(raw, narrow ? fetch->field.bits : shown);
		return;
	}
	/* If the number is shown wider than it was fetched, the field's own sign is extended. */
	if (fetch->sign_bits)
		raw = extend(raw, fetch->sign_bits);
	else if (fetch->field.base == NW_TYPE_SIGNED)
		raw = extend(raw, fetch->field.bits);
	if (out->kind != NW_VALUE_SIGNED && shown < 64)
		raw &= ((uint64_t)1 << shown) - 1;
	out->number = out->kind == NW_VALUE_SIGNED ? extend(raw, shown) : raw;
}

static void miss(struct nw_value *out, const char *why)
{
	out->kind = NW_VALUE_MISSING;
	out->text = why;
}

/* Finds the bytes of a __data_loc field: u32 offset | length << 16; the bytes are behind the fixed fields. */
static bool find_dynamic(const struct nw_record *record,
			 const struct nw_field_format *field, const unsigned char **bytes,
			 uint32_t *len, struct nw_value *out)
{
	uint32_t where = (uint32_t)nw_load(record->data + field->offset, field->size);
	uint32_t at = where & 0xffff;

	*len = where >> 16;
	if (field->relative)
		at += field->offset + field->size;
	if (at > record->size || *len > record->size - at) {
		miss(out, "the record is damaged");
		return false;
	}
	*bytes = record->data + at;
	return true;
}

static void set_string(const unsigned char *bytes, uint32_t len, struct nw_value *out)
{
	out->kind = NW_VALUE_STRING;
	out->text = (const char *)bytes;
	out->len = (uint32_t)strnlen(out->text, len);
}

/* Takes text out of an array. The kernel's longest array may be the beginning of a longer one. */
static void set_text(const unsigned char *bytes, uint32_t len, struct nw_value *out)
{
	enum {
		LONGEST = 64 /* MAX_ARRAY_LEN of kernel/trace/trace_probe.h */
	};

	set_string(bytes, len, out);
	out->cut = out->len == LONGEST;
}

/* Takes the element of an array at index * scale bytes. */
static void take_indexed(const struct nw_record *record,
			 const struct nw_field_format *field,
			 const struct nw_field_format *index, const struct nw_fetch *fetch,
			 struct nw_value *out)
{
	uint64_t bytes = fetch->field.bits / 8;
	uint64_t number = extend(nw_load(record->data + index->offset, index->size),
				 8 * index->size);
	uint64_t at = number * fetch->scale;

	if (number >= NW_WINDOW * 8 || !bytes || at >= bytes * fetch->field.array ||
	    at + bytes > field->size)
		miss(out, "the index lies outside of what was fetched");
	else if (at % bytes)
		miss(out, "the index lies between two elements");
	else
		nw_value_number(fetch,
				nw_load(record->data + field->offset + at, (uint32_t)bytes),
				out);
}

/* Takes a field of a kernel event, whose type is in its format. */
static void take_kernel_field(const struct nw_record *record,
			      const struct nw_field_format *field,
			      const struct nw_type *wanted, struct nw_value *out)
{
	const struct nw_type *type = &field->type;
	const unsigned char *bytes = record->data + field->offset;
	uint32_t len = field->size;

	if (field->member) {
		nw_eventheader_take(record, field, wanted, out);
		return;
	}
	if (field->open)
		len = record->size > field->offset ? record->size - field->offset : 0;
	if (field->dynamic && !find_dynamic(record, field, &bytes, &len, out))
		return;
	if (type->base == NW_TYPE_STRING) {
		set_string(bytes, len, out);
	} else if (type->array) {
		out->kind = NW_VALUE_ARRAY;
		out->bits = type->bits;
		out->element = kind_of(type->base);
		out->elements = bytes;
		out->len = len / (type->bits / 8);
	} else {
		const struct nw_fetch fetch = {
			.field = *type,
			.shown = wanted->base == NW_TYPE_DEFAULT ? *type : *wanted};
		uint64_t raw = nw_load(bytes, len);
		if (type->bits < 64) /* the argument of a system call fills a register */
			raw &= ((uint64_t)1 << type->bits) - 1;
		nw_value_number(&fetch, raw, out);
	}
}

/* Is an address one of the kernel's memory, which is always there? With 32 bits, it has the last GiB, as a rule. */
static bool is_of_kernel(uint64_t address, uint32_t size)
{
	return address >> (size == 4 ? 30 : 63) == (size == 4 ? 3 : 1);
}

/* Takes a string of chunks: its pointer, and its bytes if all of them are in this record. The bytes for callers have
 * no pointer; their address is the place of the hit. */
static void take_pointer(const struct nw_record *record,
			 const struct nw_field_format *field,
			 const struct nw_source *source, struct nw_value *out)
{
	const unsigned char *bytes = NULL;
	uint32_t offset, len;

	out->kind = NW_VALUE_STRING;
	if (!source->callers)
		out->number = nw_load(record->data + field->offset, field->size);
	out->untrusted |= source->in_kernel && out->number &&
			  !is_of_kernel(out->number, field->size);
	if (source->callers && record->format->pc_size)
		out->number = nw_load(record->data + record->format->pc,
				      record->format->pc_size);
	out->text = "";
	if (source->spread)
		return;
	len = nw_string_bytes(record, source, &offset, &bytes);
	nw_string_finish(source, bytes, len, out);
}

static void take_field(const struct nw_record *record, const struct nw_source *source,
		       struct nw_value *out)
{
	const struct nw_event_format *format = record->format;
	const struct nw_fetch *fetch = &source->fetch;

	if ((size_t)source->field >= format->fields.count ||
	    source->high_field >= (int)format->fields.count) {
		miss(out, "the event's format is not as defined");
		return;
	}
	const struct nw_field_format *field = &format->fields.item[source->field];
	if (!field->size || !nw_record_has(record, (size_t)source->field)) {
		miss(out, "not in the text");
		return;
	}
	out->untrusted = fetch->untrusted;
	if (field->type.base != NW_TYPE_DEFAULT) {
		take_kernel_field(record, field, &fetch->shown, out);
	} else if (source->chunks.count) {
		take_pointer(record, field, source, out);
	} else if (fetch->shown.base == NW_TYPE_STRING) {
		const unsigned char *bytes;
		uint32_t len;
		if (!find_dynamic(record, field, &bytes, &len, out))
			return;
		if (len)
			set_string(bytes, len, out);
		else
			miss(out, "(fault)"); /* as ftrace itself prints it */
	} else if (fetch->scale && source->high_field >= 0) {
		take_indexed(record, field, &format->fields.item[source->high_field], fetch,
			     out);
	} else if (fetch->field.array) {
		out->kind = NW_VALUE_ARRAY;
		out->bits = fetch->field.bits;
		out->element = kind_of(fetch->shown.base);
		out->elements = record->data + field->offset;
		out->len = fetch->field.array;
		if ((uint64_t)out->len * (out->bits / 8) > field->size)
			miss(out, "the event's format is not as defined");
		else if (fetch->shown.base == NW_TYPE_CHAR)
			set_text(out->elements, out->len, out);
	} else if (source->high_field >= 0) {
		const struct nw_field_format *high =
			&format->fields.item[source->high_field];
		nw_value_number(fetch,
				nw_load(record->data + field->offset, field->size) |
					nw_load(record->data + high->offset, high->size)
						<< 32,
				out);
	} else {
		nw_value_number(fetch, nw_load(record->data + field->offset, field->size),
				out);
	}
}

void nw_record_values(const struct nw_formats *formats, const struct nw_record *record,
		      struct nw_value *out)
{
	const struct nw_planned_point *planned =
		&formats->plan->points.item[record->planned];
	struct nw_value *values = out;
	bool counted = false;

	nw_vec_each (&planned->args, source) {
		const struct nw_fetch *fetch = &source->fetch;
		struct nw_value *value = out++;
		const char *problem = nw_armed_problem(formats->armed, record->planned,
						       source);
		/* For a part that was refused no record will come, so its problem is reported now. */
		if (!problem && source->field >= 0 && source->part != record->part)
			continue;
		*value = (struct nw_value){0};
		if (problem)
			miss(value, problem);
		else if (fetch->is_constant)
			nw_value_number(fetch, fetch->constant, value);
		else if (source->field >= 0)
			take_field(record, source, value);
		else
			miss(value, "not fetched");
		counted |= source->counted;
	}
	if (counted && planned->parts == 1)
		nw_string_lengths(planned, values);
}

uint64_t nw_value_element(const struct nw_value *value, uint32_t i)
{
	uint64_t raw = nw_load(value->elements + (size_t)i * (value->bits / 8),
			       value->bits / 8);

	return value->element == NW_VALUE_SIGNED ? extend(raw, value->bits) : raw;
}

double nw_value_real(const struct nw_value *value, uint32_t i)
{
	return as_real(nw_value_element(value, i), value->bits);
}

size_t nw_value_word(const struct nw_probe *probe, size_t i, const struct nw_value *value,
		     const char **out)
{
	const bool is_signed = value->kind == NW_VALUE_SIGNED;

	return is_signed || value->kind == NW_VALUE_UNSIGNED
		       ? nw_arg_word(probe, i, value->number, is_signed, out)
		       : 0;
}
