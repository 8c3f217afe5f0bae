/* arc study gaussians: .ply files survive a round trip and damaged ones are refused; scenes are
   measured; the procedural scene is what it says it is; parallel_for does every part once.
   SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "simt/simt.cuh"

#include "../../../bench/common/program_run.h"
#include "../scene/scene.h"
#include "test_scene_write.h"

/* ---- .ply ----------------------------------------------------------------------------------- */

/* Every value differs from every other. */
static gaussians_host gaussians_known(int count, int degree) {
  gaussians_host g;
  int coefficients = (degree + 1) * (degree + 1);
  CHECK(gaussians_allocate(&g, count, degree, &error), "%s", error.text);
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) g.position[3 * i + k] = 100.0f * i + k;
    for (int k = 0; k < 3; ++k) g.scale[3 * i + k] = -100.0f * i - 10.0f - k;
    for (int k = 0; k < 4; ++k) g.rotation[4 * i + k] = 100.0f * i + 20.0f + k;
    g.opacity[i] = 100.0f * i + 30.5f;
    for (int k = 0; k < 3 * coefficients; ++k) g.sh[48 * i + k] = 100.0f * i + 0.01f * (k + 1);
  }
  return g;
}

static void check_same(const gaussians_host *a, const gaussians_host *b) {
  CHECK(a->count == b->count && a->sh_degree == b->sh_degree, "%d of %d, %d of %d", a->count,
        a->sh_degree, b->count, b->sh_degree);
  if (a->count != b->count) return;
  CHECK(a->position == b->position, "positions differ");
  CHECK(a->scale == b->scale, "scales differ");
  CHECK(a->rotation == b->rotation, "rotations differ");
  CHECK(a->opacity == b->opacity, "opacities differ");
  CHECK(a->sh == b->sh, "harmonics differ");
}

static void check_reads(const char *path, const gaussians_host *wanted) {
  gaussians_host g;
  bool read = ply_read(&g, path, &error);
  CHECK(read, "%s", error.text);
  if (read) check_same(&g, wanted);
}

static void check_refused(const char *path, const char *part) {
  gaussians_host g;
  bool read = ply_read(&g, path, &error);
  test_refusal(!read, part);
}

/* More rows than are read at a time. */
static void test_ply_round_trip(void) {
  for (int degree = 0; degree <= 3; ++degree) {
    gaussians_host g = gaussians_known(degree == 1 ? 9001 : 1 + degree, degree);
    CHECK(ply_write(&g, test_path("a.ply"), &error), "%s", error.text);
    CHECK(test_folder_files(false) == 1, "%d files", test_folder_files(false));
    check_reads(test_path("a.ply"), &g);
  }
}

/* The bytes that other programs expect. */
static void test_ply_layout(void) {
  std::string written = "ply\nformat binary_little_endian 1.0\nelement vertex 2\n";
  gaussians_host g = gaussians_known(2, 1);
  static const char *const names[] = {
      "x",        "y",        "z",        "nx",       "ny",       "nz",       "f_dc_0",
      "f_dc_1",   "f_dc_2",   "f_rest_0", "f_rest_1", "f_rest_2", "f_rest_3", "f_rest_4",
      "f_rest_5", "f_rest_6", "f_rest_7", "f_rest_8", "opacity",  "scale_0",  "scale_1",
      "scale_2",  "rot_0",    "rot_1",    "rot_2",    "rot_3"};
  for (const char *name : names) written += std::string("property float ") + name + "\n";
  written += "end_header\n";
  for (int i = 0; i < 2; ++i) {
    static const int rest[9] = {3, 6, 9, 4, 7, 10, 5, 8, 11}; /* red's three, green's, blue's */
    for (int k = 0; k < 3; ++k) put_float(&written, g.position[3 * i + k]);
    for (int k = 0; k < 3; ++k) put_float(&written, 0.0f);
    for (int k = 0; k < 3; ++k) put_float(&written, g.sh[48 * i + k]);
    for (int k = 0; k < 9; ++k) put_float(&written, g.sh[48 * i + rest[k]]);
    put_float(&written, g.opacity[i]);
    for (int k = 0; k < 3; ++k) put_float(&written, g.scale[3 * i + k]);
    for (int k = 0; k < 4; ++k) put_float(&written, g.rotation[4 * i + k]);
  }
  CHECK(ply_write(&g, test_path("b.ply"), &error), "%s", error.text);
  CHECK(test_read_file(test_path("b.ply")) == written, "other bytes");
}

