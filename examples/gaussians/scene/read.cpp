/* arc example gaussians: from a path to views with pictures.
   SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "parallel.h"

/* ---- files ---------------------------------------------------------------------------------- */

bool path_is_file(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool path_is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool file_load(file_bytes *file, const char *path, error_line *error) {
  struct stat status;
  file->bytes = nullptr;
  FILE *stream = fopen(path, "rb");
  if (stream == nullptr || fstat(fileno(stream), &status) != 0) {
    error_set(error, "cannot read '%.300s': %s", path, strerror(errno));
    if (stream != nullptr) fclose(stream);
    return false;
  }
  file->size = (size_t)status.st_size;
  if (S_ISREG(status.st_mode)) file->bytes = (char *)malloc(file->size + 1);
  bool read = file->bytes != nullptr && fread(file->bytes, 1, file->size, stream) == file->size;
  fclose(stream);
  if (read) {
    file->bytes[file->size] = '\0';
    return true;
  }
  if (!S_ISREG(status.st_mode))
    return error_set(error, "cannot read '%.300s': not a plain file", path);
  bool memory = file->bytes != nullptr;
  free(file->bytes);
  return error_set(error, "cannot read '%.300s': %s", path,
                   memory ? "reading stopped before its end" : "not enough memory");
}

/* ---- photos --------------------------------------------------------------------------------- */

photo *photo_add(photo_list *list, error_line *error) {
  if (list->count == list->room) {
    int room = list->room ? 2 * list->room : 64;
    photo *larger =
        room < 1 << 24 ? (photo *)realloc(list->items, (size_t)room * sizeof(photo)) : nullptr;
    if (larger == nullptr) {
      error_set(error, "not enough memory for more than %d frames", list->count);
      return nullptr;
    }
    list->items = larger;
    list->room = room;
  }
  photo *added = &list->items[list->count++];
  memset(added, 0, sizeof *added);
  return added;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool photo_set_path(photo *p, const char *folder, const char *name, error_line *error) {
  if (base_name(name)[0] == '\0')
    return error_set(error, "'%.200s' does not name a picture file", name);
  if (strlen(base_name(name)) >= sizeof((view *)nullptr)->name)
    return error_set(error, "the picture's name '%.200s' is too long; it may have %d bytes", name,
                     (int)sizeof((view *)nullptr)->name - 1);
  int length = name[0] == '/' ? snprintf(p->path, sizeof p->path, "%s", name)
                              : snprintf(p->path, sizeof p->path, "%s/%s", folder, name);
  if (length < (int)sizeof p->path) return true;
  return error_set(error, "the path of '%.200s' is too long; it may have %d bytes", name,
                   (int)sizeof p->path - 1);
}

static bool check_focal(double focal, double angle, const char *axis, error_line *error) {
  static const double LEAST = 0.01, MOST = 1e6, LEAST_ANGLE = 0.001, MOST_ANGLE = 3.1;
  if (focal != 0.0 && !(focal >= LEAST && focal <= MOST))
    return error_set(error, "the focal length in %s is %g pixels; it must be %g to %g", axis, focal,
                     LEAST, MOST);
  if (focal == 0.0 && !(angle >= LEAST_ANGLE && angle <= MOST_ANGLE))
    return error_set(error, "the angle of view in %s is %g; it must be %g to %g radians", axis,
                     angle, LEAST_ANGLE, MOST_ANGLE);
  return true;
}

bool lens_check(const lens *l, error_line *error) {
  static const double MOST_PIXELS = 1e6, MOST_DISTORTION = 1e6;
  if ((l->width != 0 || l->height != 0) &&
      (l->width < 1 || l->height < 1 || l->width > IMAGE_MAX_SIDE || l->height > IMAGE_MAX_SIDE))
    return error_set(error, "a picture of %d x %d pixels; each side must be 1 to %d", l->width,
                     l->height, IMAGE_MAX_SIDE);
  if (!check_focal(l->fx, l->angle_x, "x", error)) return false;
  if ((l->fy != 0.0 || l->angle_y != 0.0) && !check_focal(l->fy, l->angle_y, "y", error))
    return false;
  if (!(fabs(l->cx) <= MOST_PIXELS && fabs(l->cy) <= MOST_PIXELS))
    return error_set(error, "the principal point is %g, %g; neither may be beyond %g pixels", l->cx,
                     l->cy, MOST_PIXELS);
  const double distortion[4] = {l->k1, l->k2, l->p1, l->p2};
  for (int i = 0; i < 4; ++i)
    if (!(fabs(distortion[i]) <= MOST_DISTORTION))
      return error_set(error, "a distortion of %g; its magnitude may be at most %g", distortion[i],
                       MOST_DISTORTION);
  return true;
}

/* ---- which photos --------------------------------------------------------------------------- */

/* Appends the extension that a file has where the frame names none. */
static bool find_picture(photo *p) {
  static const char *const extensions[] = {".png", ".jpg", ".jpeg", ".ppm",
                                           ".PNG", ".JPG", ".JPEG", ".PPM"};
  if (path_is_file(p->path)) return true;
  size_t length = strlen(p->path);
  for (int i = 0; i < 8; ++i) {
    if (length + strlen(extensions[i]) >= sizeof p->path) continue;
    strcpy(p->path + length, extensions[i]);
    if (path_is_file(p->path)) return true;
  }
  p->path[length] = '\0';
  return false;
}

/* Leaves those out that have no picture file, and counts them. */
static bool keep_present(scene *s, photo_list *photos, error_line *error) {
  int kept = 0, frames = photos->count;
  char first_absent[sizeof photos->items->path] = "";
  for (int i = 0; i < frames; ++i) {
    if (find_picture(&photos->items[i])) {
      photos->items[kept++] = photos->items[i];
    } else if (s->absent_count++ == 0) {
      strcpy(first_absent, photos->items[i].path);
      snprintf(s->absent_name, sizeof s->absent_name, "%.127s", base_name(first_absent));
    }
  }
  photos->count = kept;
  if (kept > 0) return true;
  return error_set(error, "none of the pictures of %d frames is there; the first is '%.300s'",
                   frames, first_absent);
}

static int compare_paths(const void *a, const void *b) {
  return strcmp(((const photo *)a)->path, ((const photo *)b)->path);
}

static void keep_spread(photo_list *photos, int most) {
  if (most == 0 || photos->count <= most) return;
  for (int i = 0; i < most; ++i)
    photos->items[i] = photos->items[(long long)i * photos->count / most];
  photos->count = most;
}

/* ---- views ---------------------------------------------------------------------------------- */

/* What the lens leaves to the picture. */
static bool lens_complete(lens *l, const photo *p, const image *picture, error_line *error) {
  if (l->width == 0) {
    l->width = picture->width;
    l->height = picture->height;
  }
  if (l->width != picture->width || l->height != picture->height)
    return error_set(error, "'%.200s' has %d x %d pixels, its camera %d x %d; they must agree",
                     p->path, picture->width, picture->height, l->width, l->height);
  if (l->fx == 0.0) l->fx = 0.5 * l->width / tan(0.5 * l->angle_x);
  if (l->fy == 0.0) l->fy = l->angle_y == 0.0 ? l->fx : 0.5 * l->height / tan(0.5 * l->angle_y);
  if (l->centred) {
    l->cx = 0.5 * l->width;
    l->cy = 0.5 * l->height;
  }
  return true;
}

static bool shrink_view(view *v, float scale, error_line *error) {
  camera *c = &v->camera;
  int width = (int)lroundf(c->width * scale), height = (int)lroundf(c->height * scale);
  width = width < 1 ? 1 : width;
  height = height < 1 ? 1 : height;
  if (v->picture.rgb != nullptr && !image_shrink(&v->picture, width, height, error)) return false;
  float scale_x = (float)width / c->width, scale_y = (float)height / c->height;
  c->fx *= scale_x;
  c->cx *= scale_x;
  c->fy *= scale_y;
  c->cy *= scale_y;
  c->width = width;
  c->height = height;
  return true;
}

static void place_camera(camera *c, const double m[3][4]) {
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 4; ++column)
      c->world_to_camera[row][column] = (float)m[row][column];
    c->position[row] = (float)-(m[0][row] * m[0][3] + m[1][row] * m[1][3] + m[2][row] * m[2][3]);
  }
}

