/* arc example gaussians: reads JSON.
   SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct json_block {
  struct json_block *next;
  size_t used, size;
} json_block;

typedef struct json_parser {
  json_document *document;
  const char *at, *end;
  int line, depth;
  error_line *error;
} json_parser;

/* ---- memory --------------------------------------------------------------------------------- */

/* Zeroed, aligned for a json_value; null where there is no memory. */
static void *take_memory(json_document *document, size_t size) {
  static const size_t ALIGNMENT = alignof(json_value), LEAST = (size_t)1 << 16;
  json_block *block = document->blocks;
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (block == nullptr || block->size - block->used < size) {
    size_t room = size > LEAST ? size : LEAST;
    block = (json_block *)calloc(1, sizeof(json_block) + room);
    if (block == nullptr) return nullptr;
    block->next = document->blocks;
    block->size = room;
    document->blocks = block;
  }
  void *memory = (char *)(block + 1) + block->used;
  block->used += size;
  return memory;
}

void json_free(json_document *document) {
  while (document->blocks != nullptr) {
    json_block *block = document->blocks;
    document->blocks = block->next;
    free(block);
  }
  document->root = nullptr;
}

/* ---- errors --------------------------------------------------------------------------------- */

static bool fail(json_parser *p, const char *what) {
  return error_set(p->error, "line %d: %s", p->line, what);
}

/* Says what stands there instead: a word, a character, or the end. */
static bool fail_expected(json_parser *p, const char *wanted) {
  if (p->at >= p->end)
    return error_set(p->error, "line %d: the file ends where %s must stand", p->line, wanted);
  int length = 1;
  if (isalnum((unsigned char)*p->at))
    while (length < 12 && isalnum((unsigned char)p->at[length])) ++length;
  if (!isprint((unsigned char)*p->at))
    return error_set(p->error, "line %d: byte 0x%02x where %s must stand", p->line,
                     (unsigned)(unsigned char)*p->at, wanted);
  return error_set(p->error, "line %d: '%.*s' where %s must stand", p->line, length, p->at, wanted);
}

/* ---- values --------------------------------------------------------------------------------- */

static void skip_space(json_parser *p) {
  for (; p->at < p->end; ++p->at) {
    char c = *p->at;
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return;
    p->line += c == '\n';
  }
}

static bool take_character(json_parser *p, char c) {
  if (p->at >= p->end || *p->at != c) return false;
  ++p->at;
  return true;
}

static bool take_digits(json_parser *p) {
  const char *start = p->at;
  while (p->at < p->end && isdigit((unsigned char)*p->at)) ++p->at;
  return p->at > start;
}

static bool parse_number(json_parser *p, json_value *value) {
  const char *start = p->at;
  take_character(p, '-');
  if (!take_character(p, '0') && !take_digits(p)) return fail_expected(p, "a digit");
  if (p->at < p->end && isdigit((unsigned char)*p->at))
    return fail(p, "a number begins with a 0 that must not be there");
  if (take_character(p, '.') && !take_digits(p)) return fail_expected(p, "a digit");
  if (take_character(p, 'e') || take_character(p, 'E')) {
    if (!take_character(p, '-')) take_character(p, '+');
    if (!take_digits(p)) return fail_expected(p, "a digit");
  }
  value->kind = JSON_NUMBER;
  value->number = strtod(start, nullptr);
  if (isfinite(value->number)) return true;
  return fail(p, "a number is too large; its magnitude must be below 1.8e308");
}

/* Four hexadecimal digits; -1 where there are none. */
static int take_hexadecimal(json_parser *p) {
  int code = 0;
  for (int i = 0; i < 4; ++i, ++p->at) {
    if (p->at >= p->end || !isxdigit((unsigned char)*p->at)) return -1;
    int letter = tolower((unsigned char)*p->at);
    code = 16 * code + (letter <= '9' ? letter - '0' : letter - 'a' + 10);
  }
  return code;
}

static char *put_utf8(char *to, unsigned code) {
  if (code < 0x80) {
    *to++ = (char)code;
    return to;
  }
  int following = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const unsigned first_byte[4] = {0, 0xc0, 0xe0, 0xf0};
  *to++ = (char)(first_byte[following] | code >> 6 * following);
  while (following-- > 0) *to++ = (char)(0x80 | (code >> 6 * following & 0x3f));
  return to;
}