/* b.ply with one text in its header replaced, as d.ply. */
static std::string save_changed(const char *from, const char *to) {
  std::string bytes = test_read_file(test_path("b.ply"));
  const size_t at = bytes.find(from);
  CHECK(at != bytes.npos, "no text '%s'", from);
  if (at != bytes.npos) bytes.replace(at, strlen(from), to);
  test_write_file(test_path("d.ply"), bytes);
  return bytes;
}

static void check_header_refused(const char *from, const char *to, const char *part) {
  save_changed(from, to);
  check_refused(test_path("d.ply"), part);
}

/* What other programs write of the two Gaussians of b.ply: lines with these ends, the properties in
   another order and of other types, more of them, and elements before and behind. */
static std::string foreign_file(const gaussians_host *g, const char *end, bool more) {
  static const char *const names[][2] = {
      {"float32", "rot_3"}, {"float", "rot_2"}, {"double", "rot_1"},  {"float64", "rot_0"},
      {"uchar", "red"},     {"int16", "id"},    {"float", "opacity"}, {"float", "z"},
      {"float", "y"},       {"float", "x"}};
  std::string text = std::string("ply") + end, rows;
  const auto line = [&](const std::string &words) { text += words + end; };
  line("comment\tany   \x1b[31m thing " + std::string(5000, 'c'));
  line("format   binary_little_endian\t1.0 ");
  line("obj_info num_cols 512");
  if (more) line("element camera 3"), line("property uint a"), line("property int8 b");
  line("element vertex   0000002  ");
  for (const auto &name : names)
    line(std::string("property ") + name[0] + "  " + name[1]), line("comment end_header");
  for (const char *name : {"f_dc_", "scale_"})
    for (int i = 2; i >= 0; --i) line("property float " + (name + std::to_string(i)));
  for (int i = 0; i < 9; ++i) line("property float f_rest_" + std::to_string(i));
  if (more) line("element face 1"), line("property list uchar int vertex_indices");
  line("end_header");
  if (more) rows.append(15, '\n');
  for (int i = 0; i < 2; ++i) {
    const float *q = &g->rotation[4 * i], *sh = &g->sh[48 * i];
    const double turns[2] = {q[1], q[0]};
    put_float(&rows, q[3]), put_float(&rows, q[2]);
    rows.append((const char *)turns, sizeof turns);
    rows.append("\n\r\n");
    put_float(&rows, g->opacity[i]);
    for (int k = 2; k >= 0; --k) put_float(&rows, g->position[3 * i + k]);
    for (int k = 2; k >= 0; --k) put_float(&rows, sh[k]);
    for (int k = 2; k >= 0; --k) put_float(&rows, g->scale[3 * i + k]);
    for (int k = 0; k < 9; ++k) put_float(&rows, sh[3 * (k % 3 + 1) + k / 3]);
  }
  if (more) rows.append("\x01zzzz");
  return text + rows;
}

static void test_ply_foreign(void) {
  gaussians_host g = gaussians_known(2, 1);
  for (const char *end : {"\n", "\r\n", "\r"})
    for (bool more : {false, true}) {
      test_write_file(test_path("d.ply"), foreign_file(&g, end, more));
      check_reads(test_path("d.ply"), &g);
    }
  gaussians_host clear = gaussians_known(2, 1);
  g.opacity[0] = FLT_MAX, clear.opacity[0] = INFINITY;
  g.opacity[1] = -FLT_MAX, clear.opacity[1] = -INFINITY;
  test_write_file(test_path("d.ply"), foreign_file(&clear, "\n", false));
  check_reads(test_path("d.ply"), &g);
  clear.opacity[1] = NAN;
  test_write_file(test_path("d.ply"), foreign_file(&clear, "\n", false));
  check_refused(test_path("d.ply"), "the property 'opacity' of vertex 1 is nan");
  const std::string bytes = foreign_file(&g, "\n", false);
  test_write_file(test_path("d.ply"), bytes + "z");
  check_refused(test_path("d.ply"), "bytes of vertices, where 2 of ");
  test_write_file(test_path("d.ply"),
                  "ply\nformat binary_little_endian 1.0\nelement face 1\n"
                  "property list uchar int i\nelement vertex 1\n"
                  "property float x\nend_header\n");
  check_refused(test_path("d.ply"), "a list of properties in or before its element vertex");
}

