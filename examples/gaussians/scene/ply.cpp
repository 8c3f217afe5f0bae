/* arc example gaussians: the .ply files of 3D Gaussian splatting.
   SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
  PLY_MAX_PROPERTIES = 256,
  PLY_MAX_LINE = 512,
  PLY_ROWS = 4096, /* read and written at a time */
  SH_MOST = 16     /* coefficients a colour has room for */
};

/* Scalar types, by both of their names. */
typedef enum ply_type {
  PLY_INT8 = 1,
  PLY_UINT8,
  PLY_INT16,
  PLY_UINT16,
  PLY_INT32,
  PLY_UINT32,
  PLY_FLOAT32,
  PLY_FLOAT64,
  PLY_TYPES /* one more than the last */
} ply_type;

typedef struct ply_property {
  char name[32];
  ply_type type;
  size_t offset; /* in a row */
} ply_property;

typedef struct ply_header {
  long long rows;
  ply_property properties[PLY_MAX_PROPERTIES];
  int property_count;
  size_t row_size;
  bool more_elements; /* behind the vertices */
} ply_header;

static size_t type_size(ply_type type) {
  static const size_t sizes[PLY_TYPES] = {0, 1, 1, 2, 2, 4, 4, 4, 8};
  return sizes[type];
}

/* ---- Gaussians ------------------------------------------------------------------------------ */

bool gaussians_allocate(gaussians_host *g, int count, int sh_degree, error_line *error) {
  memset(g, 0, sizeof *g);
  if (count < 1 || count > GAUSSIANS_MOST)
    return error_set(error, "%d Gaussians; there must be 1 to %d", count, GAUSSIANS_MOST);
  if (sh_degree < 0 || sh_degree > 3)
    return error_set(error, "spherical harmonics of degree %d; it must be 0 to 3", sh_degree);
  size_t n = (size_t)count;
  g->count = count;
  g->sh_degree = sh_degree;
  g->position = (float *)calloc(n * 3, sizeof(float));
  g->scale = (float *)calloc(n * 3, sizeof(float));
  g->rotation = (float *)calloc(n * 4, sizeof(float));
  g->opacity = (float *)calloc(n, sizeof(float));
  g->sh = (float *)calloc(n * SH_MOST * 3, sizeof(float));
  if (g->position && g->scale && g->rotation && g->opacity && g->sh) return true;
  gaussians_free(g);
  return error_set(error, "not enough memory for %d Gaussians", count);
}

void gaussians_free(gaussians_host *g) {
  free(g->position);
  free(g->scale);
  free(g->rotation);
  free(g->opacity);
  free(g->sh);
  memset(g, 0, sizeof *g);
}

/* ---- what a row holds ----------------------------------------------------------------------- */

enum { PLY_MOST_FIELDS = 3 + 3 + 3 * SH_MOST + 1 + 3 + 4 };

/* The floats of a row in the order they are written, and which value of a Gaussian each one is. */
typedef struct ply_field {
  char name[32];
  float *base; /* null: written as 0, not read */
  size_t stride;
} ply_field;

static void add_field(ply_field *fields, int *count, const char *name, int number, float *base,
                      size_t stride) {
  ply_field *f = &fields[(*count)++];
  if (number < 0) snprintf(f->name, sizeof f->name, "%s", name);
  if (number >= 0) snprintf(f->name, sizeof f->name, "%s_%d", name, number);
  f->base = base;
  f->stride = stride;
}

/* f_rest goes through all coefficients of red but the first, then green, then blue. */
static int list_fields(ply_field *fields, const gaussians_host *g) {
  static const char *const axes[] = {"x", "y", "z"}, *const normals[] = {"nx", "ny", "nz"};
  int coefficients = (g->sh_degree + 1) * (g->sh_degree + 1), count = 0;
  for (int i = 0; i < 3; ++i) add_field(fields, &count, axes[i], -1, g->position + i, 3);
  for (int i = 0; i < 3; ++i) add_field(fields, &count, normals[i], -1, nullptr, 0);
  for (int i = 0; i < 3; ++i) add_field(fields, &count, "f_dc", i, g->sh + i, 3 * SH_MOST);
  for (int channel = 0, i = 0; channel < 3; ++channel)
    for (int k = 1; k < coefficients; ++k)
      add_field(fields, &count, "f_rest", i++, g->sh + 3 * k + channel, 3 * SH_MOST);
  add_field(fields, &count, "opacity", -1, g->opacity, 1);
  for (int i = 0; i < 3; ++i) add_field(fields, &count, "scale", i, g->scale + i, 3);
  for (int i = 0; i < 4; ++i) add_field(fields, &count, "rot", i, g->rotation + i, 4);
  return count;
}

