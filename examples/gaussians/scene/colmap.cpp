/* arc example gaussians: reads a COLMAP model, binary or text.
   SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_DISTANCE = 1e9;
static const char LEGAL_MODELS[] = "SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL, OPENCV";

typedef struct colmap_camera {
  unsigned id;
  lens optics;
} colmap_camera;

typedef struct colmap_cameras {
  colmap_camera *items;
  int count, room;
} colmap_cameras;

/* The models that can be undone, in the order of their numbers in binary files. */
enum { COLMAP_MODELS = 5, COLMAP_MOST_PARAMETERS = 8 };
static const char *const MODEL_NAMES[COLMAP_MODELS] = {"SIMPLE_PINHOLE", "PINHOLE", "SIMPLE_RADIAL",
                                                       "RADIAL", "OPENCV"};
static const int MODEL_PARAMETERS[COLMAP_MODELS] = {3, 4, 4, 5, 8};

/* ---- what both kinds of file hold ------------------------------------------------------------ */

static bool set_lens(lens *l, int model, const double *parameter, double width, double height,
                     error_line *error) {
  if (!(width >= 1.0 && width <= IMAGE_MAX_SIDE && height >= 1.0 && height <= IMAGE_MAX_SIDE))
    return error_set(error, "a camera of %.0f x %.0f pixels; each side must be 1 to %d", width,
                     height, IMAGE_MAX_SIDE);
  memset(l, 0, sizeof *l);
  l->width = (int)width;
  l->height = (int)height;
  bool two_focals = model == 1 || model == 4;
  const double *rest = parameter + (two_focals ? 2 : 1);
  l->fx = parameter[0];
  l->fy = parameter[two_focals ? 1 : 0];
  l->cx = rest[0];
  l->cy = rest[1];
  if (model >= 2) l->k1 = rest[2];
  if (model >= 3) l->k2 = rest[3];
  if (model == 4) {
    l->p1 = rest[4];
    l->p2 = rest[5];
  }
  if (l->fx == 0.0 || l->fy == 0.0)
    return error_set(error, "a camera's focal length is 0; it must be above 0");
  return lens_check(l, error);
}

static colmap_camera *add_camera(colmap_cameras *cameras, error_line *error) {
  if (cameras->count == cameras->room) {
    int room = cameras->room ? 2 * cameras->room : 16;
    colmap_camera *larger =
        room < 1 << 24
            ? (colmap_camera *)realloc(cameras->items, (size_t)room * sizeof(colmap_camera))
            : nullptr;
    if (larger == nullptr) {
      error_set(error, "not enough memory for more than %d cameras", cameras->count);
      return nullptr;
    }
    cameras->items = larger;
    cameras->room = room;
  }
  return &cameras->items[cameras->count++];
}

static int compare_cameras(const void *a, const void *b) {
  unsigned left = ((const colmap_camera *)a)->id, right = ((const colmap_camera *)b)->id;
  return left < right ? -1 : left > right;
}

/* pose: quaternion w x y z, translation; both from the world to the camera. */
static bool add_image(photo_list *photos, const colmap_cameras *cameras, const double *pose,
                      unsigned camera_id, const char *folder, const char *name, error_line *error) {
  colmap_camera wanted;
  wanted.id = camera_id;
  const colmap_camera *found = (const colmap_camera *)bsearch(
      &wanted, cameras->items, (size_t)cameras->count, sizeof wanted, compare_cameras);
  if (found == nullptr)
    return error_set(error, "the image '%.100s' is of camera %u, which the model lacks", name,
                     camera_id);
  double length2 = 0.0;
  bool legal = true;
  for (int i = 0; i < 7; ++i) legal = legal && fabs(pose[i]) <= MOST_DISTANCE;
  for (int i = 0; i < 4; ++i) length2 += pose[i] * pose[i];
  if (!legal || !(length2 > 1e-12))
    return error_set(error,
                     "the pose of the image '%.100s' makes no sense; it must be a quaternion "
                     "of length 1 and a translation of at most %g",
                     name, MOST_DISTANCE);
  photo *p = photo_add(photos, error);
  if (p == nullptr || !photo_set_path(p, folder, name, error)) return false;
  p->optics = found->optics;
  double w = pose[0], x = pose[1], y = pose[2], z = pose[3], two = 2.0 / length2;
  const double rows[3][4] = {
      {1.0 - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y), pose[4]},
      {two * (x * y + w * z), 1.0 - two * (x * x + z * z), two * (y * z - w * x), pose[5]},
      {two * (x * z - w * y), two * (y * z + w * x), 1.0 - two * (x * x + y * y), pose[6]}};
  memcpy(p->world_to_camera, rows, sizeof rows);
  return true;
}

