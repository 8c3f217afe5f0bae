/* arc study gaussians: the .ply files of 3D Gaussian splatting.
   SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "../../../bench/common/program_run.h"

enum {
  PLY_HEADER_MOST = 1 << 20,  /* bytes */
  PLY_ROWS_MOST = 2147483647, /* of an element */
  SH_MOST = 16                /* coefficients a colour has room for */
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

/* ---- reading: the header -------------------------------------------------------------------- */

typedef struct ply_type {
  const char *names[2];
  size_t bytes;
  double (*value)(const char *); /* little-endian, as every machine is that CUDA runs on */
} ply_type;

template <typename type>
static double value_as(const char *at) {
  type value;
  memcpy(&value, at, sizeof value);
  return (double)value;
}

static const ply_type TYPES[] = {
    {{"char", "int8"}, 1, value_as<int8_t>},    {{"uchar", "uint8"}, 1, value_as<uint8_t>},
    {{"short", "int16"}, 2, value_as<int16_t>}, {{"ushort", "uint16"}, 2, value_as<uint16_t>},
    {{"int", "int32"}, 4, value_as<int32_t>},   {{"uint", "uint32"}, 4, value_as<uint32_t>},
    {{"float", "float32"}, 4, value_as<float>}, {{"double", "float64"}, 8, value_as<double>}};

typedef struct ply_property {
  std::string name;
  const ply_type *type;
  size_t offset; /* in its row */
} ply_property;

typedef struct ply_header {
  FILE *stream;
  int line_end, line;             /* the file's own end of a line; lines so far */
  size_t bytes;                   /* so far */
  std::string text;               /* of the line */
  std::vector<std::string> words; /* of the line */
  bool format;                    /* has been named */
  int elements;                   /* so far */
  bool in_vertex, lists;          /* the last element is `vertex`; it or one before it has lists */
  long long count, before;        /* of the last element; bytes of those before `vertex` */
  long long vertices, behind;     /* how many; elements behind them */
  size_t row;                     /* bytes of the last element's rows, then of a vertex */
  std::vector<ply_property> properties; /* of `vertex` */
} ply_header;

static const ply_type *find_type(const std::string &name) {
  for (const ply_type &type : TYPES)
    if (name == type.names[0] || name == type.names[1]) return &type;
  return nullptr;
}

/* The next line's words. The first line tells how lines end. False where the header has no end. */
static bool next_words(ply_header *h) {
  int c = EOF;
  h->text.clear();
  h->words.clear();
  h->line += 1;
  while (h->bytes++ < PLY_HEADER_MOST && (c = getc(h->stream)) != EOF && c != h->line_end &&
         (h->line > 1 || c != '\r'))
    h->text += (char)c;
  if (c == '\r' && h->line == 1) {
    const int next = getc(h->stream);
    if (next != '\n') ungetc(next, h->stream), h->line_end = '\r';
  }
  for (size_t at = 0, end; (at = h->text.find_first_not_of(" \t\r", at)) != h->text.npos;
       at = end) {
    end = std::min(h->text.find_first_of(" \t\r", at), h->text.size());
    h->words.push_back(h->text.substr(at, end - at));
  }
  return c == h->line_end || c == '\r';
}

static bool take_element(ply_header *h) {
  if (h->words.size() != 3 || !h->format) return false;
  char *end;
  if (h->elements > 0 && h->vertices < 0) h->before += h->count * (long long)h->row;
  const char *count = h->words[2].c_str();
  errno = 0;
  h->count = strtoll(count, &end, 10);
  if (end == count || *end != '\0' || errno != 0 || h->count < 0 || h->count > PLY_ROWS_MOST)
    return false;
  h->elements += 1;
  h->in_vertex = h->words[1] == "vertex";
  if (h->in_vertex && h->vertices >= 0) return false;
  if (h->in_vertex) h->vertices = h->count;
  h->behind += !h->in_vertex && h->vertices >= 0;
  if (h->behind == 0) h->row = 0;
  return true;
}

static bool take_property(ply_header *h) {
  const bool list = h->words.size() == 5 && h->words[1] == "list";
  const ply_type *type = h->words.size() > 2 ? find_type(h->words[list ? 3 : 1]) : nullptr;
  if (type == nullptr || h->elements == 0 || (!list && h->words.size() != 3)) return false;
  if (list && find_type(h->words[2]) == nullptr) return false;
  if (h->behind > 0) return true;
  h->lists = h->lists || list;
  if (h->in_vertex) h->properties.push_back({h->words.back(), type, h->row});
  h->row += type->bytes;
  return true;
}

