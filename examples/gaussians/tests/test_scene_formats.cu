/* arc example gaussians: scenes are read as they were written; damaged ones are refused with a
   reason. With ARC_DATA set to a folder that holds the fox capture, that is read as well.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "../../common/program_run.h"
#include "../scene/json.h"
#include "test_scene_write.h"

static buffer written;

static scene_options options_plain(const char *path) {
  scene_options o = {path, 1.0f, 8, 0, false};
  return o;
}

static void check_line(const error_line *error, const char *part) {
  CHECK(strstr(error->text, part) != nullptr, "'%s' lacks '%s'", error->text, part);
  CHECK(strchr(error->text, '\n') == nullptr, "more than a line: %s", error->text);
}

static void check_options_refused(const scene_options *o, const char *part) {
  scene s;
  error_line error = {""};
  bool read = scene_read(&s, o, &error);
  CHECK(!read, "read, where '%s' should be said", part);
  if (!read) check_line(&error, part);
  CHECK(read || (s.views == nullptr && s.points == nullptr), "something is left: %s", error.text);
  if (read) scene_free(&s);
}

static void check_refused(const char *path, const char *part) {
  scene_options o = options_plain(path);
  check_options_refused(&o, part);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* In a block of its own size, so that a sanitizer sees every step beyond it. */
static bool parse_exactly(json_document *document, const char *text, size_t size,
                          error_line *error) {
  char *exact = (char *)malloc(size + 1);
  memcpy(exact, text, size);
  exact[size] = '\0';
  bool parsed = json_parse(document, exact, size, error);
  free(exact);
  return parsed;
}

static void check_json_refused(const char *text, const char *part) {
  json_document document;
  error_line error = {""};
  bool parsed = parse_exactly(&document, text, strlen(text), &error);
  CHECK(!parsed, "parsed: %s", text);
  if (!parsed) check_line(&error, part);
  CHECK(parsed || document.blocks == nullptr, "memory is left");
  if (parsed) json_free(&document);
}

static const char JSON_SAMPLE[] =
    "\xef\xbb\xbf{\"a\": [1, -0.5e+2, 0, 12.25, true, false, null],\n"
    " \"\\u00e9\\n\": \"\\ud83e\\udd8a \xe7\x8b\x90 \\\\ \\\" \\/\\b\\f\\r\\t\\u20ac\\u0041\",\n"
    "\t\"b\": {\"c\": {}, \"d\": []}, \"b\": 7}\r\n";

static void test_json_values(void) {
  static const double numbers[7] = {1.0, -50.0, 0.0, 12.25, 1.0, 0.0, 0.0};
  static const json_kind kinds[7] = {JSON_NUMBER, JSON_NUMBER, JSON_NUMBER, JSON_NUMBER,
                                     JSON_BOOL,   JSON_BOOL,   JSON_NULL};
  json_document document;
  error_line error;
  bool parsed = parse_exactly(&document, JSON_SAMPLE, sizeof JSON_SAMPLE - 1, &error);
  CHECK(parsed, "%s", error.text);
  if (!parsed) return;
  const json_value *a = json_member(document.root, "a"), *b = json_member(document.root, "b");
  const json_value *text = json_member(document.root, "\xc3\xa9\n");
  CHECK(a != nullptr && a->kind == JSON_ARRAY && a->count == 7 && a->line == 1, "a");
  const json_value *v = a != nullptr ? a->first : nullptr;
  for (int i = 0; i < 7 && v != nullptr; ++i, v = v->next)
    CHECK(v->kind == kinds[i] && v->number == numbers[i], "%d: %g", i, v->number);
  CHECK(v == nullptr && document.root->count == 4, "%d members", document.root->count);
  CHECK(text != nullptr && text->kind == JSON_STRING && text->line == 2, "no text");
  static const char wanted[] =
      "\xf0\x9f\xa6\x8a \xe7\x8b\x90 \\ \" /\b\f\r\t\xe2\x82\xac"
      "A";
  CHECK(text != nullptr && strcmp(text->text, wanted) == 0, "'%s'", text ? text->text : "");
  CHECK(b != nullptr && b->kind == JSON_NUMBER && b->number == 7.0, "the last b counts");
  CHECK(json_member(a, "a") == nullptr && json_member(document.root, "z") == nullptr, "found");
  json_free(&document);
  for (size_t cut = 0; cut + 2 < sizeof JSON_SAMPLE - 1; ++cut) {
    parsed = parse_exactly(&document, JSON_SAMPLE, cut, &error);
    CHECK(!parsed, "parsed when cut at %zu", cut);
    if (parsed) json_free(&document);
  }
}

