/* arc examples: pictures survive a round trip, damaged ones are refused with a reason.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "simt/simt.cuh"

#include "image_io.h"
#include "test_files.h"

static double largest_difference(const image *a, const image *b) {
  double largest = 0.0;
  if (a->width != b->width || a->height != b->height) return INFINITY;
  for (int i = 0; i < 3 * a->width * a->height; ++i)
    largest = fmax(largest, fabs(a->rgb[i] - b->rgb[i]));
  return largest;
}

/* The file must be refused, with one line that holds every given part. */
static void check_refused(const char *path, const char *part) {
  image picture;
  error_line error = {""};
  bool read = image_read(&picture, path, &error);
  CHECK(!read, "%s was read", path);
  CHECK(read || strstr(error.text, part) != nullptr, "'%s' lacks '%s'", error.text, part);
  CHECK(strchr(error.text, '\n') == nullptr, "more than a line: %s", error.text);
}

static void check_bytes_refused(const void *bytes, size_t size, const char *part) {
  test_write_file(test_path("damaged"), bytes, size);
  check_refused(test_path("damaged"), part);
}

/* Writes, reads; nothing but the file is left in the folder. */
static void check_round_trip(const char *name, int width, int height) {
  image picture = image_procedural(width, height), back;
  error_line error;
  picture.rgb[0] = -0.5f; /* what the format cannot hold is clamped */
  picture.rgb[1] = 1.5f;
  picture.rgb[2] = NAN;
  CHECK(image_write(&picture, test_path(name), &error), "%s", error.text);
  CHECK(test_folder_files(false) == 1, "%d files", test_folder_files(false));
  picture.rgb[0] = 0.0f;
  picture.rgb[1] = 1.0f;
  picture.rgb[2] = 0.0f;
  bool read = image_read(&back, test_path(name), &error);
  CHECK(read, "%s", error.text);
  if (read) {
    double apart = largest_difference(&picture, &back);
    CHECK(apart <= 0.5 / 255.0 + 1e-6, "%s: off by %g", name, apart);
  }
  test_folder_files(true);
}

/* Every file cut short before its last `ending` bytes is refused. */
static void check_prefixes(const char *bytes, size_t size, size_t ending, size_t stride) {
  for (size_t cut = 0; cut + ending < size; cut += stride)
    check_bytes_refused(bytes, cut, "damaged");
  test_folder_files(true);
}

static void test_ppm(void) {
  error_line error;
  image picture;
  check_round_trip("a.ppm", 1, 1);
  check_round_trip("b.PPM", 37, 5);

  const char commented[] =
      "P6 # made by hand\n# width\n2\t1\n#maximum\n255\n\x00\x33\xff\x66\x99\xcc";
  test_write_file(test_path("c.ppm"), commented, sizeof commented - 1);
  bool read = image_read(&picture, test_path("c.ppm"), &error);
  CHECK(read, "%s", error.text);
  if (read) {
    static const float wanted[6] = {0.0f, 0.2f, 1.0f, 0.4f, 0.6f, 0.8f};
    for (int i = 0; i < 6; ++i)
      CHECK(fabsf(picture.rgb[i] - wanted[i]) < 1e-6f, "%d: %g", i, picture.rgb[i]);
  }
  const char deep[] = "P6 1 1 65535 \x80\x00\xff\xff\x00\x01";
  test_write_file(test_path("d.ppm"), deep, sizeof deep - 1);
  read = image_read(&picture, test_path("d.ppm"), &error);
  CHECK(read, "%s", error.text);
  if (read) {
    CHECK(fabsf(picture.rgb[0] - 32768.0f / 65535.0f) < 1e-6f && picture.rgb[1] == 1.0f &&
              fabsf(picture.rgb[2] - 1.0f / 65535.0f) < 1e-7f,
          "%g %g %g", picture.rgb[0], picture.rgb[1], picture.rgb[2]);
  }
  check_prefixes(commented, sizeof commented - 1, 0, 1);
  check_bytes_refused("", 0, "the file is empty");
  check_bytes_refused("P6 4 4 255\nabc", 14, "cut short: 3 bytes of pixels where 48");
  check_bytes_refused("P6 4 4 0\nabc", 12, "maximum is 0; it must be 1 to 65535");
  check_bytes_refused("P6 4 4 70000\nabc", 16, "maximum is 70000");
  check_bytes_refused("P6 0 4 255\nabc", 14, "each side must be 1 to 16384");
  check_bytes_refused("P6 99999999999 4 255\nabc", 24, "each side must be 1 to 16384");
  check_bytes_refused("P6 -3 4 255\nabc", 15, "header is damaged");
  check_bytes_refused("P3 1 1 255 1 2 3", 16, "only P6");
  check_bytes_refused("\xff\xd8\xff", 3, "neither a PPM (P6) nor a PNG; examples/gaussians");
  test_folder_files(true);
}

