/* arc study gaussians: reads the folder of a scene, as convert.py makes it.
   SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../bench/common/program_run.h"

/* ---- tables --------------------------------------------------------------------------------- */

/* A text file: its first line is `things` and a number, and as many lines follow, an item each.
   Lines that begin with # are not counted. */
template <typename item>
struct table {
  const char *things;
  int most;                               /* items */
  bool (*take)(item *, const char *text); /* false where the text is not as `wanted` says */
  const char *wanted;
};

/* Without its end. False at the end of the file, and for a line that is too long or has no end. */
static bool next_line(FILE *stream, char text[1024], int *line) {
  do {
    *line += 1;
    if (fgets(text, 1024, stream) == nullptr) return false;
    size_t length = strcspn(text, "\r\n");
    if (strcmp(text + length, "\n") != 0 && strcmp(text + length, "\r\n") != 0) return false;
    text[length] = '\0';
  } while (text[0] == '#');
  return true;
}

/* Where the text goes on behind so many numbers, each of a magnitude of at most 1e9; null where they
   are not there. */
static const char *take_numbers(const char *at, double *numbers, int count) {
  for (int i = 0; i < count; ++i) {
    char *end;
    numbers[i] = strtod(at, &end);
    if (end == at || !(fabs(numbers[i]) <= 1e9) || (*end != '\0' && *end != ' ')) return nullptr;
    at = end + strspn(end, " ");
  }
  return at;
}

template <typename item>
static bool read_lines(const table<item> *t, FILE *stream, std::vector<item> *items,
                       error_line *error) {
  char text[1024], more;
  int line = 0, announced = 0;
  size_t length = strlen(t->things);
  if (!next_line(stream, text, &line) || strncmp(text, t->things, length) != 0 ||
      sscanf(text + length, " %9d%c", &announced, &more) != 1 || announced < 1 ||
      announced > t->most)
    return error_set(error, "line %d must be '%s N', N from 1 to %d", line, t->things, t->most);
  items->resize((size_t)announced);
  for (int i = 0; i < announced; ++i) {
    if (interrupts) return error_set(error, "interrupted before line %d", line);
    if (!next_line(stream, text, &line) || !t->take(&(*items)[(size_t)i], text))
      return error_set(error, "line %d, number %d of %d %s, must be %s", line, i + 1, announced,
                       t->things, t->wanted);
  }
  return fgetc(stream) == EOF ||
         error_set(error, "there is more after the %d %s that its first line announces", announced,
                   t->things);
}

template <typename item>
static bool read_table(const table<item> *t, const char *path, std::vector<item> *items,
                       error_line *error) {
  error_line reason;
  FILE *stream = text_open(path);
  if (stream == nullptr)
    return error_set(error, "cannot read '%.300s': %s; convert.py makes the folder of a scene",
                     path, strerror(errno));
  bool read = read_lines(t, stream, items, &reason);
  fclose(stream);
  return read || error_set(error, "cannot read '%.200s': %.290s", path, reason.text);
}

/* ---- cameras and points --------------------------------------------------------------------- */

/* Rows of length 1 at right angles, the third the cross product of the others; so far as digits that
   were rounded allow it. */
static bool is_rotation(const double m[3][4]) {
  const double TOLERANCE = 1e-3;
  double off = 0.0, squares[2] = {0.0, 0.0}, dot = 0.0;
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    off = fmax(off, fabs(m[0][i] * m[1][j] - m[0][j] * m[1][i] - m[2][k]));
    for (int row = 0; row < 2; ++row) squares[row] += m[row][k] * m[row][k];
    dot += m[0][k] * m[1][k];
  }
  return off <= TOLERANCE && fabs(dot) <= TOLERANCE && fabs(squares[0] - 1.0) <= TOLERANCE &&
         fabs(squares[1] - 1.0) <= TOLERANCE;
}

