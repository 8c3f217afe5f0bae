/* arc study gaussians: a scene's folder is read as it was written; a damaged one is refused with a
   reason.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "../../../bench/common/program_run.h"
#include "test_scene_write.h"

static scene_options options_plain(void) {
  scene_options o = {test_folder, 8, 0, false};
  return o;
}

static bool read_scene(scene *s, const scene_options *o) {
  bool read = scene_read(s, o, &error);
  CHECK(read, "%s", error.text);
  return read;
}

static void check_refused(const scene_options *o, const char *part) {
  scene s;
  test_refusal(!scene_read(&s, o, &error), part);
}

/* ---- what was written ----------------------------------------------------------------------- */

static void check_view(const view *v, int known, bool pictures) {
  camera c = camera_known(known);
  CHECK(strcmp(v->name, KNOWN_NAMES[known]) == 0, "%s, not %s", v->name, KNOWN_NAMES[known]);
  CHECK(v->picture.width == KNOWN_WIDTH && v->picture.height == KNOWN_HEIGHT, "another size");
  CHECK(pictures == !v->picture.rgb.empty(), "%s: the picture", v->name);
  CHECK(!pictures || fabsf(v->picture.rgb[7] - grey_known(known)) < 1e-6f, "another picture");
  for (int k = 0; k < 3; ++k) {
    CHECK(fabsf(v->camera.position[k] - c.position[k]) < 1e-5f, "%s: position", v->name);
  }
  memcpy(c.position, v->camera.position, sizeof c.position);
  CHECK(memcmp(&c, &v->camera, sizeof c) == 0, "%s: the camera differs", v->name);
}

static void check_scene(const scene *s, bool pictures, int points) {
  CHECK(s->views.size() == KNOWN_VIEWS && (int)s->points.size() == points, "%zu, %zu",
        s->views.size(), s->points.size());
  for (int i = 0; i < (int)s->views.size(); ++i) {
    check_view(&s->views[i], i, pictures);
    CHECK(s->views[i].held_out == (i == 0), "view %d", i);
  }
  for (int i = 0; i < (int)s->points.size(); ++i) {
    const scene_point *p = &s->points[i];
    CHECK(p->position[0] == i && p->position[1] == 0.5f * i && p->position[2] == -(i + 0.25f),
          "point %d: %g %g %g", i, p->position[0], p->position[1], p->position[2]);
    CHECK(p->rgb[0] == (float)(10 * i / 255.0) && p->rgb[1] == 0.2f && p->rgb[2] == 1.0f,
          "point %d: %g %g", i, p->rgb[0], p->rgb[1]);
  }
  CHECK(s->extent > 0.0f && s->box_low[0] < s->box_high[0], "not measured");
}

static void check_reads(const scene_options *o, bool pictures, int points) {
  scene s;
  if (read_scene(&s, o)) check_scene(&s, pictures, points);
}

static void test_reads(void) {
  scene_options o = options_plain();
  check_reads(&o, true, KNOWN_POINTS);
  o.cameras_only = true;
  check_reads(&o, false, KNOWN_POINTS);
  o.path = test_path("cameras.txt");
  check_reads(&o, false, 0);
  o = options_plain();
  remove(test_path("points.txt"));
  check_reads(&o, true, 0);
  save_points();
}

/* Lines as other systems end them, behind a byte order mark. */
static void test_line_ends(void) {
  scene_options o = options_plain();
  std::string lines = "\xef\xbb\xbf";
  for (char c : test_read_file(test_path("cameras.txt")))
    lines += c == '\n' ? "\r\n" : std::string(1, c);
  test_write_file(test_path("cameras.txt"), lines);
  check_reads(&o, true, KNOWN_POINTS);
  save_cameras("cameras.txt");
}

static void test_which_views(void) {
  scene s;
  scene_options o = options_plain();
  o.most_views = 2;
  o.hold_out = 1;
  if (read_scene(&s, &o)) {
    CHECK(s.views.size() == 2 && s.views[0].held_out && s.views[1].held_out, "not two");
    check_view(&s.views[0], 0, true);
    check_view(&s.views[1], 2, true);
    scene_split(&s, 0);
    CHECK(!s.views[0].held_out && !s.views[1].held_out, "held out");
  }
  o.most_views = 100;
  o.hold_out = 8;
  check_reads(&o, true, KNOWN_POINTS);
}

/* ---- what is refused ------------------------------------------------------------------------ */

#define POSE "1 0 0 0 0 1 0 0 0 0 1 5"

