/* arc studies: pictures survive a round trip, damaged ones are refused with a reason.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "simt/simt.cuh"

#include <vector>

#if IMAGE_HAVE_PNG
#include <png.h>
#endif

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
  bool read = image_read(&picture, path, &error);
  test_refusal(!read, part);
}

static void check_bytes_refused(std::string_view bytes, const char *part) {
  test_write_file(test_path("damaged"), bytes);
  check_refused(test_path("damaged"), part);
}

/* Writes, reads; nothing but the file is left in the folder. */
static void check_round_trip(const char *name, int width, int height) {
  image picture = image_procedural(width, height), back;
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
static void check_prefixes(std::string_view bytes, size_t ending, size_t stride) {
  for (size_t cut = 0; cut + ending < bytes.size(); cut += stride)
    check_bytes_refused(bytes.substr(0, cut), "damaged");
  test_folder_files(true);
}

static void check_pixels(std::string_view bytes, const std::vector<float> &wanted) {
  image picture;
  test_write_file(test_path("c.ppm"), bytes);
  bool read = image_read(&picture, test_path("c.ppm"), &error);
  CHECK(read, "%s", error.text);
  if (!read) return;
  for (size_t i = 0; i < wanted.size(); ++i)
    CHECK(fabsf(picture.rgb[i] - wanted[i]) < 5e-8f, "%zu: %g", i, picture.rgb[i]);
}

static void test_ppm(void) {
  check_round_trip("a.ppm", 1, 1);
  check_round_trip("b.PPM", 37, 5);

  using namespace std::string_view_literals; /* which hold zeros */
  const auto commented =
      "P6 # made by hand\n# width\n2\t1\n#maximum\n255\n\x00\x33\xff\x66\x99\xcc"sv;
  check_pixels(commented, {0.0f, 0.2f, 1.0f, 0.4f, 0.6f, 0.8f});
  check_prefixes(commented, 0, 1);
  check_pixels("P6 1 1 65535 \x80\x80\x01\x00\xff\xff"sv, {128 / 255.0f, 256 / 65535.0f, 1.0f});
  check_pixels("P6 1 1 256\n\x01\x00\x00\x40\xff\xff"sv, {1.0f, 0.25f, 1.0f});
  check_bytes_refused("", "the file is empty");
  check_bytes_refused("P6 4 4 255\nabc", "cut short: 3 bytes of pixels where 48");
  check_bytes_refused("P6 4 4 256\nabc", "cut short: 3 bytes of pixels where 96");
  check_bytes_refused("P6 4 4 0\nabc", "maximum is 0; it must be 1 to 65535");
  check_bytes_refused("P6 4 4 70000\nabc", "maximum is 70000");
  check_bytes_refused("P6 0 4 255\nabc", "each side must be 1 to 16384");
  check_bytes_refused("P6 99999999999 4 255\nabc", "each side must be 1 to 16384");
  check_bytes_refused("P6 -3 4 255\nabc", "header is damaged");
  check_bytes_refused("P3 1 1 255 1 2 3", "only P6");
  check_bytes_refused("\xff\xd8\xff", "neither a PPM (P6) nor a PNG; studies/gaussians");
  test_folder_files(true);
}

#if IMAGE_HAVE_PNG
/* Two pixels, grey or of 3 colours, and their alpha; gamma: 0 for none, 1, or 2 for sRGB's. */
static void write_png(int kind, int depth, int gamma, const int pixels[2][4]) {
  const bool palette = kind == PNG_COLOR_TYPE_PALETTE;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  FILE *file = fopen(test_path("p.png"), "wb");
  byte_block row;
  png_color colours[2];
  png_byte alphas[2], broken[8] = {0, 0, 17, 0, 0, 1, 4, 0};
  for (int i = 0; i < 2; ++i) {
    const int *p = pixels[i];
    colours[i] = {(png_byte)p[0], (png_byte)p[1], (png_byte)p[2]};
    alphas[i] = (png_byte)p[3];
    if (palette) row.push_back((unsigned char)i);
    for (int k = 0; k < 4 && !palette; ++k)
      if (k == 0 || (k < 3 ? kind & PNG_COLOR_MASK_COLOR : kind & PNG_COLOR_MASK_ALPHA))
        row.insert(row.end(), (size_t)depth / 8, (unsigned char)p[k]);
  }
  png_init_io(png, file);
  png_set_IHDR(png, info, 2, 1, depth, kind, 0, 0, 0);
  if (palette) png_set_PLTE(png, info, colours, 2), png_set_tRNS(png, info, alphas, 2, nullptr);
  if (gamma == 1) png_set_gAMA(png, info, 1.0);
  if (gamma == 2) png_set_sRGB_gAMA_and_cHRM(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_write_info(png, info);
  png_write_chunk(png, (png_const_bytep) "eXIf", broken, 8);
  png_write_row(png, row.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  fclose(file);
}

static void check_stored(const char *what, int kind, int depth, const int pixels[2][4]) {
  image picture;
  std::string bytes = test_read_file(test_path("p.png"));
  bytes[bytes.find("eXIf") + 13] ^= 1; /* its check sum */
  test_write_file(test_path("q.png"), bytes);
  for (const char *name : {"p.png", "q.png"}) {
    const bool read = image_read(&picture, test_path(name), &error);
    CHECK(read, "%s, kind %d of %d bits: %s", what, kind, depth, error.text);
    for (size_t i = 0; i < 6 && read; ++i) {
      const float wanted = (float)(pixels[i / 3][i % 3] * pixels[i / 3][3]) / (255.0f * 255.0f);
      CHECK(fabsf(picture.rgb[i] - wanted) < 1e-6f, "%s, kind %d of %d bits: %g, not %g", what,
            kind, depth, 255.0f * picture.rgb[i], 255.0f * wanted);
    }
  }
}

/* One picture in all encodings, with a damaged part beside it; test_convert.py has the same. */
static void test_png_encodings(void) {
  static const int colours[2][4] = {{200, 100, 50, 255}, {7, 255, 128, 255}};
  static const int clear[2][4] = {{200, 100, 50, 128}, {7, 255, 128, 0}};
  static const int greys[2][4] = {{200, 200, 200, 255}, {7, 7, 7, 255}};
  static const int clear_greys[2][4] = {{200, 200, 200, 128}, {7, 7, 7, 0}};
  for (int gamma = 0; gamma < 3; ++gamma)
    for (int depth : {8, 16}) {
      const char *what = gamma == 0 ? "no gamma" : gamma == 1 ? "gamma 1" : "sRGB";
      const auto check = [&](int kind, const int pixels[2][4]) {
        write_png(kind, depth, gamma, pixels);
        check_stored(what, kind, depth, pixels);
      };
      check(PNG_COLOR_TYPE_RGB, colours);
      check(PNG_COLOR_TYPE_RGB_ALPHA, clear);
      check(PNG_COLOR_TYPE_GRAY, greys);
      check(PNG_COLOR_TYPE_GRAY_ALPHA, clear_greys);
      if (depth == 8) check(PNG_COLOR_TYPE_PALETTE, clear);
    }
  test_folder_files(true);
}

static void test_png(void) {
  image picture = image_procedural(61, 40);
  test_png_encodings();
  check_round_trip("a.png", 1, 1);
  check_round_trip("b.png", 61, 40);
  CHECK(image_write(&picture, test_path("c.png"), &error), "%s", error.text);
  std::string bytes = test_read_file(test_path("c.png"));
  check_prefixes(bytes, 12, 7); /* the closing chunk holds 12 bytes and no pixels */
  /* from the chunk with the pixels on; those before may be skipped */
  for (size_t at = bytes.find("IDAT") + 4; at + 12 < bytes.size(); at += 29) {
    bytes[at] ^= 0x10;
    check_bytes_refused(bytes, "PNG cannot be decoded");
    bytes[at] ^= 0x10;
  }
  test_folder_files(true);
}
#else
static void test_png(void) {
  check_bytes_refused("\x89PNG\r\n\x1a\n", "built without libpng; install it");
  test_folder_files(true);
}
#endif

/* A quarter of the size: means of 4 x 4; an odd ratio keeps the mean of the whole. */
static void test_shrink(void) {
  image picture = image_procedural(64, 48), small = picture, odd = picture;
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
  test_refusal(!image_shrink(&picture, 65, 48, &error), "cannot enlarge");
}

static void check_unwritable(const char *path, const char *part) {
  image picture = image_procedural(4, 4);
  test_refusal(!image_write(&picture, path, &error), part);
  CHECK(!image_write_probe(path, &error), "%s could be written", path);
  CHECK(test_folder_files(false) == 0, "%d files are left", test_folder_files(true));
}

static void test_unwritable(void) {
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
  const std::string bytes = test_read_file(test_path(name));
  CHECK(bytes == wanted, "%s reads '%s', not '%s'", name, bytes.c_str(), wanted);
}

/* A new file takes the place of an old one only when it is complete; a link stays one. */
static void test_output_files(void) {
  output_file file;
  char leads_to[16] = "";
  test_write_file(test_path("kept.csv"), "old");
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
  error_set(&error, "'%s'", text);
  CHECK(strcmp(printable(text), wanted) == 0, "'%s' for '%s'", printable(text), wanted);
  CHECK(strncmp(error.text + 1, wanted, strlen(wanted)) == 0, "'%s' in an error", error.text);
}

static void test_printable(void) {
  char line[6000];
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
  test_folder_make();
  test_ppm();
  test_png();
  test_shrink();
  test_unwritable();
  test_output_files();
  test_folder_remove();
  return test_end("test_pictures");
}
