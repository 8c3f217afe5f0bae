/* arc example gaussians: reads JSON.
   SPDX-License-Identifier: Apache-2.0

   Strict: what RFC 8259 does not allow is refused with the line it stands in. Text of UTF-8 goes
   through as it is; a byte order mark is skipped. Of members with the same key the last counts. */
#ifndef GAUSSIANS_JSON_H
#define GAUSSIANS_JSON_H

#include "../../common/output_file.h"

enum { JSON_MAX_DEPTH = 64 };

typedef enum json_kind {
  JSON_NULL = 1,
  JSON_BOOL,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT
} json_kind;

typedef struct json_value {
  json_kind kind;
  int line;                        /* where it begins, from 1 */
  int count;                       /* of elements or members */
  double number;                   /* finite; of a bool 0 or 1 */
  const char *text;                /* of a string */
  const char *key;                 /* of a member of an object, else null */
  struct json_value *first, *next; /* the first element or member; the one after this */
} json_value;

typedef struct json_document {
  json_value *root;
  struct json_block *blocks; /* the memory of all values */
} json_document;

/* `text` holds `size` bytes and a zero behind them. On failure, which reads "line 3: ...", nothing
   is left to free. */
bool json_parse(json_document *document, const char *text, size_t size, error_line *error);
void json_free(json_document *document);

/* Null where the value is no object or has no such member. */
const json_value *json_member(const json_value *object, const char *key);

/* "a number", "an array", ... for messages. */
const char *json_kind_name(json_kind kind);

#endif