/* rgb: 0 to 255. The points have room for it. */
static bool add_point(scene *s, const double *position, const double *rgb, error_line *error) {
  scene_point *p = &s->points[s->point_count];
  for (int i = 0; i < 3; ++i) {
    if (!(fabs(position[i]) <= MOST_DISTANCE && rgb[i] >= 0.0 && rgb[i] <= 255.0))
      return error_set(error,
                       "the point number %d makes no sense; it must lie within %g, its "
                       "colours be 0 to 255",
                       s->point_count + 1, MOST_DISTANCE);
    p->position[i] = (float)position[i];
    p->rgb[i] = (float)(rgb[i] / 255.0);
  }
  s->point_count += 1;
  return true;
}

static bool allocate_points(scene *s, size_t count, error_line *error) {
  if (count > 0x7fffffff)
    return error_set(error, "%zu points; there may be at most %d", count, 0x7fffffff);
  if (count > 0) s->points = (scene_point *)calloc(count, sizeof(scene_point));
  if (count == 0 || s->points != nullptr) return true;
  return error_set(error, "not enough memory for %zu points", count);
}

/* ---- binary files --------------------------------------------------------------------------- */

/* Little-endian. Reading beyond the end gives 0 and sets `cut`. */
typedef struct byte_reader {
  const unsigned char *at, *end;
  bool cut;
} byte_reader;

static size_t bytes_left(const byte_reader *r) { return (size_t)(r->end - r->at); }

static const unsigned char *take_bytes(byte_reader *r, size_t count) {
  if (r->cut || bytes_left(r) < count) {
    r->cut = true;
    return nullptr;
  }
  r->at += count;
  return r->at - count;
}

static unsigned long long take_unsigned(byte_reader *r, int bytes) {
  const unsigned char *byte = take_bytes(r, (size_t)bytes);
  unsigned long long value = 0;
  for (int i = bytes - 1; byte != nullptr && i >= 0; --i) value = value << 8 | byte[i];
  return value;
}

static void take_doubles(byte_reader *r, double *values, int count) {
  for (int i = 0; i < count; ++i) {
    unsigned long long bits = take_unsigned(r, 8);
    memcpy(&values[i], &bits, 8);
  }
}

/* Skips `count` entries; a count beyond the file's end cuts it. */
static void skip_entries(byte_reader *r, unsigned long long count, size_t entry_size) {
  if (count > bytes_left(r) / entry_size) r->cut = true;
  if (!r->cut) r->at += count * entry_size;
}

static bool fail_cut(unsigned long long read, unsigned long long announced, const char *things,
                     error_line *error) {
  return error_set(error, "the file ends after %llu of %llu announced %s", read, announced, things);
}

/* The number at the head of each file, checked against what so many entries take at least. */
static bool take_count(byte_reader *r, unsigned long long *count, size_t least_size,
                       const char *things, error_line *error) {
  *count = take_unsigned(r, 8);
  if (r->cut) return error_set(error, "the file ends before the number of %s", things);
  if (*count <= bytes_left(r) / least_size) return true;
  return error_set(error, "%llu %s are announced, but only %zu bytes follow", *count, things,
                   bytes_left(r));
}

