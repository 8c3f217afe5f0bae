/* arc study gaussians: the .ply files of 3D Gaussian splatting.
   SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include <string>

#include "../../../bench/common/program_run.h"

enum {
  PLY_HEADER_MOST = 4096, /* bytes */
  SH_MOST = 16            /* coefficients a colour has room for */
};

/* ---- Gaussians ------------------------------------------------------------------------------ */

bool gaussians_allocate(gaussians_host *g, int count, int sh_degree, error_line *error) {
  if (count < 1 || count > GAUSSIANS_MOST)
    return error_set(error, "%d Gaussians; there must be 1 to %d", count, GAUSSIANS_MOST);
  if (sh_degree < 0 || sh_degree > 3)
    return error_set(error, "spherical harmonics of degree %d; it must be 0 to 3", sh_degree);
  const size_t n = (size_t)count;
  const auto zeros = [](size_t values) { return std::vector<float>(values); };
  *g = {count,        sh_degree, zeros(n * 3),          zeros(n * 3),
        zeros(n * 4), zeros(n),  zeros(n * SH_MOST * 3)};
  return true;
}

/* ---- what a file holds ---------------------------------------------------------------------- */

/* The floats of a row in their order, and which value of a Gaussian each one is. */
typedef struct ply_field {
  std::string name;
  std::vector<float> gaussians_host::*array; /* null: written as 0, not read */
  size_t first, stride;
} ply_field;

/* f_rest goes through all coefficients of red but the first, then green, then blue. */
static std::vector<ply_field> list_fields(int sh_degree) {
  static const char *const axes[] = {"x", "y", "z"}, *const normals[] = {"nx", "ny", "nz"};
  const size_t coefficients = (size_t)(sh_degree + 1) * (size_t)(sh_degree + 1);
  std::vector<ply_field> fields;
  for (size_t i = 0; i < 3; ++i) fields.push_back({axes[i], &gaussians_host::position, i, 3});
  for (const char *name : normals) fields.push_back({name, nullptr, 0, 0});
  const auto add = [&](const char *name, size_t number, std::vector<float> gaussians_host::*array,
                       size_t first, size_t stride) {
    fields.push_back({name + std::to_string(number), array, first, stride});
  };
  for (size_t i = 0; i < 3; ++i) add("f_dc_", i, &gaussians_host::sh, i, 3 * SH_MOST);
  for (size_t channel = 0, i = 0; channel < 3; ++channel)
    for (size_t k = 1; k < coefficients; ++k)
      add("f_rest_", i++, &gaussians_host::sh, 3 * k + channel, 3 * SH_MOST);
  fields.push_back({"opacity", &gaussians_host::opacity, 0, 1});
  for (size_t i = 0; i < 3; ++i) add("scale_", i, &gaussians_host::scale, i, 3);
  for (size_t i = 0; i < 4; ++i) add("rot_", i, &gaussians_host::rotation, i, 4);
  return fields;
}

static std::string header_of(const std::vector<ply_field> &fields, int rows) {
  std::string text = "ply\nformat binary_little_endian 1.0\nelement vertex ";
  text += std::to_string(rows) + "\n";
  for (const ply_field &f : fields) text += "property float " + f.name + "\n";
  return text + "end_header\n";
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Without comments. False where it does not end within the room. */
static bool read_header(FILE *stream, std::string *text) {
  char line[PLY_HEADER_MOST];
  while (text->size() < PLY_HEADER_MOST && fgets(line, sizeof line, stream) != nullptr) {
    if (strncmp(line, "comment ", 8) != 0) *text += line;
    if (strcmp(line, "end_header\n") == 0) return true;
  }
  return false;
}

/* A layout for each degree, told by how many properties it has. Allocates what is announced. */
static bool read_layout(gaussians_host *g, FILE *stream, error_line *error) {
  std::string text;
  struct stat status;
  int rows = 0, count = 0, degree = 0;
  bool known = read_header(stream, &text);
  for (size_t at = 0; (at = text.find("\nproperty ", at)) != std::string::npos; ++at) count += 1;
  while (degree < 3 && 14 + 3 * (degree + 1) * (degree + 1) < count) degree += 1;
  known = known && sscanf(text.c_str(), "ply format binary_little_endian 1.0 element vertex %9d",
                          &rows) == 1;
  if (!known || text != header_of(list_fields(degree), rows))
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
  const std::vector<ply_field> fields = list_fields(g->sh_degree);
  std::vector<float> row(fields.size());
  for (size_t i = 0; i < (size_t)g->count; ++i) {
    if (interrupts || fread(row.data(), sizeof(float), row.size(), stream) != row.size())
      return error_set(error, "reading stopped before the last vertex");
    for (size_t k = 0; k < row.size(); ++k) {
      const ply_field &f = fields[k];
      if (f.array == nullptr) continue;
      if (!isfinite(row[k]))
        return error_set(error, "the property '%s' of vertex %zu is %g; it must be finite",
                         f.name.c_str(), i, row[k]);
      (g->*f.array)[f.stride * i + f.first] = row[k];
    }
  }
  return true;
}

static bool check_rotations(const gaussians_host *g, error_line *error) {
  for (int i = 0; i < g->count; ++i) {
    const float *q = &g->rotation[4 * (size_t)i];
    if (q[0] == 0.0f && q[1] == 0.0f && q[2] == 0.0f && q[3] == 0.0f)
      return error_set(error, "the rotation of vertex %d is 0 0 0 0; it must be a quaternion", i);
  }
  return true;
}

bool ply_read(gaussians_host *g, const char *path, error_line *error) {
  error_line reason;
  FILE *stream = fopen(path, "rb");
  if (stream == nullptr) return error_set(error, "cannot read '%.300s': %s", path, strerror(errno));
  bool read = read_layout(g, stream, &reason) && read_rows(g, stream, &reason) &&
              check_rotations(g, &reason);
  fclose(stream);
  return read || error_set(error, "cannot read '%.200s': %.290s", path, reason.text);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* False, with the reason, for values that ply_read would refuse. */
static bool write_stream(FILE *stream, const gaussians_host *g, error_line *error) {
  const std::vector<ply_field> fields = list_fields(g->sh_degree);
  std::vector<float> row(fields.size()); /* the normal stays 0 */
  fputs(header_of(fields, g->count).c_str(), stream);
  for (size_t i = 0; i < (size_t)g->count; ++i) {
    for (size_t k = 0; k < row.size(); ++k) {
      const ply_field &f = fields[k];
      if (f.array != nullptr) row[k] = (g->*f.array)[f.stride * i + f.first];
      if (!isfinite(row[k]))
        return error_set(error, "%s of Gaussian %zu is %g; it must be finite", f.name.c_str(), i,
                         row[k]);
    }
    if (fwrite(row.data(), sizeof(float), row.size(), stream) != row.size())
      return error_set(error, "%s", strerror(errno));
  }
  return true;
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