#if IMAGE_HAVE_PNG
static void test_png(void) {
  image picture = image_procedural(61, 40);
  error_line error;
  size_t size;
  check_round_trip("a.png", 1, 1);
  check_round_trip("b.png", 61, 40);
  CHECK(image_write(&picture, test_path("c.png"), &error), "%s", error.text);
  char *bytes = test_read_file(test_path("c.png"), &size);
  check_prefixes(bytes, size, 12, 7); /* the closing chunk holds 12 bytes and no pixels */
  size_t pixels = 8; /* where the chunk with the pixels begins; those before may be skipped */
  while (pixels < size && memcmp(bytes + pixels, "IDAT", 4) != 0) ++pixels;
  for (size_t at = pixels + 4; at + 12 < size; at += 29) {
    bytes[at] ^= 0x10;
    check_bytes_refused(bytes, size, "PNG cannot be decoded");
    bytes[at] ^= 0x10;
  }
  free(bytes);
  test_folder_files(true);
}
#else
static void test_png(void) {
  check_bytes_refused("\x89PNG\r\n\x1a\n", 8, "built without libpng; install it");
  test_folder_files(true);
}
#endif

/* A quarter of the size: means of 4 x 4; an odd ratio keeps the mean of the whole. */
static void test_shrink(void) {
  image picture = image_procedural(64, 48), small = picture, odd = picture;
  error_line error;
  CHECK(image_shrink(&small, 16, 12, &error), "%s", error.text);
  for (int i = 0; i < 16 * 12 * 3; ++i) {
    int x = i / 3 % 16, y = i / 3 / 16;
    double sum = 0.0;
    for (int j = 0; j < 16; ++j)
      sum += picture.rgb[3 * ((4 * y + j / 4) * 64 + 4 * x + j % 4) + i % 3];
    CHECK(fabs(small.rgb[i] - sum / 16.0) < 1e-6, "value %d: %g, not %g", i, small.rgb[i],
          sum / 16.0);
  }
  CHECK(image_shrink(&odd, 23, 31, &error), "%s", error.text);
  double whole = 0.0, shrunk = 0.0;
  for (int i = 0; i < 64 * 48 * 3; ++i) whole += picture.rgb[i] / (64 * 48 * 3);
  for (int i = 0; i < 23 * 31 * 3; ++i) shrunk += odd.rgb[i] / (23 * 31 * 3);
  CHECK(fabs(whole - shrunk) < 1e-5, "mean %g, then %g", whole, shrunk);
  CHECK(!image_shrink(&picture, 65, 48, &error) && strstr(error.text, "cannot enlarge"), "%s",
        error.text);
}

static void check_unwritable(const char *path, const char *part) {
  image picture = image_procedural(4, 4);
  error_line error = {""};
  CHECK(!image_write(&picture, path, &error), "%s was written", path);
  CHECK(strstr(error.text, part) != nullptr, "'%s' lacks '%s'", error.text, part);
  CHECK(!image_write_probe(path, &error), "%s could be written", path);
  CHECK(test_folder_files(false) == 0, "%d files are left", test_folder_files(true));
}