static void test_ply_refused(void) {
  static const char *const lines[][3] = {
      {"ply\n", "plx\n", "it does not begin with a line 'ply'"},
      {"format binary_little_endian", "format ascii", "line 2 of its header is 'format ascii 1.0'"},
      {"endian 1.0", "endian 2.0", "line 2 of its header"},
      {"format binary_little_endian 1.0\n", "", "line 2 of its header is 'element vertex 2'"},
      {"element vertex", "element face", "its header has no element vertex"},
      {"element vertex 2\n", "", "line 3 of its header is 'property float x'; it must be"},
      {"vertex 2\n", "vertex\n", "line 3 of its header"},
      {"vertex 2\n", "vertex 2x\n", "line 3 of its header"},
      {"vertex 2\n", "vertex -1\n", "line 3 of its header"},
      {"vertex 2\n", "vertex 2147483648\n", "line 3 of its header"},
      {"vertex 2\n", "vertex 2\nelement vertex 2\n", "line 4 of its header"},
      {"vertex 2\n", "vertex 2\n\x1b[31m\n", "line 4 of its header is '\\x1b[31m'"},
      {"float rot_3", "half rot_3", "of its header is 'property half rot_3'"},
      {"f_rest_8\n", "f_rest_8\nproperty float f_rest_9\n", "it has 10 properties f_rest_; there"},
      {"f_rest_8\n", "f_rest_9\n", "its element vertex lacks the properties f_rest_8"},
      {"property float nx\n", "property float x\n", "it has the property x twice"},
      {"rot_3\n", "rot\nproperty list uchar int rot_3\n", "a list of properties"},
      {"float y\nproperty float z", "float up", "lacks the properties y z"},
      {"end_header", "more_header", "of its header is 'more_header'"}};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
    check_header_refused(lines[i][0], lines[i][1], lines[i][2]);
  check_header_refused("element", ("comment " + std::string(1 << 20, 'c')).c_str(),
                       "no end_header within 1048576 bytes");
  check_header_refused("vertex 2", "vertex 0", "208 bytes of vertices, where 0 of 104 bytes each");
  check_header_refused("vertex 2", "vertex 3", "208 bytes of vertices, where 3 of 104 bytes each");
  test_write_file(test_path("d.ply"), "");
  check_refused(test_path("d.ply"), "it does not begin with");
  check_refused(test_path("absent.ply"), "No such file or directory");
  check_refused(test_folder, "cannot read");

  gaussians_host g = gaussians_known(2, 1);
  std::string bytes = save_changed("element", "comment by hand\ncomment \nelement");
  check_reads(test_path("d.ply"), &g);
  char *row = &bytes[bytes.size() - 2 * 26 * 4];
  memcpy(row + 3 * 4, "\x00\x00\x80\x7f", 4); /* a normal, which nobody reads */
  memcpy(row + 19 * 4, "\x00\x00\x80\x7f", 4);
  test_write_file(test_path("d.ply"), bytes);
  check_refused(test_path("d.ply"), "the property 'scale_0' of vertex 0 is inf; it must be finite");
  memset(row + 19 * 4, 0, 7 * 4);
  test_write_file(test_path("d.ply"), bytes);
  check_refused(test_path("d.ply"), "the rotation of vertex 0 is 0 0 0 0");
}

static void test_ply_damage(void) {
  gaussians_host g = gaussians_known(3, 1), back;
  unsigned long long dice = 3;
  CHECK(ply_write(&g, test_path("e.ply"), &error), "%s", error.text);
  const std::string bytes = test_read_file(test_path("e.ply"));
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    test_write_file(test_path("e.ply"), bytes.substr(0, cut));
    check_refused(test_path("e.ply"), "cannot read");
  }
  for (int i = 0; i < 3000; ++i) {
    test_write_file(test_path("e.ply"), test_damaged(bytes, 1 + i % 3, &dice));
    if (!ply_read(&back, test_path("e.ply"), &error)) continue;
    for (int k = 0; k < 3 * back.count; ++k) CHECK(isfinite(back.position[k]), "value %d", k);
  }
}

static void test_ply_unwritable(void) {
  gaussians_host g = gaussians_known(1, 0), other;
  test_folder_files(true);
  test_refusal(!ply_write(&g, test_path("no/such/folder.ply"), &error),
               "No such file or directory");
  test_refusal(!ply_write(&g, "/dev/full", &error), "not a plain file");
  CHECK(test_folder_files(false) == 0, "%d files are left", test_folder_files(false));
  g.scale[1] = NAN;
  test_refusal(!ply_write(&g, test_path("f.ply"), &error),
               "f.ply': scale_1 of Gaussian 0 is nan; it must be finite");
  CHECK(test_folder_files(false) == 0, "%d files are left", test_folder_files(false));
  test_refusal(!gaussians_allocate(&other, 0, 0, &error),
               "0 Gaussians; there must be 1 to 100000000");
  test_refusal(!gaussians_allocate(&other, 1, 4, &error),
               "spherical harmonics of degree 4; it must be 0 to 3");
}