/* Behind "\u". Characters beyond 16 bits are written as a pair of surrogates. */
static bool parse_code_point(json_parser *p, char **to) {
  int code = take_hexadecimal(p);
  if (code < 0) return fail_expected(p, "a hexadecimal digit");
  if (code == 0) return fail(p, "\\u0000 cannot be part of a text here");
  if (code >= 0xd800 && code < 0xe000) {
    bool pair = code < 0xdc00 && take_character(p, '\\') && take_character(p, 'u');
    int low = pair ? take_hexadecimal(p) : -1;
    if (low < 0xdc00 || low > 0xdfff) return fail(p, "\\u names half a pair of surrogates");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  *to = put_utf8(*to, (unsigned)code);
  return true;
}

static bool parse_escape(json_parser *p, char **to) {
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  if (take_character(p, 'u')) return parse_code_point(p, to);
  const char *letter = p->at < p->end && *p->at != '\0' ? strchr(letters, *p->at) : nullptr;
  if (letter == nullptr) return fail_expected(p, "one of \"\\/bfnrtu behind a \\");
  *(*to)++ = meanings[letter - letters];
  ++p->at;
  return true;
}

/* The end of a text that begins behind a quotation mark, or the end of the file. */
static const char *text_end(const json_parser *p) {
  const char *end = p->at;
  while (end < p->end && *end != '"') end += *end == '\\' && end + 1 < p->end ? 2 : 1;
  return end;
}

static bool parse_text(json_parser *p, const char **text) {
  if (!take_character(p, '"')) return fail_expected(p, "a text in quotation marks");
  /* No escape is shorter than what it means. */
  char *to = (char *)take_memory(p->document, (size_t)(text_end(p) - p->at) + 1);
  if (to == nullptr) return fail(p, "not enough memory");
  *text = to;
  while (!take_character(p, '"')) {
    if (p->at >= p->end) return fail_expected(p, "a closing quotation mark");
    if ((unsigned char)*p->at < 0x20) return fail_expected(p, "a printable character");
    if (take_character(p, '\\')) {
      if (!parse_escape(p, &to)) return false;
    } else {
      *to++ = *p->at++;
    }
  }
  return true;
}

static bool parse_value(json_parser *p, json_value *value);

static bool parse_member_key(json_parser *p, json_value *member) {
  if (!parse_text(p, &member->key)) return false;
  skip_space(p);
  return take_character(p, ':') || fail_expected(p, "':'");
}

/* Behind the opening bracket. */
static bool parse_elements(json_parser *p, json_value *value) {
  bool object = value->kind == JSON_OBJECT;
  char close = object ? '}' : ']';
  json_value **link = &value->first;
  skip_space(p);
  if (take_character(p, close)) return true;
  for (;;) {
    json_value *element = (json_value *)take_memory(p->document, sizeof(json_value));
    if (element == nullptr) return fail(p, "not enough memory");
    skip_space(p);
    if (object && !parse_member_key(p, element)) return false;
    if (!parse_value(p, element)) return false;
    *link = element;
    link = &element->next;
    value->count += 1;
    skip_space(p);
    if (take_character(p, close)) return true;
    if (!take_character(p, ',')) return fail_expected(p, object ? "',' or '}'" : "',' or ']'");
  }
}

static bool take_word(json_parser *p, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0) return false;
  p->at += length;
  return true;
}

static bool parse_value(json_parser *p, json_value *value) {
  skip_space(p);
  value->line = p->line;
  char c = p->at < p->end ? *p->at : '\0';
  if (c == '-' || isdigit((unsigned char)c)) return parse_number(p, value);
  if (c == '"') {
    value->kind = JSON_STRING;
    return parse_text(p, &value->text);
  }
  if (c == '[' || c == '{') {
    ++p->at;
    value->kind = c == '[' ? JSON_ARRAY : JSON_OBJECT;
    if (++p->depth > JSON_MAX_DEPTH)
      return error_set(p->error, "line %d: nested more than %d deep", p->line, JSON_MAX_DEPTH);
    bool parsed = parse_elements(p, value);
    --p->depth;
    return parsed;
  }
  value->kind = JSON_BOOL;
  if (take_word(p, "false")) return true;
  value->number = 1.0;
  if (take_word(p, "true")) return true;
  value->kind = JSON_NULL;
  value->number = 0.0;
  return take_word(p, "null") || fail_expected(p, "a value");
}

bool json_parse(json_document *document, const char *text, size_t size, error_line *error) {
  json_parser parser = {document, text, text + size, 1, 0, error};
  memset(document, 0, sizeof *document);
  take_word(&parser, "\xef\xbb\xbf");
  document->root = (json_value *)take_memory(document, sizeof(json_value));
  bool parsed = document->root != nullptr ? parse_value(&parser, document->root)
                                          : fail(&parser, "not enough memory");
  skip_space(&parser);
  if (parsed && parser.at < parser.end) parsed = fail_expected(&parser, "the end of the file");
  if (!parsed) json_free(document);
  return parsed;
}

const json_value *json_member(const json_value *object, const char *key) {
  const json_value *found = nullptr;
  if (object->kind != JSON_OBJECT) return nullptr;
  for (const json_value *m = object->first; m != nullptr; m = m->next)
    if (strcmp(m->key, key) == 0) found = m;
  return found;
}

const char *json_kind_name(json_kind kind) {
  static const char *const names[] = {"",       "null",     "a bool",   "a number",
                                      "a text", "an array", "an object"};
  return names[kind];
}