static bool read_cameras_binary(colmap_cameras *cameras, byte_reader r, error_line *error) {
  unsigned long long count;
  if (!take_count(&r, &count, 24, "cameras", error)) return false;
  for (unsigned long long i = 0; i < count; ++i) {
    double parameters[COLMAP_MOST_PARAMETERS] = {};
    unsigned id = (unsigned)take_unsigned(&r, 4);
    unsigned model = (unsigned)take_unsigned(&r, 4);
    double width = (double)take_unsigned(&r, 8), height = (double)take_unsigned(&r, 8);
    if (!r.cut && model >= COLMAP_MODELS)
      return error_set(error, "camera %u is of model number %d; the legal models are 0 to 4: %s",
                       id, (int)model, LEGAL_MODELS);
    if (!r.cut) take_doubles(&r, parameters, MODEL_PARAMETERS[model]);
    if (r.cut) return fail_cut(i, count, "cameras", error);
    colmap_camera *c = add_camera(cameras, error);
    if (c == nullptr || !set_lens(&c->optics, (int)model, parameters, width, height, error))
      return false;
    c->id = id;
  }
  return true;
}

static bool read_images_binary(photo_list *photos, const colmap_cameras *cameras,
                               const char *folder, byte_reader r, error_line *error) {
  unsigned long long count;
  if (!take_count(&r, &count, 4 + 7 * 8 + 4 + 1 + 8, "images", error)) return false;
  for (unsigned long long i = 0; i < count; ++i) {
    double pose[7] = {};
    take_unsigned(&r, 4);
    take_doubles(&r, pose, 7);
    unsigned camera_id = (unsigned)take_unsigned(&r, 4);
    const char *name = (const char *)r.at;
    while (!r.cut && take_unsigned(&r, 1) != 0) continue;
    unsigned long long seen_points = take_unsigned(&r, 8);
    skip_entries(&r, seen_points, 24);
    if (r.cut) return fail_cut(i, count, "images", error);
    if (!add_image(photos, cameras, pose, camera_id, folder, name, error)) return false;
  }
  return true;
}

static bool read_points_binary(scene *s, byte_reader r, error_line *error) {
  unsigned long long count;
  if (!take_count(&r, &count, 8 + 3 * 8 + 3 + 8 + 8, "points", error)) return false;
  if (!allocate_points(s, (size_t)count, error)) return false;
  for (unsigned long long i = 0; i < count; ++i) {
    double position[3], rgb[3], reprojection_error;
    take_unsigned(&r, 8);
    take_doubles(&r, position, 3);
    for (int k = 0; k < 3; ++k) rgb[k] = (double)take_unsigned(&r, 1);
    take_doubles(&r, &reprojection_error, 1);
    unsigned long long track = take_unsigned(&r, 8);
    skip_entries(&r, track, 8);
    if (r.cut) return fail_cut(i, count, "points", error);
    if (!add_point(s, position, rgb, error)) return false;
  }
  return true;
}

/* ---- text files ----------------------------------------------------------------------------- */

/* Lines of a file whose newlines become zeros on the way. */
typedef struct line_reader {
  char *at, *end;
  int line; /* the number of the line last taken, from 1 */
} line_reader;

/* Null at the end of the file. */
static char *take_line(line_reader *r) {
  if (r->at >= r->end) return nullptr;
  char *taken = r->at;
  char *newline = (char *)memchr(r->at, '\n', (size_t)(r->end - r->at));
  char *stop = newline != nullptr ? newline : r->end;
  r->at = newline != nullptr ? newline + 1 : r->end;
  r->line += 1;
  if (stop > taken && stop[-1] == '\r') --stop;
  *stop = '\0';
  return taken;
}