/* The disk is full, as far as this program can tell: neither a part nor a temporary file stays. */
static void test_ply_no_room(void) {
  gaussians_host g = gaussians_known(2000, 3);
  struct rlimit before, small;
  test_folder_files(true);
  signal(SIGXFSZ, SIG_IGN);
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0, "no limit to change");
  small = before;
  small.rlim_cur = 100000;
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0, "cannot limit files");
  const bool written = ply_write(&g, test_path("g.ply"), &error);
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0, "cannot lift the limit");
  test_refusal(!written, "g.ply': File too large");
  CHECK(test_folder_files(false) == 0, "%d files are left", test_folder_files(false));
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* Stands at x, y, 0 and looks along the plane by an angle, z up. */
static camera camera_level(double x, double y, double angle) {
  camera c = {100, 100, 100.0f, 100.0f, 50.0f, 50.0f, {}, {(float)x, (float)y, 0.0f}};
  double s = sin(angle), k = cos(angle);
  const double rows[3][3] = {{s, -k, 0}, {0, 0, -1}, {k, s, 0}};
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 3; ++i) c.world_to_camera[row][i] = (float)rows[row][i];
    c.world_to_camera[row][3] = (float)-(rows[row][0] * x + rows[row][1] * y);
  }
  return c;
}

static void test_measure(void) {
  scene s = {};
  s.views.resize(12);
  for (int i = 0; i < 12; ++i) {
    double angle = 0.5235987756 * i;
    s.views[i].camera = camera_level(5.0 + 2.0 * cos(angle), 3.0 + 2.0 * sin(angle), angle + M_PI);
  }
  scene_measure(&s); /* a ring that looks inwards */
  CHECK(fabsf(s.centre[0] - 5.0f) < 1e-5f && fabsf(s.centre[1] - 3.0f) < 1e-5f, "%g %g",
        s.centre[0], s.centre[1]);
  CHECK(fabsf(s.extent - 2.2f) < 1e-5f, "extent %g", s.extent);
  for (int k = 0; k < 3; ++k) {
    float low = s.box_low[k] - s.centre[k], high = s.box_high[k] - s.centre[k];
    CHECK(low < -0.6f && low > -2.1f && high > 0.6f && high < 2.1f, "axis %d: %g to %g", k, low,
          high);
  }
  for (int i = 0; i < 12; ++i)
    s.views[i].camera = camera_level(5.0 + 2.0 * cos(0.5235987756 * i),
                                     3.0 + 2.0 * sin(0.5235987756 * i), 0.5235987756 * i);
  scene_measure(&s); /* one that looks outwards: nothing in common, but all of it is seen */
  CHECK(s.box_low[0] < 3.0f && s.box_high[0] > 7.0f && s.box_high[0] < 40.0f, "%g to %g",
        s.box_low[0], s.box_high[0]);
  s.views.resize(1);
  scene_measure(&s);
  CHECK(s.extent == 1.0f && s.box_low[0] < s.box_high[0], "%g, %g to %g", s.extent, s.box_low[0],
        s.box_high[0]);
  s.points = {{{1, 2, 3}, {}}, {{-1, 5, 3}, {}}, {{0, 0, 4}, {}}};
  scene_measure(&s);
  CHECK(s.box_low[0] == -1.0f && s.box_low[1] == 0.0f && s.box_low[2] == 3.0f &&
            s.box_high[0] == 1.0f && s.box_high[1] == 5.0f && s.box_high[2] == 4.0f,
        "not the box of the points");
}

/* ---- the procedural scene ------------------------------------------------------------------- */

/* Turned, not mirrored, towards the middle. */
static void check_cameras(const scene *s, int width, int height) {
  for (int i = 0; i < (int)s->views.size(); ++i) {
    const view *v = &s->views[i];
    const camera *c = &v->camera;
    const float *x = c->world_to_camera[0], *y = c->world_to_camera[1], *z = c->world_to_camera[2];
    const double handed = z[0] * (x[1] * y[2] - x[2] * y[1]) + z[1] * (x[2] * y[0] - x[0] * y[2]) +
                          z[2] * (x[0] * y[1] - x[1] * y[0]);
    CHECK(v->held_out == (i % 8 == 0) && v->picture.rgb.empty() && v->picture.width == width &&
              v->picture.height == height && c->width == width && c->height == height,
          "view %d", i);
    CHECK(fabs(handed - 1.0) < 1e-5 && x[2] == 0.0f && y[2] < -0.9f, "view %d: z is not up", i);
    CHECK(fabs(x[3]) < 1e-5 && fabs(y[3]) < 1e-5 && z[3] > 1.0f, "view %d looks elsewhere", i);
  }
}