/* ---- the header ----------------------------------------------------------------------------- */

/* One line without its end; false at the end of the file or where it is too long for a header. */
static bool read_line(FILE *stream, char *line) {
  if (fgets(line, PLY_MAX_LINE, stream) == nullptr) return false;
  size_t length = strcspn(line, "\n");
  if (line[length] != '\n') return false;
  if (length > 0 && line[length - 1] == '\r') --length;
  line[length] = '\0';
  return true;
}

static ply_type type_from_name(const char *name) {
  static const char *const names[PLY_TYPES] = {"",    "char", "uchar", "short", "ushort",
                                               "int", "uint", "float", "double"};
  static const char *const sized_names[PLY_TYPES] = {
      "", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"};
  int type = PLY_INT8;
  while (type < PLY_TYPES && strcmp(name, names[type]) != 0 && strcmp(name, sized_names[type]) != 0)
    ++type;
  return (ply_type)type;
}

static bool add_property(ply_header *h, const char *line, error_line *error) {
  char type_name[32], name[32], more;
  if (sscanf(line, "property %31s %31s %c", type_name, name, &more) != 2)
    return error_set(error, "'%.80s' in the header; a vertex may only have 'property TYPE NAME'",
                     line);
  if (h->property_count == PLY_MAX_PROPERTIES)
    return error_set(error, "a vertex has more than %d properties", PLY_MAX_PROPERTIES);
  ply_property *p = &h->properties[h->property_count];
  p->type = type_from_name(type_name);
  if (p->type == PLY_TYPES)
    return error_set(error,
                     "the property '%s' is of type '%s'; it must be one of: char, uchar, "
                     "short, ushort, int, uint, float, double",
                     name, type_name);
  for (int i = 0; i < h->property_count; ++i)
    if (strcmp(h->properties[i].name, name) == 0)
      return error_set(error, "the property '%s' is there twice", name);
  strcpy(p->name, name);
  p->offset = h->row_size;
  h->row_size += type_size(p->type);
  h->property_count += 1;
  return true;
}

static bool add_element(ply_header *h, const char *line, error_line *error) {
  char name[32];
  long long count;
  if (sscanf(line, "element %31s %lld", name, &count) != 2)
    return error_set(error, "'%.80s' in the header; it must be 'element NAME COUNT'", line);
  if (h->rows >= 0) {
    h->more_elements = true;
    return true;
  }
  if (strcmp(name, "vertex") != 0)
    return error_set(error, "the first element is '%s'; it must be 'vertex'", name);
  if (count < 1 || count > GAUSSIANS_MOST)
    return error_set(error, "%lld Gaussians are announced; there must be 1 to %d", count,
                     GAUSSIANS_MOST);
  h->rows = count;
  return true;
}

static bool check_format(const char *line, error_line *error) {
  char format[32], version[16];
  if (sscanf(line, "format %31s %15s", format, version) == 2 && strcmp(version, "1.0") == 0 &&
      strcmp(format, "binary_little_endian") == 0)
    return true;
  return error_set(
      error, "its second line is '%.80s'; it must be 'format binary_little_endian 1.0'", line);
}

static bool read_header(ply_header *h, FILE *stream, error_line *error) {
  char line[PLY_MAX_LINE];
  memset(h, 0, sizeof *h);
  h->rows = -1;
  if (!read_line(stream, line) || strcmp(line, "ply") != 0)
    return error_set(error, "no PLY file; its first line must be 'ply'");
  if (!read_line(stream, line)) return error_set(error, "the file ends in its header");
  if (!check_format(line, error)) return false;
  for (;;) {
    if (!read_line(stream, line)) return error_set(error, "the file ends in its header");
    if (strcmp(line, "end_header") == 0) break;
    if (strncmp(line, "element ", 8) == 0) {
      if (!add_element(h, line, error)) return false;
    } else if (strncmp(line, "property ", 9) == 0) {
      if (!h->more_elements && !add_property(h, line, error)) return false;
    } else if (strncmp(line, "comment", 7) != 0 && strncmp(line, "obj_info", 8) != 0) {
      return error_set(error,
                       "'%.80s' in the header; its lines are element, property, comment, "
                       "obj_info and end_header",
                       line);
    }
  }
  return h->rows > 0 || error_set(error, "it lacks the element 'vertex'");
}

/* ---- reading -------------------------------------------------------------------------------- */

static unsigned long long unsigned_from_bytes(const unsigned char *bytes, size_t size) {
  unsigned long long value = 0;
  while (size-- > 0) value = value << 8 | bytes[size];
  return value;
}

static float value_from_bytes(const unsigned char *bytes, ply_type type) {
  unsigned long long bits = unsigned_from_bytes(bytes, type_size(type));
  unsigned half = (unsigned)bits;
  float single;
  double full;
  switch (type) {
    case PLY_INT8:
      return (signed char)bits;
    case PLY_INT16:
      return (short)bits;
    case PLY_INT32:
      return (float)(int)bits;
    case PLY_FLOAT32:
      memcpy(&single, &half, 4);
      return single;
    case PLY_FLOAT64:
      memcpy(&full, &bits, 8);
      return (float)full;
    default:
      return (float)bits;
  }
}

static const ply_property *find_property(const ply_header *h, const char *name) {
  for (int i = 0; i < h->property_count; ++i)
    if (strcmp(h->properties[i].name, name) == 0) return &h->properties[i];
  return nullptr;
}

/* By how many f_rest there are; -1 where that is no degree's number. */
static int degree_from_header(const ply_header *h, error_line *error) {
  int rest = 0;
  for (int i = 0; i < h->property_count; ++i)
    rest += strncmp(h->properties[i].name, "f_rest_", 7) == 0;
  for (int degree = 0; degree <= 3; ++degree)
    if (rest == 3 * ((degree + 1) * (degree + 1) - 1)) return degree;
  error_set(error, "%d properties f_rest; there must be 0, 9, 24 or 45 for degrees 0 to 3", rest);
  return -1;
}

/* Where the fields lie in a row; null for what is not read. */
static bool find_fields(const ply_property **found, const ply_field *fields, int field_count,
                        const ply_header *h, error_line *error) {
  for (int i = 0; i < field_count; ++i) {
    found[i] = fields[i].base != nullptr ? find_property(h, fields[i].name) : nullptr;
    if (fields[i].base != nullptr && found[i] == nullptr)
      return error_set(error, "a vertex lacks the property '%s'", fields[i].name);
  }
  return true;
}

static bool check_size(const ply_header *h, FILE *stream, error_line *error) {
  struct stat status;
  long long data = ftell(stream), rows = h->rows * (long long)h->row_size;
  if (fstat(fileno(stream), &status) != 0 || data < 0)
    return error_set(error, "%s", strerror(errno));
  long long there = (long long)status.st_size - data;
  if (there < rows || (there > rows && !h->more_elements))
    return error_set(error, "%lld bytes of vertices, where %lld of %zu bytes each are announced",
                     there, h->rows, h->row_size);
  return true;
}

static bool read_rows(gaussians_host *g, const ply_header *h, FILE *stream, error_line *error) {
  ply_field fields[PLY_MOST_FIELDS];
  const ply_property *found[PLY_MOST_FIELDS];
  int field_count = list_fields(fields, g);
  if (!find_fields(found, fields, field_count, h, error)) return false;
  unsigned char *rows = (unsigned char *)malloc(h->row_size * PLY_ROWS);
  bool read = rows != nullptr || error_set(error, "not enough memory");
  for (int start = 0; read && start < g->count; start += PLY_ROWS) {
    int count = g->count - start < PLY_ROWS ? g->count - start : PLY_ROWS;
    read = fread(rows, h->row_size, (size_t)count, stream) == (size_t)count;
    if (!read) error_set(error, "reading stopped before the last vertex");
    for (int i = 0; read && i < field_count * count; ++i) {
      const ply_field *f = &fields[i % field_count];
      const ply_property *p = found[i % field_count];
      if (p == nullptr) continue;
      float value = value_from_bytes(rows + i / field_count * h->row_size + p->offset, p->type);
      f->base[f->stride * (size_t)(start + i / field_count)] = value;
      if (!isfinite(value))
        read = error_set(error, "the property '%s' of vertex %d is %g; it must be finite", f->name,
                         start + i / field_count, value);
    }
  }
  free(rows);
  return read;
}

static bool check_rotations(const gaussians_host *g, error_line *error) {
  for (int i = 0; i < g->count; ++i) {
    const float *q = g->rotation + 4 * (size_t)i;
    if (q[0] == 0.0f && q[1] == 0.0f && q[2] == 0.0f && q[3] == 0.0f)
      return error_set(error, "the rotation of vertex %d is 0 0 0 0; it must be a quaternion", i);
  }
  return true;
}

static bool read_stream(gaussians_host *g, FILE *stream, error_line *error) {
  ply_header header;
  if (!read_header(&header, stream, error)) return false;
  int degree = degree_from_header(&header, error);
  if (degree < 0 || !check_size(&header, stream, error)) return false;
  if (!gaussians_allocate(g, (int)header.rows, degree, error)) return false;
  if (read_rows(g, &header, stream, error) && check_rotations(g, error)) return true;
  gaussians_free(g);
  return false;
}

bool ply_read(gaussians_host *g, const char *path, error_line *error) {
  error_line reason;
  memset(g, 0, sizeof *g);
  FILE *stream = fopen(path, "rb");
  if (stream == nullptr) return error_set(error, "cannot read '%.300s': %s", path, strerror(errno));
  bool read = read_stream(g, stream, &reason);
  fclose(stream);
  return read || error_set(error, "cannot read '%.200s': %.290s", path, reason.text);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void bytes_from_value(unsigned char *bytes, float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  for (int i = 0; i < 4; ++i) bytes[i] = (unsigned char)(bits >> 8 * i);
}

/* False, with the reason, for values that ply_read would refuse. */
static bool fill_rows(unsigned char *rows, const ply_field *fields, int field_count, size_t start,
                      size_t count, error_line *error) {
  for (size_t at = start; at < start + count; ++at) {
    for (int i = 0; i < field_count; ++i, rows += 4) {
      const ply_field *f = &fields[i];
      float value = f->base != nullptr ? f->base[f->stride * at] : 0.0f;
      if (!isfinite(value))
        return error_set(error, "%s of Gaussian %zu is %g; it must be finite", f->name, at, value);
      bytes_from_value(rows, value);
    }
  }
  return true;
}

static bool write_stream(FILE *stream, const gaussians_host *g, error_line *error) {
  ply_field fields[PLY_MOST_FIELDS];
  int field_count = list_fields(fields, g);
  size_t row_size = 4 * (size_t)field_count, all = (size_t)g->count;
  fprintf(stream, "ply\nformat binary_little_endian 1.0\nelement vertex %d\n", g->count);
  for (int i = 0; i < field_count; ++i) fprintf(stream, "property float %s\n", fields[i].name);
  fprintf(stream, "end_header\n");
  unsigned char *rows = (unsigned char *)malloc(row_size * PLY_ROWS);
  bool written = rows != nullptr || error_set(error, "not enough memory");
  for (size_t start = 0; written && start < all; start += PLY_ROWS) {
    size_t count = all - start < PLY_ROWS ? all - start : (size_t)PLY_ROWS;
    written = fill_rows(rows, fields, field_count, start, count, error);
    if (written && fwrite(rows, row_size, count, stream) != count)
      written = error_set(error, "%s", strerror(errno));
  }
  free(rows);
  return written;
}

bool ply_write(const gaussians_host *g, const char *path, error_line *error) {
  output_file file;
  error_line reason;
  if (g->count < 1 || g->count > GAUSSIANS_MOST || g->sh_degree < 0 || g->sh_degree > 3)
    return error_set(error,
                     "cannot write '%.200s': %d Gaussians of degree %d; there must be 1 to "
                     "%d, of degree 0 to 3",
                     path, g->count, g->sh_degree, GAUSSIANS_MOST);
  if (!output_file_open(&file, path, error)) return false;
  if (write_stream(file.stream, g, &reason)) return output_file_commit(&file, error);
  output_file_abandon(&file);
  return error_set(error, "cannot write '%.200s': %.290s", path, reason.text);
}