/* False where the line is not one of a header. */
static bool take_words(ply_header *h) {
  const std::string &first = h->words[0];
  if (first == "comment" || first == "obj_info") return true;
  if (first == "element") return take_element(h);
  if (first == "property") return take_property(h);
  if (first != "format" || h->format || h->words.size() != 3) return false;
  return h->format = h->words[1] == "binary_little_endian" && h->words[2] == "1.0";
}

static bool read_header(ply_header *h, error_line *error) {
  bool ended = !next_words(h) || h->words.size() != 1 || h->words[0] != "ply";
  if (ended) return error_set(error, "it does not begin with a line 'ply'");
  while (next_words(h)) {
    if (h->words.empty()) continue;
    if (h->words[0] == "end_header" && h->words.size() == 1) {
      if (h->vertices < 0) return error_set(error, "its header has no element vertex");
      return !h->lists || error_set(error,
                                    "a list of properties in or before its element vertex; "
                                    "each property must be of one number");
    }
    if (!take_words(h))
      return error_set(error,
                       "line %d of its header is '%.80s'; it must be 'format binary_little_endian "
                       "1.0', then 'element NAME COUNT' and 'property TYPE NAME', a comment or "
                       "obj_info",
                       h->line, h->text.c_str());
  }
  return error_set(error, "its header has no end_header within %d bytes", PLY_HEADER_MOST);
}

/* ---- reading: the rows ---------------------------------------------------------------------- */

/* Which property each field is, of those that are read; all that are missing are named. */
static bool find_properties(const ply_header *h, std::vector<ply_field> *fields,
                            std::vector<ply_property> *found, int *degree, error_line *error) {
  std::string missing;
  int rest = 0;
  for (const ply_property &p : h->properties) rest += p.name.compare(0, 7, "f_rest_") == 0;
  for (*degree = 0; *degree < 3 && 3 * (*degree * (*degree + 2)) < rest;) *degree += 1;
  if (3 * (*degree * (*degree + 2)) != rest)
    return error_set(error, "it has %d properties f_rest_; there must be 0, 9, 24 or 45", rest);
  for (const ply_field &f : list_fields(*degree)) {
    if (f.array == nullptr) continue;
    size_t times = 0;
    for (const ply_property &p : h->properties) {
      if (p.name != f.name) continue;
      if (times++ == 0) fields->push_back(f), found->push_back(p);
    }
    if (times > 1) return error_set(error, "it has the property %s twice", f.name.c_str());
    if (times == 0) missing += " " + f.name;
  }
  return missing.empty() ||
         error_set(error, "its element vertex lacks the properties%s", missing.c_str());
}

static bool read_rows(gaussians_host *g, const ply_header *h, const std::vector<ply_field> &fields,
                      const std::vector<ply_property> &found, error_line *error) {
  std::vector<char> row(h->row);
  for (size_t i = 0; i < (size_t)g->count; ++i) {
    if (interrupts || fread(row.data(), 1, row.size(), h->stream) != row.size())
      return error_set(error, "reading stopped before the last vertex");
    for (size_t k = 0; k < found.size(); ++k) {
      const ply_field &f = fields[k];
      double value = found[k].type->value(&row[found[k].offset]);
      if (f.array == &gaussians_host::opacity) /* a logit: an infinite one is 0 or 1 */
        value = std::clamp(value, -(double)FLT_MAX, (double)FLT_MAX);
      if (!(fabs(value) <= FLT_MAX))
        return error_set(error, "the property '%s' of vertex %zu is %g; it must be finite",
                         f.name.c_str(), i, value);
      (g->*f.array)[f.stride * i + f.first] = (float)value;
    }
  }
  return true;
}

/* Allocates what is announced, once it is known to be there. */
static bool read_vertices(gaussians_host *g, FILE *stream, error_line *error) {
  ply_header h = {};
  std::vector<ply_field> fields;
  std::vector<ply_property> found;
  struct stat status;
  int degree = 0;
  h.stream = stream, h.line_end = '\n', h.vertices = -1;
  if (!read_header(&h, error) || !find_properties(&h, &fields, &found, &degree, error))
    return false;
  const long long there =
      fstat(fileno(stream), &status) == 0 ? status.st_size - ftell(stream) - h.before : 0;
  const long long wanted = h.vertices * (long long)h.row;
  if (h.behind > 0 ? there < wanted : there != wanted)
    return error_set(error, "%lld bytes of vertices, where %lld of %zu bytes each are announced",
                     there, h.vertices, h.row);
  return gaussians_allocate(g, (int)h.vertices, degree, error) &&
         (fseek(stream, h.before, SEEK_CUR) == 0 || error_set(error, "%s", strerror(errno))) &&
         read_rows(g, &h, fields, found, error);
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
  bool read = read_vertices(g, stream, &reason) && check_rotations(g, &reason);
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