static void test_tables_refused(void) {
  static const struct {
    const char *file, *text, *part;
  } cases[] = {
      {"cameras.txt", "", "cameras.txt': line 1 must be 'cameras N', N from 1 to 1000000"},
      {"cameras.txt", "points 1\n", "line 1 must be 'cameras N'"},
      {"cameras.txt", "# no\ncameras 0\n", "line 2 must be 'cameras N', N from 1"},
      {"cameras.txt", "cameras 99999999999999\n", "line 1 must be 'cameras N'"},
      {"cameras.txt", "cameras 2\n32 24 9 9 4 4 " POSE " a\n",
       "line 3, number 2 of 2 cameras, must be width and height (1 to 16384), fx fy (0.01 to"},
      {"cameras.txt", "cameras 1\n32 24 9 9 4 4 " POSE " a", "line 2, number 1 of 1"},
      {"cameras.txt", "cameras 1\n32 24 9 9 4 4 " POSE " a\n#\n",
       "there is more after the 1 cameras"},
      {"cameras.txt", "cameras 1\n32 24 9 9 4 4 " POSE "\n", "line 2, number 1"},
      {"cameras.txt", "cameras 1\n32 24 9 9 4 4 " POSE " ../a\n", "line 2, number 1"},
      {"cameras.txt", "cameras 1\n0 24 9 9 4 4 " POSE " a\n", "line 2, number 1"},
      {"cameras.txt", "cameras 1\n32.5 24 9 9 4 4 " POSE " a\n", "line 2, number 1"},
      {"cameras.txt", "cameras 1\n32 24 9 nan 4 4 " POSE " a\n", "line 2, number 1"},
      {"cameras.txt", "cameras 1\n32 24 9 9 4 4 1 0 0 1e10 0 1 0 0 0 0 1 5 a\n", "line 2, number"},
      {"cameras.txt", "cameras 1\n32 24 9 9 4 4 -1 0 0 0 0 1 0 0 0 0 1 5 a\n", "line 2, number"},
      {"cameras.txt", "cameras 1\n32 24 9 9 4 4 2 0 0 0 0 .5 0 0 0 0 1 5 a\n", "line 2, number"},
      {"cameras.txt", "cameras 1\n32 24 9 9 4 4 1 .01 0 0 0 1 0 0 0 0 1 5 a\n", "line 2, number"},
      {"cameras.txt", "cameras 1\n32 24 9 9 4 4 " POSE "a\n", "line 2, number 1"},
      {"points.txt", "points 0\n", "points.txt': line 1 must be 'points N', N from 1 to 100000000"},
      {"points.txt", "points 2\n1 2 3 4 5 6\n1 2 3 4 5\n",
       "line 3, number 2 of 2 points, must be x y z (up to 1e9) and red green blue (0 to 255)"},
      {"points.txt", "points 1\n1 2 3 4 5 256\n", "line 2, number 1"},
      {"points.txt", "points 1\n1 2 3 4 5 6 7\n", "line 2, number 1"},
  };
  scene_options o = options_plain();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    test_write_file(test_path(cases[i].file), cases[i].text);
    check_refused(&o, cases[i].part);
    save_cameras("cameras.txt");
    save_points();
  }
  const std::string line = "cameras 1\n32 24 9 9 4 4 " POSE " ";
  test_write_file(test_path("cameras.txt"), line + std::string(128, 'n') + "\n");
  check_refused(&o, "a picture's name (127 bytes, no /)");
  test_write_file(test_path("cameras.txt"), line + std::string(2000, 'n'));
  check_refused(&o, "line 2, number 1");
  save_cameras("cameras.txt");
}

static void test_folders_refused(void) {
  scene_options o = options_plain();
  o.path = test_path("absent");
  check_refused(&o, "absent/cameras.txt': No such file or directory; convert.py makes the folder");
  o.path = test_path("cameras.txt");
  check_refused(&o, "Not a directory");
  o.path = "/dev/null";
  o.cameras_only = true;
  check_refused(&o, "Not a directory");
}

/* Of two pictures that cannot be read the first is told, though it fails later. */
static void test_pictures_refused(void) {
  scene_options o = options_plain();
  test_write_file(test_path("images/b.ppm"), "P6 2000 1500 255\n" + std::string(8999983, '\0'));
  remove(test_path("images/a.ppm"));
  for (int i = 0; i < 5; ++i) check_refused(&o, "images/b.ppm': PPM is cut short");
  save_picture(0);
  check_refused(&o, "images/a.ppm': No such file or directory");
  test_write_file(test_path("images/a.ppm"), "P6 2 1 255\nabcdef");
  check_refused(&o, "images/a.ppm' has 2 x 1 pixels, its camera 32 x 24");
  save_picture(1);
  interrupts = 1;
  check_refused(&o, "interrupted before line 1");
  interrupts = 0;
}

/* ---- damage --------------------------------------------------------------------------------- */

/* Cut short, a text is refused; with bytes changed, whatever is read is finite. */
static void check_damage(const char *name) {
  scene s;
  scene_options o = options_plain();
  unsigned long long dice = 7;
  o.cameras_only = true; /* for speed */
  const std::string bytes = test_read_file(test_path(name));
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    test_write_file(test_path(name), bytes.substr(0, cut));
    check_refused(&o, name);
  }
  for (int i = 0; i < 400; ++i) {
    test_write_file(test_path(name), test_damaged(bytes, 1 + i % 3, &dice));
    if (!scene_read(&s, &o, &error)) continue;
    CHECK(s.views.size() == KNOWN_VIEWS && isfinite(s.extent) && s.extent > 0.0f, "%g", s.extent);
    for (int k = 0; k < 3; ++k)
      CHECK(isfinite(s.box_low[k]) && s.box_low[k] <= s.box_high[k], "%g", s.box_low[k]);
  }
  test_write_file(test_path(name), bytes);
}

int main(void) {
  test_folder_make();
  save_scene();
  test_reads();
  test_line_ends();
  test_which_views();
  test_tables_refused();
  test_folders_refused();
  test_pictures_refused();
  check_damage("cameras.txt");
  check_damage("points.txt");
  test_folder_remove();
  return test_end("test_scene_folder");
}