/* The next line that is neither blank nor a comment. */
static char *take_entry(line_reader *r) {
  for (char *taken; (taken = take_line(r)) != nullptr;) {
    taken += strspn(taken, " \t");
    if (*taken != '\0' && *taken != '#') return taken;
  }
  return nullptr;
}

/* How many of the wanted numbers stand at *at; moves behind them. */
static int take_numbers(char **at, double *values, int wanted) {
  for (int i = 0; i < wanted; ++i) {
    char *end;
    values[i] = strtod(*at, &end);
    if (end == *at || (*end != '\0' && *end != ' ' && *end != '\t')) return i;
    *at = end + strspn(end, " \t");
  }
  return wanted;
}

static bool is_id(double value) { return value >= 0.0 && value < 4294967296.0; }

static bool read_cameras_text(colmap_cameras *cameras, line_reader r, error_line *error) {
  for (char *at; (at = take_entry(&r)) != nullptr;) {
    double id, size[2], parameters[COLMAP_MOST_PARAMETERS] = {};
    error_line reason;
    bool legal = take_numbers(&at, &id, 1) == 1 && is_id(id);
    char *name = at;
    size_t length = strcspn(at, " \t");
    at += length;
    at += strspn(at, " \t");
    int model = 0;
    while (model < COLMAP_MODELS &&
           (strlen(MODEL_NAMES[model]) != length || memcmp(MODEL_NAMES[model], name, length) != 0))
      ++model;
    if (legal && length > 0 && model == COLMAP_MODELS)
      return error_set(error, "line %d: a camera of model '%.*s'; the legal models are: %s", r.line,
                       length < 40 ? (int)length : 40, name, LEGAL_MODELS);
    legal = legal && length > 0 && take_numbers(&at, size, 2) == 2;
    if (!legal || take_numbers(&at, parameters, MODEL_PARAMETERS[model]) < MODEL_PARAMETERS[model])
      return error_set(error,
                       "line %d: a camera must be: CAMERA_ID MODEL WIDTH HEIGHT and the "
                       "numbers of the model",
                       r.line);
    colmap_camera *c = add_camera(cameras, error);
    if (c == nullptr) return false;
    if (!set_lens(&c->optics, model, parameters, size[0], size[1], &reason))
      return error_set(error, "line %d: %.400s", r.line, reason.text);
    c->id = (unsigned)id;
  }
  return true;
}

/* Two lines an image; the second, of the points it sees, may be empty and is skipped. */
static bool read_images_text(photo_list *photos, const colmap_cameras *cameras, const char *folder,
                             line_reader r, error_line *error) {
  for (char *at; (at = take_entry(&r)) != nullptr; take_line(&r)) {
    double values[9] = {}; /* id, quaternion, translation, camera */
    error_line reason;
    if (take_numbers(&at, values, 9) < 9 || !is_id(values[8]) || *at == '\0')
      return error_set(error,
                       "line %d: an image must be: IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID "
                       "NAME",
                       r.line);
    if (!add_image(photos, cameras, values + 1, (unsigned)values[8], folder, at, &reason))
      return error_set(error, "line %d: %.400s", r.line, reason.text);
  }
  return true;
}

static bool read_points_text(scene *s, line_reader r, error_line *error) {
  size_t most = 1;
  for (char *at = r.at; at < r.end; ++at) most += *at == '\n';
  if (!allocate_points(s, most, error)) return false;
  for (char *at; (at = take_entry(&r)) != nullptr;) {
    double values[7] = {}; /* id, position, colour */
    error_line reason;
    if (take_numbers(&at, values, 7) < 7)
      return error_set(error, "line %d: a point must be: POINT3D_ID X Y Z R G B ...", r.line);
    if (!add_point(s, values + 1, values + 4, &reason))
      return error_set(error, "line %d: %.400s", r.line, reason.text);
  }
  return true;
}

/* ---- the model ------------------------------------------------------------------------------ */

