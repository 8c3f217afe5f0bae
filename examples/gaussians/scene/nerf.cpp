/* arc example gaussians: reads a NeRF transforms.json.
   SPDX-License-Identifier: Apache-2.0 */
#include "json.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What may stand beside the frames, and in a frame for that frame alone. */
enum {
  NERF_W,
  NERF_H,
  NERF_FX,
  NERF_FY,
  NERF_ANGLE_X,
  NERF_ANGLE_Y,
  NERF_CX,
  NERF_CY,
  NERF_K1,
  NERF_K2,
  NERF_P1,
  NERF_P2,
  NERF_K3,
  NERF_K4,
  NERF_FIELDS /* how many */
};

typedef struct nerf_intrinsics {
  double value[NERF_FIELDS]; /* where none is given 0, of the principal point NaN */
} nerf_intrinsics;

static const double MOST_DISTANCE = 1e9;

static bool want_kind(const json_value *v, json_kind kind, const char *name, error_line *error) {
  if (v->kind == kind) return true;
  return error_set(error, "line %d: %s is %s; it must be %s", v->line, name,
                   json_kind_name(v->kind), json_kind_name(kind));
}

static bool read_intrinsics(nerf_intrinsics *n, const json_value *object, error_line *error) {
  static const char *const names[NERF_FIELDS] = {
      "w",  "h",  "fl_x", "fl_y", "camera_angle_x", "camera_angle_y", "cx", "cy", "k1", "k2",
      "p1", "p2", "k3",   "k4"};
  static const char *const models[] = {"OPENCV", "PINHOLE", "SIMPLE_PINHOLE", "PERSPECTIVE"};
  for (int i = 0; i < NERF_FIELDS; ++i) {
    const json_value *v = json_member(object, names[i]);
    if (v == nullptr) continue;
    if (!want_kind(v, JSON_NUMBER, names[i], error)) return false;
    n->value[i] = v->number;
    if (v->number == 0.0 && i < NERF_CX)
      return error_set(error, "line %d: %s is 0; it must be above 0", v->line, names[i]);
    if (v->number != 0.0 && (i == NERF_K3 || i == NERF_K4))
      return error_set(error, "line %d: %s is %g; only k1, k2, p1 and p2 can be undone", v->line,
                       names[i], v->number);
  }
  const json_value *fisheye = json_member(object, "is_fisheye");
  if (fisheye != nullptr && fisheye->number != 0.0)
    return error_set(error, "line %d: is_fisheye is true; only perspective cameras are read",
                     fisheye->line);
  const json_value *model = json_member(object, "camera_model");
  if (model == nullptr || model->kind == JSON_NULL) return true;
  if (!want_kind(model, JSON_STRING, "camera_model", error)) return false;
  for (int i = 0; i < 4; ++i)
    if (strcmp(model->text, models[i]) == 0) return true;
  return error_set(error,
                   "line %d: camera_model is '%.60s'; it must be one of: OPENCV, PINHOLE, "
                   "SIMPLE_PINHOLE, PERSPECTIVE",
                   model->line, model->text);
}

static bool read_side(int *side, double value, const char *name, error_line *error) {
  *side = 0;
  if (value == 0.0) return true;
  if (!(value >= 1.0 && value <= IMAGE_MAX_SIDE && value == floor(value)))
    return error_set(error, "%s is %g; it must be a whole number from 1 to %d", name, value,
                     IMAGE_MAX_SIDE);
  *side = (int)value;
  return true;
}

static bool set_lens(lens *l, const nerf_intrinsics *n, const json_value *frame,
                     error_line *error) {
  const double *value = n->value;
  l->centred = isnan(value[NERF_CX]) && isnan(value[NERF_CY]);
  if (isnan(value[NERF_CX]) != isnan(value[NERF_CY]))
    return error_set(error, "line %d: of cx and cy only one is given; give both or none",
                     frame->line);
  error_line reason;
  if (value[NERF_FX] == 0.0 && value[NERF_ANGLE_X] == 0.0)
    return error_set(error,
                     "line %d: a frame without fl_x (pixels) or camera_angle_x (radians); "
                     "one of them must be given, here or for all frames",
                     frame->line);
  l->fx = value[NERF_FX];
  l->fy = value[NERF_FY];
  if (l->fy == 0.0 && value[NERF_ANGLE_Y] == 0.0) l->fy = l->fx;
  l->angle_x = value[NERF_ANGLE_X];
  l->angle_y = value[NERF_ANGLE_Y];
  l->cx = l->centred ? 0.0 : value[NERF_CX];
  l->cy = l->centred ? 0.0 : value[NERF_CY];
  l->k1 = value[NERF_K1];
  l->k2 = value[NERF_K2];
  l->p1 = value[NERF_P1];
  l->p2 = value[NERF_P2];
  if (read_side(&l->width, value[NERF_W], "w", &reason) &&
      read_side(&l->height, value[NERF_H], "h", &reason) && lens_check(l, &reason))
    return true;
  return error_set(error, "line %d: %.400s", frame->line, reason.text);
}

