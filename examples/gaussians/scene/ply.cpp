/* arc example gaussians: the .ply files of 3D Gaussian splatting.
   SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../common/program_run.h"

enum {
  PLY_HEADER_MOST = 4096, /* bytes */
  PLY_ROWS = 4096,        /* read and written at a time */
  SH_MOST = 16            /* coefficients a colour has room for */
};

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

/* ---- what a file holds ---------------------------------------------------------------------- */

enum { PLY_MOST_FIELDS = 3 + 3 + 3 * SH_MOST + 1 + 3 + 4 };

/* The floats of a row in their order, and which value of a Gaussian each one is. */
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

static void print_header(char text[PLY_HEADER_MOST], const ply_field *fields, int field_count,
                         int rows) {
  int length = sprintf(text, "ply\nformat binary_little_endian 1.0\nelement vertex %d\n", rows);
  for (int i = 0; i < field_count; ++i)
    length += sprintf(text + length, "property float %s\n", fields[i].name);
  strcpy(text + length, "end_header\n");
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Without comments. False where it does not end within the room. */
static bool read_header(FILE *stream, char text[PLY_HEADER_MOST]) {
  size_t length = 0;
  text[0] = '\0';
  while (length + 1 < PLY_HEADER_MOST) {
    char *line = text + length;
    if (fgets(line, (int)(PLY_HEADER_MOST - length), stream) == nullptr) return false;
    if (strncmp(line, "comment ", 8) == 0) continue;
    if (strcmp(line, "end_header\n") == 0) return true;
    length += strlen(line);
  }
  return false;
}

/* A layout for each degree, told by how many properties it has. Allocates what is announced. */
static bool read_layout(gaussians_host *g, FILE *stream, error_line *error) {
  char text[PLY_HEADER_MOST], wanted[PLY_HEADER_MOST];
  ply_field fields[PLY_MOST_FIELDS];
  float base[3 * SH_MOST]; /* not read; only the names of the fields are */
  struct stat status;
  int rows = 0, count = 0, degree = 0;
  bool known = read_header(stream, text);
  for (char *at = text; (at = strstr(at, "\nproperty ")) != nullptr; ++at) count += 1;
  while (degree < 3 && 14 + 3 * (degree + 1) * (degree + 1) < count) degree += 1;
  const gaussians_host layout = {0, degree, base, base, base, base, base};
  known =
      known && sscanf(text, "ply format binary_little_endian 1.0 element vertex %9d", &rows) == 1;
  print_header(wanted, fields, list_fields(fields, &layout), rows);
  if (!known || strcmp(text, wanted) != 0)
    return error_set(error,
                     "its header is not that of 3DGS: format binary_little_endian 1.0, element "
                     "vertex N, and property float x y z nx ny nz f_dc_0 to 2, none or f_rest_0 "
                     "to 8, 23 or 44, opacity, scale_0 to 2, rot_0 to 3, in this order");
  long long there = fstat(fileno(stream), &status) == 0 ? status.st_size - ftell(stream) : 0;
  if (there != 4LL * count * rows)
    return error_set(error, "%lld bytes of vertices, where %d of %d bytes each are announced",
                     there, rows, 4 * count);
  return gaussians_allocate(g, rows, degree, error);
}

/* Rows are little-endian, as every machine is that CUDA runs on. */
static bool read_rows(gaussians_host *g, FILE *stream, error_line *error) {
  ply_field fields[PLY_MOST_FIELDS];
  const size_t field_count = (size_t)list_fields(fields, g), all = (size_t)g->count;
  float *rows = (float *)malloc(sizeof(float) * field_count * PLY_ROWS);
  bool read = rows != nullptr || error_set(error, "not enough memory");
  for (size_t start = 0; read && start < all; start += PLY_ROWS) {
    size_t count = all - start < PLY_ROWS ? all - start : (size_t)PLY_ROWS;
    read = (!interrupts && fread(rows, sizeof(float) * field_count, count, stream) == count) ||
           error_set(error, "reading stopped before the last vertex");
    for (size_t i = 0; read && i < field_count * count; ++i) {
      const ply_field *f = &fields[i % field_count];
      if (f->base == nullptr) continue;
      f->base[f->stride * (start + i / field_count)] = rows[i];
      read = isfinite(rows[i]) ||
             error_set(error, "the property '%s' of vertex %zu is %g; it must be finite", f->name,
                       start + i / field_count, rows[i]);
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
  bool read =
      read_layout(g, stream, error) && read_rows(g, stream, error) && check_rotations(g, error);
  if (!read) gaussians_free(g);
  return read;
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

/* False, with the reason, for values that ply_read would refuse. */
static bool fill_rows(float *rows, const ply_field *fields, size_t field_count, size_t start,
                      size_t count, error_line *error) {
  for (size_t i = 0; i < field_count * count; ++i) {
    const ply_field *f = &fields[i % field_count];
    size_t at = start + i / field_count;
    rows[i] = f->base != nullptr ? f->base[f->stride * at] : 0.0f;
    if (!isfinite(rows[i]))
      return error_set(error, "%s of Gaussian %zu is %g; it must be finite", f->name, at, rows[i]);
  }
  return true;
}

static bool write_stream(FILE *stream, const gaussians_host *g, error_line *error) {
  char header[PLY_HEADER_MOST];
  ply_field fields[PLY_MOST_FIELDS];
  const size_t field_count = (size_t)list_fields(fields, g), all = (size_t)g->count;
  print_header(header, fields, (int)field_count, g->count);
  fputs(header, stream);
  float *rows = (float *)malloc(sizeof(float) * field_count * PLY_ROWS);
  bool written = rows != nullptr || error_set(error, "not enough memory");
  for (size_t start = 0; written && start < all; start += PLY_ROWS) {
    size_t count = all - start < PLY_ROWS ? all - start : (size_t)PLY_ROWS;
    written = fill_rows(rows, fields, field_count, start, count, error);
    if (written && fwrite(rows, sizeof(float) * field_count, count, stream) != count)
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