static bool read_view(view *v, const photo *p, const scene_options *o, error_line *error) {
  lens l = p->optics;
  error_line reason;
  strcpy(v->name, base_name(p->path));
  place_camera(&v->camera, p->world_to_camera);
  if (o->cameras_only && l.width == 0)
    return error_set(error, "the camera of '%.300s' lacks its width and height, w and h", p->path);
  if (o->cameras_only)
    v->picture = {l.width, l.height, nullptr};
  else if (!image_read(&v->picture, p->path, error))
    return false;
  if (!lens_complete(&l, p, &v->picture, error)) return false;
  if (picture_undistort(&v->picture, &v->camera, &l, &reason) && shrink_view(v, o->scale, &reason))
    return true;
  return error_set(error, "cannot use '%.200s': %.250s", p->path, reason.text);
}

typedef struct view_reader {
  view *views;
  const photo *photos;
  const scene_options *options;
  error_line *errors; /* one a view; empty where it was read */
} view_reader;

static bool read_one_view(void *shared, int i) {
  const view_reader *r = (const view_reader *)shared;
  return read_view(&r->views[i], &r->photos[i], r->options, &r->errors[i]);
}

static bool read_views(scene *s, const photo_list *photos, const scene_options *o,
                       error_line *error) {
  size_t count = (size_t)photos->count;
  s->views = (view *)calloc(count, sizeof(view));
  view_reader r = {s->views, photos->items, o, (error_line *)calloc(count, sizeof(error_line))};
  if (r.errors == nullptr || s->views == nullptr) {
    free(r.errors);
    return error_set(error, "not enough memory for %d views", photos->count);
  }
  s->view_count = photos->count;
  int done =
      parallel_for(s->view_count, o->cameras_only ? "loading    cameras" : "loading    pictures",
                   read_one_view, &r);
  bool read = done == s->view_count;
  if (!read) error_set(error, "interrupted after %d of %d pictures", done, s->view_count);
  for (int i = s->view_count; i-- > 0;)
    if (r.errors[i].text[0] != '\0') *error = r.errors[i]; /* the first one's stays */
  free(r.errors);
  return read;
}