static void test_unwritable(void) {
  error_line error;
  check_unwritable(test_path("no/such/folder.ppm"), "No such file or directory");
  check_unwritable(test_path("a.gif"), "must end in .ppm");
  check_unwritable(test_path("ppm"), "must end in .ppm");
  check_unwritable("/dev/full.ppm/x.ppm", "cannot write");
  CHECK(image_write_probe(test_path("fine.ppm"), &error), "%s", error.text);
  CHECK(test_folder_files(false) == 0, "asking left %d files", test_folder_files(true));
  check_refused(test_path("absent.ppm"), "No such file or directory");
  check_refused(test_folder, "cannot read");
}

static void check_text(const char *name, const char *wanted) {
  size_t size;
  char *bytes = test_read_file(test_path(name), &size);
  CHECK(strcmp(bytes, wanted) == 0, "%s reads '%s', not '%s'", name, bytes, wanted);
  free(bytes);
}

/* A new file takes the place of an old one only when it is complete; a link stays one. */
static void test_output_files(void) {
  output_file file;
  error_line error;
  char leads_to[16] = "";
  test_write_file(test_path("kept.csv"), "old", 3);
  CHECK(symlink("kept.csv", test_path("link")) == 0, "no link");
  CHECK(output_file_open(&file, test_path("kept.csv"), &error), "%s", error.text);
  fprintf(file.stream, "new");
  output_file_abandon(&file);
  check_text("kept.csv", "old");
  CHECK(test_folder_files(false) == 2, "a temporary file is left");
  CHECK(output_file_open(&file, test_path("link"), &error), "%s", error.text);
  fprintf(file.stream, "new");
  CHECK(output_file_keep(&file, &error), "%s", error.text);
  CHECK(output_file_probe(test_path("kept.csv"), &error), "%s", error.text);
  check_text("kept.csv.partial", "new");
  CHECK(output_file_open(&file, test_path("link"), &error), "%s", error.text);
  fprintf(file.stream, "newer");
  CHECK(output_file_commit(&file, &error), "%s", error.text);
  check_text("kept.csv", "newer");
  CHECK(readlink(test_path("link"), leads_to, sizeof leads_to - 1) > 0 &&
            !strcmp(leads_to, "kept.csv"),
        "the link leads to '%s'", leads_to);
  CHECK(test_folder_files(true) == 2, "a temporary file is left");
}

static void check_printable(const char *text, const char *wanted) {
  error_line error;
  error_set(&error, "'%s'", text);
  CHECK(strcmp(printable(text), wanted) == 0, "'%s' for '%s'", printable(text), wanted);
  CHECK(strncmp(error.text + 1, wanted, strlen(wanted)) == 0, "'%s' in an error", error.text);
}

static void test_printable(void) {
  char line[6000];
  error_line error;
  check_printable(
      "Gr\xc3\xb6\xc3\x9f"
      "e \xe2\x82\xac \xf0\x9f\x8e\xa8 \\",
      "Gr\xc3\xb6\xc3\x9f"
      "e \xe2\x82\xac \xf0\x9f\x8e\xa8 \\");
  check_printable("\x1b[31m\r\n\t\x7f", "\\x1b[31m\\x0d\\x0a\\x09\\x7f");
  check_printable(
      "\x9b"
      "1m \xc2\x9b",
      "\\x9b1m \\xc2\\x9b"); /* control in 8 bits */
  check_printable("\xe0\x82\x9b \xc0\xaf \xf8", "\\xe0\\x82\\x9b \\xc0\\xaf \\xf8"); /* too long */
  check_printable("\xc3 \xe2\x82", "\\xc3 \\xe2\\x82");                              /* cut short */
  memset(line, 27, sizeof line - 1);
  line[sizeof line - 1] = '\0';
  error_set(&error, "%s", line);
  CHECK(strlen(error.text) < sizeof error.text && strlen(printable(line)) > 4000, "a long one");
}

int main(void) {
  test_printable();
  CHECK(test_folder_make(), "cannot make the folder %s", test_folder);
  test_ppm();
  test_png();
  test_shrink();
  test_unwritable();
  test_output_files();
  test_folder_remove();
  return test_end("test_pictures");
}