/* Camera to world, 3 or 4 rows; the fourth is not used. */
static bool read_matrix(double m[3][4], const json_value *rows, error_line *error) {
  if (!want_kind(rows, JSON_ARRAY, "transform_matrix", error)) return false;
  const json_value *row = rows->first;
  bool legal = rows->count == 3 || rows->count == 4;
  for (int i = 0; legal && i < rows->count; ++i, row = row->next) {
    legal = row->kind == JSON_ARRAY && row->count == 4;
    const json_value *v = row->first;
    for (int k = 0; legal && k < 4; ++k, v = v->next) {
      legal = v->kind == JSON_NUMBER && fabs(v->number) <= MOST_DISTANCE;
      if (legal && i < 3) m[i][k] = v->number;
    }
  }
  if (legal) return true;
  return error_set(error,
                   "line %d: transform_matrix must be 4 rows of 4 numbers of magnitude at "
                   "most %g",
                   rows->line, MOST_DISTANCE);
}

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The axes of an OpenGL camera, x right, y up, z back, in the columns of a matrix of rounded
   numbers, become the rows x right, y down, z forward of a true rotation. */
static bool invert_pose(double to_camera[3][4], const double m[3][4], const json_value *matrix,
                        error_line *error) {
  static const double TOLERANCE = 0.01;
  double axis[3][3];
  bool legal = true;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) axis[i][k] = i == 0 ? m[k][i] : -m[k][i];
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k <= i; ++k)
      legal = legal && fabs(dot(axis[i], axis[k]) - (i == k ? 1.0 : 0.0)) <= TOLERANCE;
  double *x = axis[0], *y = axis[1], *z = axis[2];
  const double across[3] = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2],
                            x[0] * y[1] - x[1] * y[0]};
  if (!legal || dot(across, z) < 0.0)
    return error_set(error,
                     "line %d: the first three columns of transform_matrix are no rotation; "
                     "they must be at right angles and of length 1, right-handed",
                     matrix->line);
  for (int i = 0; i < 3; ++i) {
    for (int before = 0; before < i; ++before) {
      double shared = dot(axis[i], axis[before]);
      for (int k = 0; k < 3; ++k) axis[i][k] -= shared * axis[before][k];
    }
    double length = sqrt(dot(axis[i], axis[i]));
    for (int k = 0; k < 3; ++k) axis[i][k] /= length;
    const double position[3] = {m[0][3], m[1][3], m[2][3]};
    for (int k = 0; k < 3; ++k) to_camera[i][k] = axis[i][k];
    to_camera[i][3] = -dot(axis[i], position);
  }
  return true;
}

static bool read_frame(photo *p, const json_value *frame, nerf_intrinsics shared,
                       const char *folder, error_line *error) {
  double pose[3][4] = {};
  error_line reason;
  if (!want_kind(frame, JSON_OBJECT, "a frame", error)) return false;
  const json_value *path = json_member(frame, "file_path");
  const json_value *matrix = json_member(frame, "transform_matrix");
  if (path == nullptr || matrix == nullptr)
    return error_set(error,
                     "line %d: a frame lacks %s; it must have file_path and "
                     "transform_matrix",
                     frame->line, path == nullptr ? "file_path" : "transform_matrix");
  if (!want_kind(path, JSON_STRING, "file_path", error)) return false;
  if (!photo_set_path(p, folder, path->text, &reason))
    return error_set(error, "line %d: %.400s", path->line, reason.text);
  return read_intrinsics(&shared, frame, error) && set_lens(&p->optics, &shared, frame, error) &&
         read_matrix(pose, matrix, error) && invert_pose(p->world_to_camera, pose, matrix, error);
}

static bool read_root(photo_list *photos, const json_value *root, const char *folder,
                      error_line *error) {
  nerf_intrinsics shared = {};
  shared.value[NERF_CX] = shared.value[NERF_CY] = NAN;
  if (!want_kind(root, JSON_OBJECT, "the whole", error)) return false;
  const json_value *frames = json_member(root, "frames");
  if (frames == nullptr) return error_set(error, "it lacks frames, an array of what was seen");
  if (!want_kind(frames, JSON_ARRAY, "frames", error)) return false;
  if (frames->count == 0)
    return error_set(error, "line %d: frames is empty; there must be at least one", frames->line);
  if (!read_intrinsics(&shared, root, error)) return false;
  for (const json_value *frame = frames->first; frame != nullptr; frame = frame->next) {
    photo *p = photo_add(photos, error);
    if (p == nullptr || !read_frame(p, frame, shared, folder, error)) return false;
  }
  return true;
}

bool nerf_read(photo_list *photos, const char *path, error_line *error) {
  file_bytes file;
  json_document document;
  error_line reason;
  char folder[1024];
  if (!file_load(&file, path, error)) return false;
  const char *slash = strrchr(path, '/');
  if (slash == nullptr) strcpy(folder, ".");
  if (slash != nullptr) snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);

  bool read = json_parse(&document, file.bytes, file.size, &reason);
  if (read) {
    read = read_root(photos, document.root, folder, &reason);
    json_free(&document);
  }
  free(file.bytes);
  return read || error_set(error, "cannot read '%.200s': %.290s", path, reason.text);
}