static bool make_scene(scene *s, gaussians_host *g, scene_kind kind, int count, int width,
                       int height, unsigned seed) {
  bool made = scene_procedural(s, g, kind, count, 16, width, height, seed, &error);
  CHECK(made, "%s", error.text);
  return made;
}

static void check_gaussians(const scene *s, const gaussians_host *g) {
  int degrees[4] = {}, opaque = 0;
  for (int i = 0; i < g->count; ++i) {
    const float *sh = &g->sh[48 * i];
    float first = fabsf(sh[3]), second = fabsf(sh[12]), third = fabsf(sh[27]);
    degrees[third > 0.0f ? 3 : second > 0.0f ? 2 : first > 0.0f ? 1 : 0] += 1;
    opaque += g->opacity[i] > 0.0f;
    CHECK(fabsf(g->position[3 * i]) < 3.0f && fabsf(g->position[3 * i + 2]) < 1.5f, "far: %d", i);
  }
  CHECK(degrees[0] == 0 && degrees[1] > g->count / 4 && degrees[2] > g->count / 4 &&
            degrees[3] > g->count / 4,
        "%d %d %d", degrees[1], degrees[2], degrees[3]);
  CHECK(opaque > g->count / 3 && opaque < 2 * g->count / 3, "%d opaque", opaque);
  const int points = (int)s->points.size();
  CHECK(points == (g->count + 3) / 4, "%d points", points);
  for (int i = 0; i < points; ++i)
    for (int k = 0; k < 3; ++k) {
      const scene_point *p = &s->points[i];
      double apart = fabs(p->position[k] - g->position[12 * i + k]);
      CHECK(apart < 0.3 && p->rgb[k] >= 0.0f && p->rgb[k] <= 1.0f, "point %d: %g", i, apart);
    }
  CHECK(s->extent > 2.0f && s->extent < 4.0f && s->box_low[0] < -0.5f && s->box_high[2] > 0.3f,
        "extent %g", s->extent);
}

static void test_procedural(void) {
  scene s, other;
  gaussians_host g, other_g;
  for (int kind = SCENE_SMALL; kind <= SCENE_LARGE; ++kind) {
    if (!make_scene(&s, &g, (scene_kind)kind, 3001, 1920, 1080, 5)) continue;
    check_cameras(&s, 1920, 1080);
    check_gaussians(&s, &g);
  }
  for (unsigned seed = 1; seed <= 2; ++seed) {
    if (!make_scene(&s, &g, SCENE_MEDIUM, 500, 64, 48, 1) ||
        !make_scene(&other, &other_g, SCENE_MEDIUM, 500, 64, 48, seed))
      return;
    CHECK((g.position == other_g.position) == (seed == 1), "seed %u", seed);
  }
}

/* ---- cameras for a model -------------------------------------------------------------------- */

/* Where the camera sees the point, in pictures of width and height 1. */
static void see(const camera *c, const float *p, double *u, double *v, double *depth) {
  double at[3];
  for (int row = 0; row < 3; ++row) {
    const float *m = c->world_to_camera[row];
    at[row] = m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3];
  }
  *depth = at[2];
  *u = (c->fx * at[0] / at[2] + c->cx) / c->width;
  *v = (c->fy * at[1] / at[2] + c->cy) / c->height;
}

/* All cameras look at the middle, from outside, and see nearly all of the Gaussians; the few that
   are far away change nothing. */