typedef struct colmap_reading {
  scene *s;
  photo_list *photos;
  colmap_cameras cameras;
  char pictures[1024]; /* folder */
} colmap_reading;

typedef enum colmap_part { COLMAP_CAMERAS = 1, COLMAP_IMAGES, COLMAP_POINTS } colmap_part;

static bool parse_binary(colmap_reading *c, colmap_part part, const file_bytes *file,
                         error_line *error) {
  const unsigned char *bytes = (const unsigned char *)file->bytes;
  byte_reader reader = {bytes, bytes + file->size, false};
  if (part == COLMAP_CAMERAS) return read_cameras_binary(&c->cameras, reader, error);
  if (part == COLMAP_POINTS) return read_points_binary(c->s, reader, error);
  return read_images_binary(c->photos, &c->cameras, c->pictures, reader, error);
}

static bool parse_text(colmap_reading *c, colmap_part part, const file_bytes *file,
                       error_line *error) {
  line_reader reader = {file->bytes, file->bytes + file->size, 0};
  if (part == COLMAP_CAMERAS) return read_cameras_text(&c->cameras, reader, error);
  if (part == COLMAP_POINTS) return read_points_text(c->s, reader, error);
  return read_images_text(c->photos, &c->cameras, c->pictures, reader, error);
}

static bool read_part(colmap_reading *c, colmap_part part, const char *model, bool binary,
                      error_line *error) {
  static const char *const names[] = {"", "cameras", "images", "points3D"};
  char path[1100];
  file_bytes file;
  error_line reason;
  snprintf(path, sizeof path, "%s/%s%s", model, names[part], binary ? ".bin" : ".txt");
  if (part == COLMAP_POINTS && !path_is_file(path)) return true;
  if (!file_load(&file, path, error)) return false;
  bool read = binary ? parse_binary(c, part, &file, &reason) : parse_text(c, part, &file, &reason);
  free(file.bytes);
  if (read && part == COLMAP_CAMERAS && c->cameras.count == 0)
    read = error_set(&reason, "the model has no cameras; there must be at least one");
  if (read && part == COLMAP_IMAGES && c->photos->count == 0)
    read = error_set(&reason, "the model has no images; there must be at least one");
  return read || error_set(error, "cannot read '%.200s': %.290s", path, reason.text);
}

/* The folder of the model, binary before text; false where there is none. */
static bool find_model(const char *folder, char *model, size_t size, bool *binary) {
  static const char *const places[3] = {"", "/sparse", "/sparse/0"};
  for (int i = 0; i < 6; ++i) {
    char path[1100];
    *binary = i % 2 == 0;
    snprintf(model, size, "%s%s", folder, places[i / 2]);
    snprintf(path, sizeof path, "%s/cameras%s", model, *binary ? ".bin" : ".txt");
    if (path_is_file(path)) return true;
  }
  return false;
}

bool colmap_is_in(const char *folder) {
  char model[1024];
  bool binary;
  return find_model(folder, model, sizeof model, &binary);
}

bool colmap_read(scene *s, photo_list *photos, const char *folder, error_line *error) {
  colmap_reading c = {s, photos, {}, ""};
  char model[1024];
  bool binary;
  find_model(folder, model, sizeof model, &binary);
  snprintf(c.pictures, sizeof c.pictures, "%s/images", folder);
  if (!path_is_folder(c.pictures))
    return error_set(error, "'%.200s' is no folder; it must hold the pictures of the model",
                     c.pictures);
  bool read = read_part(&c, COLMAP_CAMERAS, model, binary, error);
  if (read) {
    qsort(c.cameras.items, (size_t)c.cameras.count, sizeof(colmap_camera), compare_cameras);
    read = read_part(&c, COLMAP_IMAGES, model, binary, error) &&
           read_part(&c, COLMAP_POINTS, model, binary, error);
  }
  free(c.cameras.items);
  return read;
}