static bool take_camera(view *v, const char *text) {
  camera *c = &v->camera;
  double n[18]; /* width height fx fy cx cy, pose */
  const double(*m)[4] = (const double(*)[4])(n + 6);
  const char *name = take_numbers(text, n, 18);
  if (name == nullptr || *name == '\0' || strchr(name, '/') || strlen(name) >= sizeof v->name)
    return false;
  for (int i = 0; i < 2; ++i)
    if (!(n[i] >= 1.0 && n[i] <= IMAGE_MAX_SIDE && n[i] == floor(n[i])) ||
        !(n[2 + i] >= 0.01 && n[2 + i] <= 1e6) || !(fabs(n[4 + i]) <= 1e6))
      return false;
  strcpy(v->name, name);
  v->picture = {(int)n[0], (int)n[1], {}};
  *c = {(int)n[0], (int)n[1], (float)n[2], (float)n[3], (float)n[4], (float)n[5], {}, {}};
  for (int row = 0; row < 3; ++row) {
    for (int k = 0; k < 4; ++k) c->world_to_camera[row][k] = (float)m[row][k];
    c->position[row] = (float)-(m[0][row] * m[0][3] + m[1][row] * m[1][3] + m[2][row] * m[2][3]);
  }
  return is_rotation(m);
}

static bool take_point(scene_point *p, const char *text) {
  double n[6];
  const char *end = take_numbers(text, n, 6);
  if (end == nullptr || *end != '\0') return false;
  for (int k = 0; k < 3; ++k) {
    if (!(n[3 + k] >= 0.0 && n[3 + k] <= 255.0)) return false;
    p->position[k] = (float)n[k];
    p->rgb[k] = (float)(n[3 + k] / 255.0);
  }
  return true;
}

static const table<view> CAMERAS = {
    "cameras", 1000000, take_camera,
    "width and height (1 to 16384), fx fy (0.01 to 1e6) cx cy (up to 1e6), from the world to the "
    "camera a rotation and a translation (3 rows of 4), a picture's name (127 bytes, no /)"};

static const table<scene_point> POINTS = {"points", GAUSSIANS_MOST, take_point,
                                          "x y z (up to 1e9) and red green blue (0 to 255)"};

/* ---- pictures ------------------------------------------------------------------------------- */

static bool read_picture(view *v, const char *folder, error_line *error) {
  char path[4096];
  snprintf(path, sizeof path, "%s/images/%s", folder, v->name);
  if (!image_read(&v->picture, path, error)) return false;
  return (v->picture.width == v->camera.width && v->picture.height == v->camera.height) ||
         error_set(error, "'%.300s' has %d x %d pixels, its camera %d x %d", path, v->picture.width,
                   v->picture.height, v->camera.width, v->camera.height);
}

static bool read_pictures(scene *s, const char *folder, error_line *error) {
  const int views = (int)s->views.size();
  std::vector<error_line> errors(s->views.size()); /* empty where a picture was read */
  int done = parallel_for(views, "loading    pictures",
                          [&](int i) { return read_picture(&s->views[i], folder, &errors[i]); });
  if (done == views) return true;
  for (const error_line &first : errors)
    if (first.text[0] != '\0') return error_set(error, "%s", first.text);
  return error_set(error, "interrupted after %d of %d pictures", done, views);
}

/* ---- scenes --------------------------------------------------------------------------------- */

static void keep_spread(scene *s, int most) {
  const size_t views = s->views.size(), kept = (size_t)most;
  if (most == 0 || views <= kept) return;
  for (size_t i = 0; i < kept; ++i) s->views[i] = s->views[i * views / kept];
  s->views.resize(kept);
}

bool scene_read(scene *s, const scene_options *o, error_line *error) {
  char cameras[4096], points[4096];
  struct stat status;
  *s = {};
  bool list = o->cameras_only && stat(o->path, &status) == 0 && S_ISREG(status.st_mode);
  snprintf(cameras, sizeof cameras, "%s%s", o->path, list ? "" : "/cameras.txt");
  snprintf(points, sizeof points, "%s/points.txt", o->path);
  if (!read_table(&CAMERAS, cameras, &s->views, error)) return false;
  if (access(points, F_OK) == 0 && !read_table(&POINTS, points, &s->points, error)) return false;
  keep_spread(s, o->most_views);
  if (!o->cameras_only && !read_pictures(s, o->path, error)) return false;
  scene_split(s, o->hold_out);
  scene_measure(s);
  return true;
}

void scene_split(scene *s, int hold_out) {
  for (int i = 0; i < (int)s->views.size(); ++i)
    s->views[i].held_out = hold_out > 0 && i % hold_out == 0;
}

void scene_blacken(scene *s) {
  for (view &v : s->views) v.picture = image_of(v.camera.width, v.camera.height);
}