/* ---- scenes --------------------------------------------------------------------------------- */

static bool check_options(const scene_options *o, error_line *error) {
  if (o->path == nullptr || o->path[0] == '\0')
    return error_set(error, "no scene is named; give a folder or a transforms.json");
  if (strlen(o->path) > 900) return error_set(error, "the path of the scene is above 900 bytes");
  if (!(o->scale > 0.0f && o->scale <= 1.0f))
    return error_set(error, "the scale of the pictures is %g; it must be above 0, at most 1",
                     o->scale);
  if (o->hold_out < 0 || o->most_views < 0)
    return error_set(error, "holding out every %dth of at most %d views; neither may be negative",
                     o->hold_out, o->most_views);
  return true;
}

static bool list_photos(scene *s, photo_list *photos, const char *path, error_line *error) {
  char inside[1024];
  struct stat status;
  if (stat(path, &status) != 0)
    return error_set(error, "cannot read '%.300s': %s", path, strerror(errno));
  if (!S_ISDIR(status.st_mode)) {
    size_t length = strlen(path);
    if (length >= 5 && strcasecmp(path + length - 5, ".json") == 0)
      return nerf_read(photos, path, error);
    return error_set(error, "'%.300s' is neither a folder nor a .json file", path);
  }
  snprintf(inside, sizeof inside, "%s/transforms.json", path);
  if (path_is_file(inside)) return nerf_read(photos, inside, error);
  if (colmap_is_in(path)) return colmap_read(s, photos, path, error);
  return error_set(error,
                   "'%.200s' holds neither a transforms.json nor a COLMAP model (cameras.bin "
                   "or cameras.txt, also in sparse or sparse/0)",
                   path);
}

bool scene_read(scene *s, const scene_options *o, error_line *error) {
  photo_list photos = {};
  memset(s, 0, sizeof *s);
  bool read = check_options(o, error) && list_photos(s, &photos, o->path, error) &&
              (o->cameras_only || keep_present(s, &photos, error));
  if (read) {
    qsort(photos.items, (size_t)photos.count, sizeof(photo), compare_paths);
    keep_spread(&photos, o->most_views);
    read = read_views(s, &photos, o, error);
  }
  free(photos.items);
  if (read) {
    scene_split(s, o->hold_out);
    scene_measure(s);
  } else {
    scene_free(s);
  }
  return read;
}

void scene_split(scene *s, int hold_out) {
  for (int i = 0; i < s->view_count; ++i) s->views[i].held_out = hold_out > 0 && i % hold_out == 0;
}

void scene_free(scene *s) {
  for (int i = 0; i < s->view_count; ++i) image_free(&s->views[i].picture);
  free(s->views);
  free(s->points);
  memset(s, 0, sizeof *s);
}