static void test_json_refused(void) {
  static const char *const cases[][2] = {
      {"", "line 1: the file ends where a value must stand"},
      {"\n\n[1,\n2", "line 4: the file ends where ',' or ']' must stand"},
      {"{\"a\" 1}", "'1' where ':' must stand"},
      {"{\"a\": 1, }", "'}' where a text in quotation marks must stand"},
      {"{a: 1}", "'a' where a text in quotation marks"},
      {"{\"a\": 1 \"b\": 2}", "where ',' or '}' must stand"},
      {"[1, 2,]", "']' where a value must stand"},
      {"[NaN]", "'NaN' where a value must stand"},
      {"[Infinity]", "'Infinity' where a value"},
      {"[-Infinity]", "'Infinity' where a digit"},
      {"[01]", "begins with a 0"},
      {"[1.]", "']' where a digit must stand"},
      {"[.5]", "'.' where a value"},
      {"[1e]", "where a digit"},
      {"[+1]", "'+' where a value"},
      {"[1e999]", "too large"},
      {"[tru]", "'tru' where a value"},
      {"\n[1] [2]", "line 2: '[' where the end of the file must stand"},
      {"// no\n[1]", "'/' where a value"},
      {"[\x01]", "byte 0x01 where a value"},
      {"[\"a\nb\"]", "byte 0x0a where a printable character"},
      {"[\"abc", "ends where a closing quotation mark"},
      {"[\"\\x41\"]", "'x41' where one of"},
      {"[\"\\u12g4\"]", "'g4' where a hexadecimal digit"},
      {"[\"\\u0000\"]", "\\u0000 cannot"},
      {"[\"\\ud800\"]", "half a pair"},
      {"[\"\\ud800\\u0041\"]", "half a pair"},
      {"[\"\\udc00\"]", "half a pair"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    check_json_refused(cases[i][0], cases[i][1]);
  check_json_refused("[\"\\", "ends where one of");

  char deep[2 * (JSON_MAX_DEPTH + 1) + 1] = "";
  json_document document;
  error_line error;
  for (int depth = JSON_MAX_DEPTH; depth <= JSON_MAX_DEPTH + 1; ++depth) {
    memset(deep, '[', (size_t)depth);
    memset(deep + depth, ']', (size_t)depth);
    bool parsed = parse_exactly(&document, deep, 2 * (size_t)depth, &error);
    CHECK(parsed == (depth <= JSON_MAX_DEPTH), "%d deep", depth);
    if (parsed) json_free(&document);
    if (!parsed) check_line(&error, "nested more than 64 deep");
  }
}

/* ---- what was read, against what is known --------------------------------------------------- */

/* Pixels between the place of a dot in the picture, its centre of brightness, and u, v. */
static double dot_distance(const image *picture, double u, double v) {
  double sum = 0.0, sum_x = 0.0, sum_y = 0.0;
  for (int y = (int)v - 5; y <= (int)v + 5; ++y)
    for (int x = (int)u - 5; x <= (int)u + 5; ++x) {
      double weight = picture->rgb[3 * (y * picture->width + x)];
      sum += weight;
      sum_x += weight * (x + 0.5);
      sum_y += weight * (y + 0.5);
    }
  return sum > 0.0 ? hypot(sum_x / sum - u, sum_y / sum - v) : INFINITY;
}

/* Every dot lies where the camera projects its point; how many were looked at. */
static int check_dots(const view *v) {
  int looked_at = 0;
  for (int i = 0; i < KNOWN_POINTS; ++i) {
    double position[3], seen[3];
    const camera *c = &v->camera;
    point_known(i, position);
    for (int row = 0; row < 3; ++row) {
      const float *m = c->world_to_camera[row];
      seen[row] = m[0] * position[0] + m[1] * position[1] + m[2] * position[2] + m[3];
    }
    double x = c->fx * seen[0] / seen[2] + c->cx, y = c->fy * seen[1] / seen[2] + c->cy;
    if (x < 6 || y < 6 || x > c->width - 6 || y > c->height - 6) continue;
    double apart = dot_distance(&v->picture, x, y);
    CHECK(apart < 0.1, "%s: the dot of point %d is %.3f pixels away", v->name, i, apart);
    looked_at += 1;
  }
  return looked_at;
}

/* A pixel shows what the photograph holds; one more row or column on any cut side would not. */
static void check_window(const camera *c, const known_lens *l) {
  int left = (int)lround(l->cx - c->cx), top = (int)lround(l->cy - c->cy);
  const bool cut[4] = {left > 0, left + c->width<KNOWN_WIDTH, top> 0,
                       top + c->height < KNOWN_HEIGHT};
  int hidden[4] = {}; /* beside each side */
  CHECK(fabs(l->cx - c->cx - left) < 1e-4 && fabs(l->cy - c->cy - top) < 1e-4, "a broken pixel");
  CHECK(left >= 0 && top >= 0 && left + c->width <= KNOWN_WIDTH && top + c->height <= KNOWN_HEIGHT,
        "%d+%d, %d+%d", left, c->width, top, c->height);
  for (int y = -1; y <= c->height; ++y)
    for (int x = -1; x <= c->width; ++x) {
      double u, v;
      lens_shows(l, (x + 0.5 - c->cx) / c->fx, (y + 0.5 - c->cy) / c->fy, &u, &v);
      bool shown = u >= 0 && v >= 0 && u <= KNOWN_WIDTH && v <= KNOWN_HEIGHT;
      bool inside = x >= 0 && y >= 0 && x < c->width && y < c->height;
      CHECK(shown || !inside, "%d, %d is not in the photograph", x, y);
      bool beside_x = y >= 0 && y < c->height, beside_y = x >= 0 && x < c->width;
      hidden[0] += !shown && beside_x && x < 0;
      hidden[1] += !shown && beside_x && x >= c->width;
      hidden[2] += !shown && beside_y && y < 0;
      hidden[3] += !shown && beside_y && y >= c->height;
    }
  for (int side = 0; side < 4; ++side)
    CHECK(!cut[side] || hidden[side] > 0, "more than needed was cut off side %d", side);
}

static void check_pose(const view *v, int index) {
  known_pose p = pose_known(index);
  for (int row = 0; row < 3; ++row) {
    double position = 0.0;
    for (int k = 0; k < 3; ++k) {
      CHECK(fabs(v->camera.world_to_camera[row][k] - p.rotation[row][k]) < 1e-6, "%s", v->name);
      position -= p.rotation[k][row] * p.translation[k];
    }
    CHECK(fabs(v->camera.world_to_camera[row][3] - p.translation[row]) < 1e-5, "%s", v->name);
    CHECK(fabs(v->camera.position[row] - position) < 1e-5, "%s", v->name);
  }
}

static void check_scene(const scene *s, const known_lens *l, float scale) {
  int dots = 0;
  CHECK(s->view_count == KNOWN_VIEWS && s->absent_count == 0, "%d views", s->view_count);
  for (int i = 0; i < s->view_count; ++i) {
    const view *v = &s->views[i];
    CHECK(strcmp(v->name, KNOWN_NAMES[i]) == 0, "view %d is %s", i, v->name);
    CHECK(v->held_out == (i == 0), "%s", v->name);
    CHECK(v->picture.width == v->camera.width && v->picture.height == v->camera.height, "%d x %d",
          v->picture.width, v->picture.height);
    CHECK(fabs(v->camera.fx / scale - l->fx) < 0.01 * l->fx, "fx %g", v->camera.fx);
    if (scale == 1.0f) check_window(&v->camera, l);
    check_pose(v, i);
    dots += check_dots(v);
  }
  CHECK(dots > 3 * KNOWN_VIEWS, "only %d dots", dots);
}

static bool read_scene(scene *s, const scene_options *o) {
  error_line error;
  bool read = scene_read(s, o, &error);
  CHECK(read, "%s", error.text);
  return read;
}

static void check_reads(const char *path, const known_lens *l, int points) {
  scene s;
  scene_options o = options_plain(path);
  for (o.scale = 1.0f; o.scale >= 0.5f; o.scale *= 0.5f) {
    if (!read_scene(&s, &o)) return;
    check_scene(&s, l, o.scale);
    CHECK(s.point_count == points, "%d points", s.point_count);
    for (int i = 0; i < s.point_count; ++i) {
      double position[3];
      const scene_point *p = &s.points[i];
      point_known(i, position);
      for (int k = 0; k < 3; ++k) CHECK(fabs(p->position[k] - position[k]) < 1e-6, "point %d", i);
      CHECK(fabs(p->rgb[0] - 10.0 * i / 255.0) < 1e-6 && fabsf(p->rgb[1] - 0.2f) < 1e-6f &&
                p->rgb[2] == 1.0f,
            "point %d: %g %g %g", i, p->rgb[0], p->rgb[1], p->rgb[2]);
    }
    scene_free(&s);
  }
}

/* The same scene, told in three ways and in each place; without distortion and with it. */
static void test_same_scene(void) {
  static const known_lens lenses[4] = {KNOWN_LENS,
                                       {150.0, 146.0, 83.0, 57.0, 0.0, 0.0, 0.0, 0.0},
                                       {150.0, 146.0, 83.0, 57.0, -0.25, 0.06, 0.0, 0.0},
                                       {150.0, 146.0, 83.0, 57.0, 0.2, 0.0, 0.0, 0.0}};
  static const char *const places[3] = {".", "sparse", "sparse/0"};
  char name[64];
  make_folder("sparse");
  make_folder("sparse/0");
  for (int kind = 0; kind < 4; ++kind) {
    const known_lens *l = &lenses[kind];
    save_pictures(l);
    write_nerf(&written, l);
    save(&written, "transforms.json");
    save(&written, "other name.JSON");
    check_reads(test_folder, l, 0);
    check_reads(test_path("other name.JSON"), l, 0);
    remove(test_path("transforms.json"));
    for (int place = 0; place < 6; ++place) {
      static void (*const points[2])(buffer *) = {write_points_text, write_points_binary};
      static void (*const images[2])(buffer *) = {write_images_text, write_images_binary};
      static void (*const cameras[2])(buffer *, const known_lens *) = {write_cameras_text,
                                                                       write_cameras_binary};
      const char *extension = place % 2 ? "bin" : "txt",
                 *files[3] = {"cameras", "images", "points3D"};
      for (int file = 0; file < 3; ++file) {
        if (file == 0) cameras[place % 2](&written, l);
        if (file == 1) images[place % 2](&written);
        if (file == 2) points[place % 2](&written);
        snprintf(name, sizeof name, "%s/%s.%s", places[place / 2], files[file], extension);
        save(&written, name);
      }
      check_reads(test_folder, l, KNOWN_POINTS);
      snprintf(name, sizeof name, "%s/points3D.%s", places[place / 2], extension);
      remove(test_path(name));
      check_reads(test_folder, l, 0);
      for (int file = 0; file < 3; ++file) {
        snprintf(name, sizeof name, "%s/%s.%s", places[place / 2], files[file], extension);
        remove(test_path(name));
      }
    }
  }
}

/* A lens whose polynomial turns back inside the picture: nothing beyond the turn is kept. */
static void test_folding_lens(void) {
  known_lens l = {150.0, 150.0, 80.0, 60.0, -1.2, 0.0, 0.0, 0.0};
  double fold = sqrt(1.0 / 3.6);
  scene s;
  scene_options o = options_plain(test_folder);
  save_pictures(&l);
  write_nerf(&written, &l);
  save(&written, "transforms.json");
  if (!read_scene(&s, &o)) return;
  const camera *c = &s.views[0].camera;
  double corner = hypot((0.5 - c->cx) / c->fx, (0.5 - c->cy) / c->fy);
  CHECK(corner < fold, "the corner is at %g, the fold at %g", corner, fold);
  CHECK(c->width < KNOWN_WIDTH && c->width >= KNOWN_WIDTH / 2, "%d wide", c->width);
  scene_free(&s);
  l.k1 = -9.0;
  write_nerf(&written, &l);
  save(&written, "transforms.json");
  check_refused(test_folder, "undoing the distortion k1 -9 k2 0 p1 0 p2 0 leaves less than half");
}

/* ---- transforms.json ------------------------------------------------------------------------ */

static const char POSE[] = "[[1,0,0,0],[0,1,0,0],[0,0,1,3],[0,0,0,1]]";

static void save_nerf(const char *shared, const char *frames) {
  written.size = 0;
  put_text(&written, "{%s\n\"frames\": [\n%s]}\n", shared, frames);
  save(&written, "transforms.json");
}

/* One frame, of images/a.ppm, with these further members. */
static void save_nerf_frame(const char *shared, const char *members) {
  char frame[1600];
  snprintf(frame, sizeof frame, "{\"file_path\": \"images/a.ppm\"%s}", members);
  save_nerf(shared, frame);
}

static void check_nerf_refused(const char *shared, const char *members, const char *part) {
  save_nerf_frame(shared, members);
  check_refused(test_folder, part);
}

#define WITH_POSE ",\"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,3],[0,0,0,1]]"

static void test_nerf_lenses(void) {
  scene s;
  scene_options o = options_plain(test_folder);
  const double wide = 80.0 / tan(0.4), tall = 60.0 / tan(0.3);
  static const struct {
    const char *shared, *members;
  } cases[5] = {{"\"camera_angle_x\": 0.8,", WITH_POSE},
                {"\"camera_angle_x\": 0.8, \"camera_angle_y\": 0.6,", WITH_POSE},
                {"\"fl_x\": 100, \"camera_angle_x\": 0.8,", WITH_POSE},
                {"\"fl_x\": 100, \"fl_y\": 90, \"cx\": 70, \"cy\": 50,", WITH_POSE},
                {"\"fl_x\": 100, \"cx\": 1, \"cy\": 2, \"camera_model\": \"OPENCV\",",
                 ",\"fl_x\": 50, \"cx\": 70, \"cy\": 50" WITH_POSE}};
  const double wanted[5][4] = {{wide, wide, 80, 60},
                               {wide, tall, 80, 60},
                               {100, 100, 80, 60},
                               {100, 90, 70, 50},
                               {50, 50, 70, 50}};
  for (int i = 0; i < 5; ++i) {
    save_nerf_frame(cases[i].shared, cases[i].members);
    if (!read_scene(&s, &o)) continue;
    const camera *c = &s.views[0].camera;
    CHECK(fabs(c->fx - wanted[i][0]) < 1e-4 && fabs(c->fy - wanted[i][1]) < 1e-4, "%d: %g %g", i,
          c->fx, c->fy);
    CHECK(c->cx == wanted[i][2] && c->cy == wanted[i][3], "%d: %g %g", i, c->cx, c->cy);
    CHECK(c->position[2] == 3.0f && c->world_to_camera[1][1] == -1.0f &&
              c->world_to_camera[2][2] == -1.0f && c->world_to_camera[2][3] == 3.0f,
          "%d", i);
    scene_free(&s);
  }
}

/* Without the pictures the cameras are the same, also where a distortion would be undone. */
static void test_cameras_only(void) {
  scene with, without;
  scene_options o = options_plain(test_folder);
  write_nerf(&written, &KNOWN_LENS);
  save(&written, "transforms.json");
  o.scale = 0.5f;
  if (!read_scene(&with, &o)) return;
  o.cameras_only = true;
  for (int i = 0; i < KNOWN_VIEWS; ++i) {
    char name[64];
    snprintf(name, sizeof name, "images/%s", KNOWN_NAMES[i]);
    CHECK(remove(test_path(name)) == 0, "%s", name);
  }
  if (read_scene(&without, &o)) {
    CHECK(without.view_count == KNOWN_VIEWS && without.absent_count == 0, "%d views",
          without.view_count);
    for (int i = 0; i < KNOWN_VIEWS; ++i) {
      const view *a = &with.views[i], *b = &without.views[i];
      CHECK(memcmp(&a->camera, &b->camera, sizeof a->camera) == 0 && !strcmp(a->name, b->name),
            "camera %d differs", i);
      CHECK(b->picture.rgb == nullptr && a->picture.rgb != nullptr, "view %d", i);
    }
    scene_free(&without);
  }
  scene_free(&with);
  save_nerf_frame("\"fl_x\": 100,", WITH_POSE);
  check_options_refused(&o, "lacks its width and height, w and h");
  save_pictures(&KNOWN_LENS);
}

/* What a frame says of its camera is said of no other. */
static void test_nerf_frame_lens(void) {
  scene s;
  scene_options o = options_plain(test_folder);
  save_nerf("\"fl_x\": 100,", "{\"file_path\": \"images/a\", \"fl_x\": 50" WITH_POSE
                              "},\n"
                              "{\"file_path\": \"images/b\"" WITH_POSE "}");
  if (!read_scene(&s, &o)) return;
  CHECK(s.views[0].camera.fx == 50.0f && s.views[1].camera.fx == 100.0f, "%g, %g",
        s.views[0].camera.fx, s.views[1].camera.fx);
  scene_free(&s);
}

/* No extension, no file, three rows; hold_out, most_views and scale. */
static void test_nerf_frames(void) {
  char frames[4096] = "";
  scene s;
  scene_options o = options_plain(test_folder);
  for (int i = 0; i < 20; ++i) {
    char name[64];
    snprintf(name, sizeof name, "images/n%02d.ppm", i);
    if (i % 5 != 3) save_picture(&KNOWN_LENS, 0, name);
    size_t length = strlen(frames);
    snprintf(frames + length, sizeof frames - length,
             "%s{\"file_path\": \"images/n%02d%s\", \"transform_matrix\": %s}", i ? ",\n" : "", i,
             i % 2 ? ".ppm" : "", i % 2 ? POSE : "[[1,0,0,0],[0,1,0,0],[0,0,1,3]]");
  }
  save_nerf("\"fl_x\": 99,", frames);
  o.hold_out = 5;
  o.scale = 0.3f;
  if (read_scene(&s, &o)) {
    CHECK(s.view_count == 16 && s.absent_count == 4, "%d, %d", s.view_count, s.absent_count);
    CHECK(strcmp(s.absent_name, "n03.ppm") == 0, "%s", s.absent_name);
    CHECK(strcmp(s.views[3].name, "n04.ppm") == 0, "%s", s.views[3].name);
    for (int i = 0; i < s.view_count; ++i) CHECK(s.views[i].held_out == (i % 5 == 0), "view %d", i);
    const camera *c = &s.views[0].camera;
    CHECK(c->width == 48 && c->height == 36 && fabsf(c->fx - 29.7f) < 1e-4f &&
              fabsf(c->cx - 24.0f) < 1e-4f,
          "%d %d %g %g", c->width, c->height, c->fx, c->cx);
    scene_split(&s, 0);
    for (int i = 0; i < s.view_count; ++i) CHECK(!s.views[i].held_out, "view %d", i);
    scene_free(&s);
  }
  o.most_views = 4;
  o.scale = 0.001f;
  if (read_scene(&s, &o)) {
    CHECK(s.view_count == 4 && strcmp(s.views[1].name, "n05.ppm") == 0, "%s", s.views[1].name);
    CHECK(s.views[0].camera.width == 1 && s.views[0].camera.height == 1, "not one pixel");
    scene_free(&s);
  }
  o.most_views = 0;
  /* the first of two is told, though it fails later */
  const size_t large = 9000000;
  char *bytes = (char *)calloc(large, 1);
  memcpy(bytes, "P6 2000 1500 255\n", 17);
  test_write_file(test_path("images/n00.ppm"), bytes, large);
  test_write_file(test_path("images/n01.ppm"), "P6 1", 4);
  free(bytes);
  for (int i = 0; i < 5; ++i) check_options_refused(&o, "n00.ppm': PPM is cut short");
  interrupts = 1;
  check_options_refused(&o, "interrupted after 0 of 16 pictures");
  interrupts = 0;
}

static void test_nerf_refused(void) {
  static const char FL[] = "\"fl_x\": 100,";
  static const char *const cases[][3] = {
      {"", WITH_POSE, "line 3: a frame without fl_x (pixels) or camera_angle_x"},
      {"\"fl_x\": 0,", WITH_POSE, "line 1: fl_x is 0; it must be above 0"},
      {"\"fl_x\": -5,", WITH_POSE, "focal length in x is -5 pixels; it must be 0.01 to 1e+06"},
      {"\"fl_x\": 1e7,", WITH_POSE, "focal length in x is 1e+07"},
      {"\"fl_x\": 9, \"fl_y\": -1,", WITH_POSE, "focal length in y is -1"},
      {"\"fl_x\": \"9\",", WITH_POSE, "line 1: fl_x is a text; it must be a number"},
      {"\"camera_angle_x\": 4,", WITH_POSE, "angle of view in x is 4; it must be 0.001 to 3.1"},
      {FL, ",\"w\": 160.5, \"h\": 120" WITH_POSE, "w is 160.5; it must be a whole number from 1"},
      {FL, ",\"w\": 160, \"h\": 2147483648" WITH_POSE, "h is 2.14748e+09; it must be"},
      {FL, ",\"w\": 160" WITH_POSE, "a picture of 160 x 0 pixels; each side must be 1 to 16384"},
      {FL, ",\"w\": 80, \"h\": 60" WITH_POSE, "has 160 x 120 pixels, its camera 80 x 60"},
      {FL, ",\"cx\": 3" WITH_POSE, "of cx and cy only one is given"},
      {FL, ",\"cx\": 1e9, \"cy\": 1" WITH_POSE, "the principal point is 1e+09, 1"},
      {FL, ",\"k2\": 1e30" WITH_POSE, "a distortion of 1e+30"},
      {FL, ",\"p1\": 1e6" WITH_POSE, "leaves less than half of the picture's width or height"},
      {FL, ",\"k3\": 0.1" WITH_POSE, "k3 is 0.1; only k1, k2, p1 and p2 can be undone"},
      {FL, ",\"is_fisheye\": true" WITH_POSE, "only perspective cameras are read"},
      {FL, ",\"camera_model\": \"EQUIRECT\"" WITH_POSE, "camera_model is 'EQUIRECT'; it must be"},
      {FL, ",\"camera_model\": 3" WITH_POSE, "camera_model is a number; it must be a text"},
      {FL, "", "line 3: a frame lacks transform_matrix"},
      {FL, ",\"transform_matrix\": 7", "transform_matrix is a number; it must be an array"},
      {FL, ",\"transform_matrix\": [[1,0,0,0],[0,1,0,0]]", "must be 4 rows of 4 numbers"},
      {FL, ",\"transform_matrix\": [[1,0,0,0],[0,1,0],[0,0,1,3]]", "must be 4 rows of 4 numbers"},
      {FL, ",\"transform_matrix\": [[1,0,0,0],[0,1,0,null],[0,0,1,3]]", "must be 4 rows"},
      {FL, ",\"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,1e300]]", "at most 1e+09"},
      {FL, ",\"transform_matrix\": [[2,0,0,0],[0,1,0,0],[0,0,1,3]]", "are no rotation"},
      {FL, ",\"transform_matrix\": [[1,0.1,0,0],[0,1,0,0],[0,0,1,3]]", "are no rotation"},
      {FL, ",\"transform_matrix\": [[-1,0,0,0],[0,1,0,0],[0,0,1,3]]", "are no rotation"},
      {FL, ",\"file_path\": \"\"" WITH_POSE, "line 3: '' does not name a picture file"},
      {FL, ",\"file_path\": \"images/\"" WITH_POSE, "'images/' does not name a picture file"},
      {FL, ",\"file_path\": 9" WITH_POSE, "file_path is a number; it must be a text"},
      {FL, ",\"file_path\": \"images/x.png\"" WITH_POSE,
       "none of the pictures of 1 frames is there"},
      {FL, ",\"file_path\": \"images/text.ppm\"" WITH_POSE, "neither a PPM (P6) nor a PNG"},
  };
  test_write_file(test_path("images/text.ppm"), "hello", 5);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    check_nerf_refused(cases[i][0], cases[i][1], cases[i][2]);

  char members[1400], longest[1200];
  memset(longest, 'n', sizeof longest);
  longest[128] = '\0';
  snprintf(members, sizeof members, ",\"file_path\": \"%s\"" WITH_POSE, longest);
  check_nerf_refused(FL, members, "is too long; it may have 127 bytes");
  longest[128] = '/';
  longest[1199] = '\0';
  longest[1190] = '/';
  written.size = 0;
  put_text(&written, "{\"frames\": [{\"fl_x\": 1, \"file_path\": \"");
  put_bytes(&written, longest, 1199);
  put_text(&written, "\"" WITH_POSE "}]}");
  save(&written, "transforms.json");
  check_refused(test_folder, "is too long; it may have 1023 bytes");

  save_nerf(FL, "");
  check_refused(test_folder, "line 2: frames is empty; there must be at least one");
  save_nerf(FL, "5");
  check_refused(test_folder, "line 3: a frame is a number; it must be an object");
  save_nerf(FL, "{\"transform_matrix\": []}");
  check_refused(test_folder, "line 3: a frame lacks file_path");
  test_write_file(test_path("transforms.json"), "{\"frames\": {}}", 14);
  check_refused(test_folder, "frames is an object; it must be an array");
  test_write_file(test_path("transforms.json"), "{}", 2);
  check_refused(test_folder, "it lacks frames");
  test_write_file(test_path("transforms.json"), "[]", 2);
  check_refused(test_folder, "the whole is an array; it must be an object");
  test_write_file(test_path("transforms.json"), "{\n\"frames\": [\nNaN]}", 18);
  check_refused(test_folder, "transforms.json': line 3: 'NaN' where a value must stand");
  test_write_file(test_path("transforms.json"), "", 0);
  check_refused(test_folder, "line 1: the file ends where a value must stand");
  remove(test_path("transforms.json"));
}

static void test_options_refused(void) {
  scene_options o = options_plain(nullptr);
  char longest[1000];
  check_options_refused(&o, "no scene is named");
  check_refused("", "no scene is named");
  check_refused(test_path("absent"), "No such file or directory");
  memset(longest, 'n', sizeof longest);
  longest[999] = '\0';
  check_refused(longest, "the path of the scene is above 900 bytes");
  test_write_file(test_path("notes.txt"), "hello", 5);
  check_refused(test_path("notes.txt"), "is neither a folder nor a .json file");
  check_refused("/dev/null", "is neither a folder nor a .json file");
  check_refused(test_folder, "holds neither a transforms.json nor a COLMAP model");
  make_folder("folder.json");
  check_refused(test_path("folder.json"), "holds neither a transforms.json nor");
  o = options_plain(test_folder);
  o.scale = 0.0f;
  check_options_refused(&o, "scale of the pictures is 0; it must be above 0, at most 1");
  o.scale = NAN;
  check_options_refused(&o, "scale of the pictures is nan");
  o.scale = 1.5f;
  check_options_refused(&o, "scale of the pictures is 1.5");
  o = options_plain(test_folder);
  o.hold_out = -1;
  check_options_refused(&o, "every -1th");
  o.hold_out = 8;
  o.most_views = -2;
  check_options_refused(&o, "at most -2 views; neither may be negative");
}

/* ---- COLMAP --------------------------------------------------------------------------------- */

static void save_text(const char *name, const char *text) {
  test_write_file(test_path(name), text, strlen(text));
}

static void save_model(bool binary) {
  binary ? write_cameras_binary(&written, &KNOWN_LENS) : write_cameras_text(&written, &KNOWN_LENS);
  save(&written, binary ? "cameras.bin" : "cameras.txt");
  binary ? write_images_binary(&written) : write_images_text(&written);
  save(&written, binary ? "images.bin" : "images.txt");
  binary ? write_points_binary(&written) : write_points_text(&written);
  save(&written, binary ? "points3D.bin" : "points3D.txt");
}

static void test_colmap_models(void) {
  static const struct {
    const char *line;
    double k1, k2, p1, p2;
  } models[5] = {{"7 SIMPLE_PINHOLE 160 120 150 83 57", 0, 0, 0, 0},
                 {"7 PINHOLE 160 120 150 150 83 57", 0, 0, 0, 0},
                 {"7 SIMPLE_RADIAL 160 120 150 83 57 0.08", 0.08, 0, 0, 0},
                 {"7 RADIAL 160 120 150 83 57 0.08 -0.4", 0.08, -0.4, 0, 0},
                 {"7 OPENCV 160 120 150 150 83 57 .08 -.4 .004 -.005", 0.08, -0.4, 0.004, -0.005}};
  for (int i = 0; i < 5; ++i) {
    known_lens l = {150, 150, 83, 57, models[i].k1, models[i].k2, models[i].p1, models[i].p2};
    const double all[8] = {l.fx, l.fy, l.cx, l.cy, l.k1, l.k2, l.p1, l.p2};
    static const int numbers[5][8] = {
        {0, 2, 3}, {0, 1, 2, 3}, {0, 2, 3, 4}, {0, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5, 6, 7}};
    static const int counts[5] = {3, 4, 4, 5, 8};
    save_pictures(&l);
    save_model(false);
    save_text("cameras.txt", models[i].line);
    check_reads(test_folder, &l, KNOWN_POINTS);
    save_model(true);
    written.size = 0;
    put_unsigned(&written, 1, 8);
    put_unsigned(&written, 7, 4);
    put_unsigned(&written, (unsigned)i, 4);
    put_unsigned(&written, KNOWN_WIDTH, 8);
    put_unsigned(&written, KNOWN_HEIGHT, 8);
    for (int k = 0; k < counts[i]; ++k) put_double(&written, all[numbers[i][k]]);
    save(&written, "cameras.bin");
    save_text("cameras.txt", "not read where there is a cameras.bin");
    check_reads(test_folder, &l, KNOWN_POINTS);
    remove(test_path("cameras.bin"));
  }
}

static void test_colmap_text_refused(void) {
  static const struct {
    const char *file, *text, *part;
  } cases[] = {
      {"cameras.txt", "# none\n", "the model has no cameras"},
      {"cameras.txt", "7 FOV 160 120 1 2 3 4 5\n",
       "line 1: a camera of model 'FOV'; the legal "
       "models are: SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL, OPENCV"},
      {"cameras.txt", "7 PINHOLE 160 120 150 150 83\n", "line 1: a camera must be: CAMERA_ID"},
      {"cameras.txt", "7\n", "line 1: a camera must be"},
      {"cameras.txt", "x PINHOLE 160 120 150 150 83 57\n", "line 1: a camera must be"},
      {"cameras.txt", "-1 PINHOLE 160 120 150 150 83 57\n", "line 1: a camera must be"},
      {"cameras.txt", "7 PINHOLE 160 0 150 150 83 57\n", "line 1: a camera of 160 x 0 pixels"},
      {"cameras.txt", "7 PINHOLE nan 9 150 150 83 57\n", "a camera of nan x 9 pixels"},
      {"cameras.txt", "\n7 PINHOLE 160 120 0 150 83 57\n", "line 2: a camera's focal length is 0"},
      {"cameras.txt", "7 PINHOLE 160 120 nan 150 83 57\n", "focal length in x is nan"},
      {"cameras.txt", "7 PINHOLE 160 120 150 150 nan 57\n", "the principal point is nan"},
      {"cameras.txt", "7 RADIAL 160 120 150 83 57 inf 0\n", "a distortion of inf"},
      {"cameras.txt", "8 PINHOLE 160 120 150 150 83 57\n", "is of camera 7, which the model lacks"},
      {"cameras.txt", "7 PINHOLE 160 121 150 150 83 57\n", "its camera 160 x 121; they must agree"},
      {"images.txt", "#\n\n", "the model has no images"},
      {"images.txt", "1 1 0 0 0 0 0 7 a.ppm\n", "line 1: an image must be: IMAGE_ID QW"},
      {"images.txt", "1 1 0 0 0 0 0 0 7\n", "line 1: an image must be"},
      {"images.txt", "1 1 0 0 0 0 0 0 -7 a.ppm\n", "line 1: an image must be"},
      {"images.txt", "1 1 0 0 0 0 0 0 7x a.ppm\n", "line 1: an image must be"},
      {"images.txt", "1 0 0 0 0 0 0 0 7 a.ppm\n", "line 1: the pose of the image 'a.ppm' makes no"},
      {"images.txt", "1 nan 0 0 0 0 0 0 7 a.ppm\n", "the pose of the image 'a.ppm' makes no sense"},
      {"images.txt", "1 1 0 0 0 0 0 1e30 7 a.ppm\n", "translation of at most 1e+09"},
      {"images.txt", "1 1 0 0 0 0 0 0 7 sub/\n", "line 1: 'sub/' does not name a picture file"},
      {"images.txt", "1 1 0 0 0 0 0 0 7 no.ppm\n\n",
       "none of the pictures of 1 frames is there; "
       "the first is '"},
      {"points3D.txt", "1 2 3\n", "line 1: a point must be: POINT3D_ID X Y Z R G B"},
      {"points3D.txt", "1 2 3 nan 4 5 6 1\n", "line 1: the point number 1 makes no sense"},
      {"points3D.txt", "1 2 3 4 4 5 256 1\n", "its colours be 0 to 255"},
  };
  save_pictures(&KNOWN_LENS);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    save_model(false);
    save_text(cases[i].file, cases[i].text);
    check_refused(test_folder, cases[i].part);
  }
  save_model(false);
  remove(test_path("images.txt"));
  check_refused(test_folder, "images.txt': No such file or directory");
  make_folder("images.txt");
  check_refused(test_folder, "not a plain file");
  remove(test_path("images.txt"));
  save_model(false);
  CHECK(rename(test_path("images"), test_path("moved")) == 0, "cannot rename");
  check_refused(test_folder, "is no folder; it must hold the pictures of the model");
  CHECK(rename(test_path("moved"), test_path("images")) == 0, "cannot rename");
}

/* The file with 8 bytes replaced by a number. */
static void check_number_refused(const char *name, size_t at, unsigned long long number,
                                 const char *part) {
  size_t size;
  char *bytes = test_read_file(test_path(name), &size);
  memcpy(bytes + at, &number, 8);
  test_write_file(test_path(name), bytes, size);
  check_refused(test_folder, part);
  free(bytes);
  save_model(true);
}

static void test_colmap_binary_refused(void) {
  double nan = NAN;
  unsigned long long nan_bits;
  memcpy(&nan_bits, &nan, 8);
  save_model(true);
  check_number_refused("cameras.bin", 0, ~0ull, "18446744073709551615 cameras are announced, but");
  check_number_refused("cameras.bin", 0, 0, "the model has no cameras");
  check_number_refused("cameras.bin", 0, 3, "the file ends after 2 of 3 announced cameras");
  check_number_refused("cameras.bin", 8, 1 | 6ull << 32,
                       "camera 1 is of model number 6; the legal "
                       "models are 0 to 4: SIMPLE_PINHOLE");
  check_number_refused("cameras.bin", 8, 1 | 0xffffffffull << 32, "model number -1");
  check_number_refused("cameras.bin", 16, ~0ull, "pixels; each side must be 1 to 16384");
  check_number_refused("cameras.bin", 32, nan_bits, "focal length in x is nan");
  check_number_refused("images.bin", 0, 1ull << 31, "2147483648 images are announced, but only");
  check_number_refused("images.bin", 0, 0, "the model has no images");
  check_number_refused("images.bin", 12, nan_bits,
                       "the pose of the image 'c d.ppm' makes no sense");
  check_number_refused("images.bin", 68 + 4 + 8, 1ull << 62,
                       "the file ends after 0 of 5 announced");
  check_number_refused("points3D.bin", 0, 1ull << 31, "2147483648 points are announced, but only");
  check_number_refused("points3D.bin", 16, nan_bits, "the point number 1 makes no sense");
  check_number_refused("points3D.bin", 51, 1ull << 63,
                       "the file ends after 0 of 9 announced points");
}

/* ---- damage --------------------------------------------------------------------------------- */

/* Every shorter file; refused, unless it is text that may end anywhere. */
static void check_truncations(const char *name, bool always_refused) {
  size_t size;
  scene s;
  error_line error;
  scene_options o = options_plain(test_folder);
  o.most_views = 1; /* for speed */
  char *bytes = test_read_file(test_path(name), &size);
  for (size_t cut = 0; cut < size; ++cut) {
    test_write_file(test_path(name), bytes, cut);
    bool read = scene_read(&s, &o, &error);
    CHECK(!read || !always_refused, "%s was read when cut at %zu of %zu", name, cut, size);
    if (!read) check_line(&error, "");
    if (read) scene_free(&s);
  }
  test_write_file(test_path(name), bytes, size);
  free(bytes);
}

/* Some bytes become others: read or refused, but whatever is read is finite. */
static void check_mutations(const char *name, int count) {
  size_t size;
  scene s;
  error_line error;
  scene_options o = options_plain(test_folder);
  unsigned long long dice = 7;
  o.most_views = 1; /* for speed */
  char *bytes = test_read_file(test_path(name), &size), *changed = (char *)malloc(size);
  for (int i = 0; i < count; ++i) {
    memcpy(changed, bytes, size);
    for (int k = 0; k <= i % 3; ++k)
      changed[(size_t)(test_random(&dice) * (double)size)] = (char)(256.0 * test_random(&dice));
    test_write_file(test_path(name), changed, size);
    if (!scene_read(&s, &o, &error)) continue;
    CHECK(s.view_count > 0 && isfinite(s.extent) && s.extent > 0.0f, "extent %g", s.extent);
    for (int v = 0; v < s.view_count; ++v)
      CHECK(isfinite(s.views[v].camera.fx) && isfinite(s.views[v].camera.position[0]), "%d", v);
    for (int k = 0; k < 3; ++k)
      CHECK(isfinite(s.box_low[k]) && s.box_low[k] <= s.box_high[k], "%g", s.box_low[k]);
    scene_free(&s);
  }
  test_write_file(test_path(name), bytes, size);
  free(changed);
  free(bytes);
}

static void test_damage(void) {
  static const char *const files[7] = {"transforms.json", "cameras.bin", "images.bin",
                                       "points3D.bin",    "cameras.txt", "images.txt",
                                       "points3D.txt"};
  for (int i = 0; i < 7; ++i) {
    if (i == 0) {
      write_nerf(&written, &KNOWN_LENS);
      written.size -= 1; /* the last newline may be missing */
      save(&written, files[i]);
    } else {
      save_model(i < 4);
    }
    check_truncations(files[i], i < 4);
    check_mutations(files[i], 400);
    for (int k = 0; k < 7; ++k)
      if (i == 0 || i == 3 || i == 6) remove(test_path(files[k]));
  }
}

/* ---- a real capture ------------------------------------------------------------------------- */

#if IMAGE_HAVE_JPEG
static void test_fox(const char *path) {
  scene s;
  scene_options o = {path, 0.25f, 8, 0, false};
  if (!read_scene(&s, &o)) return;
  int held_out = 0;
  CHECK(s.view_count == 50 && s.absent_count == 17, "%d views, %d absent", s.view_count,
        s.absent_count);
  CHECK(strcmp(s.absent_name, "0005.jpg") == 0, "%s", s.absent_name);
  for (int i = 0; i < s.view_count; ++i) {
    const view *v = &s.views[i];
    float mean = 0.0f;
    int values = 3 * v->picture.width * v->picture.height;
    for (int k = 0; k < values; ++k) mean += v->picture.rgb[k] / values;
    CHECK(mean > 0.1f && mean < 0.9f, "%s: mean %g", v->name, mean);
    CHECK(v->camera.width >= 262 && v->camera.width <= 270 && v->camera.height >= 470 &&
              v->camera.height <= 480,
          "%d x %d", v->camera.width, v->camera.height);
    CHECK(fabsf(v->camera.fx - 1375.52f / 4) < 1.0f, "fx %g", v->camera.fx);
    held_out += v->held_out;
  }
  CHECK(held_out == 7 && strcmp(s.views[0].name, "0001.jpg") == 0, "%d held out", held_out);
  printf(
      "fox: %d x %d at a quarter, centre %.2f %.2f %.2f, extent %.2f, box %.2f %.2f %.2f to "
      "%.2f %.2f %.2f\n",
      s.views[0].camera.width, s.views[0].camera.height, s.centre[0], s.centre[1], s.centre[2],
      s.extent, s.box_low[0], s.box_low[1], s.box_low[2], s.box_high[0], s.box_high[1],
      s.box_high[2]);
  scene_free(&s);
}
#endif

int main(void) {
  const char *fox = getenv("ARC_DATA");
  if (fox != nullptr && fox[0] == '\0') fox = nullptr;
  test_json_values();
  test_json_refused();
  CHECK(test_folder_make(), "cannot make the folder %s", test_folder);
  test_same_scene();
  test_folding_lens();
  save_pictures(&KNOWN_LENS);
  test_nerf_lenses();
  test_cameras_only();
  test_nerf_frame_lens();
  test_nerf_frames();
  test_nerf_refused();
  test_options_refused();
  test_colmap_models();
  remove_tree(test_folder);
  CHECK(test_folder_make(), "cannot make the folder %s", test_folder);
  test_colmap_text_refused();
  test_colmap_binary_refused();
  remove_tree(test_folder);
  CHECK(test_folder_make(), "cannot make the folder %s", test_folder);
  save_pictures(&KNOWN_LENS);
  test_damage();
  remove_tree(test_folder);
#if IMAGE_HAVE_JPEG
  if (fox != nullptr) test_fox(fox);
  if (fox == nullptr) printf("ARC_DATA is not set, so the fox capture is not read\n");
#else
  if (fox != nullptr) printf("no libjpeg, so the fox capture is not read\n");
#endif
  return test_end("test_scene_formats");
}