static void test_orbit(void) {
  enum { COUNT = 3000, FAR = 100, VIEWS = 7 };
  static const float middle[3] = {50.0f, -30.0f, 20.0f};
  gaussians_host g = gaussians_known(COUNT, 0);
  unsigned long long seed = 3;
  scene s;
  for (int i = 0; i < 3 * COUNT; ++i)
    g.position[i] = middle[i % 3] + (float)(8.0 * test_random(&seed) - 4.0);
  for (int i = 0; i < 3 * FAR; ++i) g.position[i] += 5000.0f;
  scene_orbit(&s, &g, VIEWS, 320, 200);
  CHECK(s.views.size() == VIEWS, "%zu views", s.views.size());
  for (int i = 0; i < (int)s.views.size(); ++i) {
    const camera *c = &s.views[i].camera, *before = &s.views[(i + VIEWS - 1) % VIEWS].camera;
    double u, v, depth;
    int inside = 0;
    see(c, middle, &u, &v, &depth);
    CHECK(fabs(u - 0.5) < 0.03 && fabs(v - 0.5) < 0.03 && depth > 6.0 && depth < 30.0,
          "the middle is at %g, %g, %g away", u, v, depth);
    for (int k = FAR; k < COUNT; ++k) {
      see(c, &g.position[3 * k], &u, &v, &depth);
      inside += depth > 0.2 && u > 0.0 && u < 1.0 && v > 0.0 && v < 1.0;
    }
    CHECK(inside > 0.9 * (COUNT - FAR), "view %d sees %d", i, inside);
    CHECK(c->world_to_camera[1][2] < -0.9f && c->world_to_camera[0][2] == 0.0f, "z is not up");
    CHECK(hypot(c->position[0] - before->position[0], c->position[1] - before->position[1]) > 5.0,
          "views %d and the one before stand together", i);
  }
}

/* What was in the picture still is, the rays are the same, and one side is filled. */
static void test_resize(void) {
  static const int sizes[3][2] = {{7680, 4320}, {100, 400}, {31, 20}};
  for (int i = 0; i < 3; ++i) {
    camera from = camera_level(1.0, 2.0, 0.3), to;
    from.cx += 3.0f, from.cy -= 2.0f, from.fy *= 1.1f;
    to = from;
    camera_resize(&to, sizes[i][0], sizes[i][1]);
    double scale = fmin((double)to.width / from.width, (double)to.height / from.height);
    double left = to.cx - scale * from.cx, top = to.cy - scale * from.cy;
    CHECK(to.width == sizes[i][0] && to.height == sizes[i][1], "%d x %d", to.width, to.height);
    CHECK(fabs(to.fx - scale * from.fx) < 1e-3 * scale && fabs(to.fy - scale * from.fy) < 0.1,
          "%g %g", to.fx, to.fy);
    CHECK(left > -1e-2 && top > -1e-2 && fmin(left, top) < 1e-2 &&
              fabs(2.0 * left + scale * from.width - to.width) < 1e-2 &&
              fabs(2.0 * top + scale * from.height - to.height) < 1e-2,
          "margins %g and %g", left, top);
  }
}

/* ---- parallel_for --------------------------------------------------------------------------- */

typedef struct parallel_parts {
  std::atomic<int> begun[100], waiting, alone;
  int failing;
} parallel_parts;

/* The first two wait for each other. */
static bool do_part(parallel_parts *p, int i) {
  p->begun[i] += 1;
  if (i < 2) p->waiting += 1;
  for (int ms = 0; i < 2 && p->waiting < 2 && ms < 3000; ++ms) usleep(1000);
  if (p->waiting < 2) p->alone = 1;
  return i != p->failing;
}

static void test_parallel(void) {
  parallel_parts all = {}, some = {}, none = {};
  all.failing = none.failing = -1;
  some.failing = 40;
  const auto do_parts = [](parallel_parts *p) {
    return parallel_for(100, "parts", [p](int i) { return do_part(p, i); });
  };
  CHECK(do_parts(&all) == 100, "not all parts are done");
  for (int i = 0; i < 100; ++i)
    CHECK(all.begun[i] == 1, "part %d: %d times", i, all.begun[i].load());
  if (std::thread::hardware_concurrency() > 1)
    CHECK(all.alone == 0, "parts are done one after another");
  int done = do_parts(&some);
  CHECK(done >= 40 && done < 99, "%d parts are done, though one has failed", done);
  for (int i = 0; i <= 40; ++i) CHECK(some.begun[i] == 1, "part %d is left out", i);
  interrupts = 1;
  CHECK(do_parts(&none) == 0 && none.begun[0] == 0, "begun all the same");
  interrupts = 0;
}

int main(void) {
  test_folder_make();
  test_ply_round_trip();
  test_ply_layout();
  test_ply_foreign();
  test_ply_refused();
  test_ply_damage();
  test_ply_unwritable();
  test_ply_no_room();
  test_folder_remove();
  test_measure();
  test_procedural();
  test_orbit();
  test_resize();
  test_parallel();
  return test_end("test_scene_models");
}
