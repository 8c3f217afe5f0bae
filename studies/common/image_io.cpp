/* arc studies: pictures in, pictures out.
   SPDX-License-Identifier: Apache-2.0 */
#include "image_io.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <vector>

#include "../../bench/common/program_run.h"

#ifndef IMAGE_HAVE_PNG
#define IMAGE_HAVE_PNG 0
#endif
#if IMAGE_HAVE_PNG
#include <png.h>
#include <setjmp.h>
#endif

static const size_t LARGEST_FILE = (size_t)1 << 30;

static bool check_sides(unsigned width, unsigned height, error_line *error) {
  const unsigned most = IMAGE_MAX_SIDE;
  return (width >= 1 && height >= 1 && width <= most && height <= most) ||
         error_set(error, "a picture of %u x %u pixels; each side must be 1 to %u", width, height,
                   most);
}

/* Three per pixel. */
static byte_block image_bytes(const image *picture) {
  byte_block bytes;
  bytes.reserve(picture->rgb.size());
  for (float value : picture->rgb) {
    value = value > 0.0f ? value : 0.0f; /* a NaN becomes 0 */
    value = value < 1.0f ? value : 1.0f;
    bytes.push_back((unsigned char)(value * 255.0f + 0.5f));
  }
  return bytes;
}

/* The upper byte of a wide number comes first. */
static int stored(const unsigned char *at, bool wide) { return wide ? 256 * at[0] + at[1] : at[0]; }

/* ---- PPM ------------------------------------------------------------------------------------ */

/* Skips white space and comments, reads one decimal number; -1 where there is none. */
static int ppm_number(const byte_block *file, size_t *at) {
  while (*at < file->size() && (isspace((*file)[*at]) || (*file)[*at] == '#')) {
    if ((*file)[*at] == '#')
      while (*at < file->size() && (*file)[*at] != '\n') ++*at;
    else
      ++*at;
  }
  if (*at >= file->size() || !isdigit((*file)[*at])) return -1;
  int value = 0;
  for (; *at < file->size() && isdigit((*file)[*at]); ++*at)
    if (value < 100000000) value = 10 * value + ((*file)[*at] - '0');
  return value;
}

static bool ppm_decode(image *picture, const byte_block *file, error_line *error) {
  size_t at = 2;
  int width = ppm_number(file, &at);
  int height = ppm_number(file, &at);
  int largest = ppm_number(file, &at);
  if (width < 0 || height < 0 || largest < 0 || at >= file->size() || !isspace((*file)[at]))
    return error_set(error, "PPM header is damaged; it must read 'P6 width height maximum'");
  if (largest < 1 || largest > 65535)
    return error_set(error, "PPM maximum is %d; it must be 1 to 65535", largest);
  ++at; /* exactly one white-space byte ends the header */
  if (!check_sides((unsigned)width, (unsigned)height, error)) return false;

  const size_t wide = largest > 255, count = ((size_t)width * height * 3) << wide;
  if (file->size() - at < count)
    return error_set(error, "PPM is cut short: %zu bytes of pixels where %zu are announced",
                     file->size() - at, count);
  *picture = image_of(width, height);
  for (float &number : picture->rgb) {
    number = fminf((float)stored(file->data() + at, wide) / (float)largest, 1.0f);
    at += 1 + wide;
  }
  return true;
}

static bool ppm_encode(FILE *stream, const image *picture, const byte_block &bytes) {
  return fprintf(stream, "P6\n%d %d\n255\n", picture->width, picture->height) > 0 &&
         fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size();
}

/* ---- PNG ------------------------------------------------------------------------------------ */

#if IMAGE_HAVE_PNG

typedef struct png_input {
  const byte_block *file;
  size_t at;
} png_input;

static void png_take(png_structp png, png_bytep to, size_t count) {
  png_input *input = (png_input *)png_get_io_ptr(png);
  if (count > input->file->size() - input->at) png_error(png, "the file is cut short");
  memcpy(to, input->file->data() + input->at, count);
  input->at += count;
}

static void png_stop(png_structp png, png_const_charp reason) {
  error_set((error_line *)png_get_error_ptr(png), "PNG cannot be decoded: %s", reason);
  png_longjmp(png, 1);
}

static void png_ignore(png_structp, png_const_charp) {}

/* Four numbers per pixel, of 8 or 16 bits. A damaged part that pixels do not need is a warning. */
static bool png_numbers(png_structp png, png_infop info, byte_block *bytes, error_line *error) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_info(png, info);
  const unsigned height = png_get_image_height(png, info);
  if (!check_sides(png_get_image_width(png, info), height, error)) return false;
  png_set_expand(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xffff, PNG_FILLER_AFTER);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  const size_t row = png_get_rowbytes(png, info);
  bytes->resize(height * row);
  for (int pass = 0; pass < passes; ++pass)
    for (unsigned y = 0; y < height; ++y) png_read_row(png, bytes->data() + y * row, nullptr);
  return true;
}

static bool png_decode(image *picture, const byte_block *file, error_line *error) {
  png_input input = {file, 0};
  byte_block bytes;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, error, png_stop, png_ignore);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  if (info == nullptr)
    return error_set(error, "PNG cannot be decoded: libpng cannot be initialised");
  png_set_read_fn(png, &input, png_take);
  const bool read = png_numbers(png, info, &bytes, error);
  if (read) {
    const size_t wide = png_get_bit_depth(png, info) == 16;
    const float most = wide ? 65535.0f : 255.0f;
    *picture = image_of((int)png_get_image_width(png, info), (int)png_get_image_height(png, info));
    for (size_t i = 0; i < picture->rgb.size(); ++i) {
      const unsigned char *pixel = &bytes[(i / 3 * 4) << wide];
      const float alpha = (float)stored(pixel + (3 << wide), wide) / most;
      picture->rgb[i] = alpha * ((float)stored(pixel + (i % 3 << wide), wide) / most);
    }
  }
  png_destroy_read_struct(&png, &info, nullptr);
  return read;
}

static bool png_encode(FILE *stream, const image *picture, const byte_block &bytes) {
  png_image png;
  memset(&png, 0, sizeof png);
  png.version = PNG_IMAGE_VERSION;
  png.width = (unsigned)picture->width;
  png.height = (unsigned)picture->height;
  png.format = PNG_FORMAT_RGB;
  return png_image_write_to_stdio(&png, stream, 0, bytes.data(), 0, nullptr) != 0;
}

#else

static bool png_decode(image *, const byte_block *, error_line *error) {
  return error_set(error,
                   "a PNG, but this program was built without libpng; install it "
                   "(Debian, Ubuntu: libpng-dev) and build again, or convert to PPM");
}

static bool png_encode(FILE *, const image *, const byte_block &) { return false; }

#endif

/* ---- any format ----------------------------------------------------------------------------- */

static bool read_whole_file(byte_block *file, const char *path, error_line *error) {
  unsigned char part[1 << 16];
  FILE *stream = fopen(path, "rb");
  if (stream == nullptr) return error_set(error, "%s", strerror(errno));
  for (size_t got; (got = fread(part, 1, sizeof part, stream)) > 0 && file->size() <= LARGEST_FILE;)
    file->insert(file->end(), part, part + got);
  const bool complete = !ferror(stream) || error_set(error, "%s", strerror(errno));
  fclose(stream);
  return complete && (file->size() <= LARGEST_FILE ||
                      error_set(error, "the file has more than %zu bytes", LARGEST_FILE));
}

static bool starts_with(const byte_block *file, const char *bytes, size_t count) {
  return file->size() >= count && memcmp(file->data(), bytes, count) == 0;
}

static bool decode(image *picture, const byte_block *file, error_line *error) {
  if (file->empty()) return error_set(error, "the file is empty");
  if (starts_with(file, "P6", 2)) return ppm_decode(picture, file, error);
  if (starts_with(file, "P3", 2))
    return error_set(error, "a PPM of kind P3 (text); only P6 (binary) is read");
  if (starts_with(file, "\x89PNG\r\n\x1a\n", 8)) return png_decode(picture, file, error);
  return error_set(error,
                   "neither a PPM (P6) nor a PNG; studies/gaussians/convert.py makes one of a "
                   "JPEG");
}

bool image_read(image *picture, const char *path, error_line *error) {
  byte_block file;
  error_line reason;
  const bool read = read_whole_file(&file, path, &reason);
  if (read && decode(picture, &file, &reason)) return true;
  return error_set(error, "cannot read '%.200s': %.290s", path, reason.text);
}

static bool has_extension(const char *path, const char *extension) {
  const char *dot = strrchr(path, '.');
  const char *slash = strrchr(path, '/');
  return dot != nullptr && (slash == nullptr || slash < dot) && strcasecmp(dot, extension) == 0;
}

static bool check_extension(const char *path, error_line *error) {
  const bool png = has_extension(path, ".png");
  if (has_extension(path, ".ppm") || (png && IMAGE_HAVE_PNG)) return true;
  return error_set(error, "cannot write '%.200s': %s", path,
                   png ? "this program was built without libpng; install it (Debian, Ubuntu: "
                         "libpng-dev) and build again, or use .ppm"
                       : "the name must end in .ppm or .png");
}

bool image_write_probe(const char *path, error_line *error) {
  return check_extension(path, error) && output_file_probe(path, error);
}

bool image_write(const image *picture, const char *path, error_line *error) {
  output_file file;
  if (!check_extension(path, error)) return false;
  if (!output_file_open(&file, path, error)) return false;
  const byte_block bytes = image_bytes(picture);
  const auto encode = has_extension(path, ".png") ? png_encode : ppm_encode;
  if (encode(file.stream, picture, bytes)) return output_file_commit(&file, error);
  output_file_abandon(&file);
  return error_set(error, "cannot write '%.300s': %s", path, strerror(errno));
}

/* ---- making and changing -------------------------------------------------------------------- */

/* Mean over the rectangle [x0,x1) x [y0,y1), whose sides need not be whole. */
static void area_mean(const image *from, double x0, double x1, double y0, double y1, float *rgb) {
  double sums[3] = {0.0, 0.0, 0.0}, area = (x1 - x0) * (y1 - y0);
  for (int y = (int)y0; y < from->height && y < y1; ++y) {
    double tall = fmin(y1, y + 1.0) - fmax(y0, y);
    const float *row = from->rgb.data() + 3 * (size_t)y * from->width;
    for (int x = (int)x0; x < from->width && x < x1; ++x) {
      double part = tall * (fmin(x1, x + 1.0) - fmax(x0, x));
      for (int k = 0; k < 3; ++k) sums[k] += part * row[3 * x + k];
    }
  }
  for (int k = 0; k < 3; ++k) rgb[k] = (float)(sums[k] / area);
}

bool image_shrink(image *picture, int width, int height, error_line *error) {
  if (width > picture->width || height > picture->height)
    return error_set(error, "cannot enlarge the picture of %d x %d pixels to %d x %d",
                     picture->width, picture->height, width, height);
  if (width == picture->width && height == picture->height) return true;
  image small = image_of(width, height);
  double step_x = (double)picture->width / width, step_y = (double)picture->height / height;
  for (int y = 0; y < height && !interrupts; ++y)
    for (int x = 0; x < width; ++x)
      area_mean(picture, x * step_x, (x + 1) * step_x, y * step_y, (y + 1) * step_y,
                &small.rgb[3 * ((size_t)y * width + x)]);
  *picture = std::move(small);
  return true;
}

/* A cheap hash of a pixel position to 0..1. */
static float grain(int x, int y) {
  unsigned h = (unsigned)x * 0x9e3779b1u ^ (unsigned)y * 0x85ebca77u;
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h ^= h >> 12;
  return (float)(h & 0xffff) / 65535.0f;
}

static float inside_disc(float x, float y, float centre_x, float centre_y, float radius) {
  return hypotf(x - centre_x, y - centre_y) < radius ? 1.0f : 0.0f;
}

image image_procedural(int width, int height) {
  image picture = image_of(width, height);
  float unit = 1.0f / (float)(width < height ? width : height);
  for (int row = 0; row < height && !interrupts; ++row) {
    for (int column = 0; column < width; ++column) {
      float x = (column + 0.5f) * unit, y = (row + 0.5f) * unit;
      float *pixel = &picture.rgb[3 * ((size_t)row * width + column)];
      float from_centre = hypotf(x - 0.75f, y - 0.7f);
      float ring = 0.5f + 0.5f * cosf(60.0f * from_centre * from_centre);
      float stripe = 0.5f + 0.5f * sinf(6.2832f * (2.0f * x + 6.0f * x * x));
      float sun = inside_disc(x, y, 0.3f, 0.3f, 0.17f);
      float moon = inside_disc(x, y, 0.38f, 0.26f, 0.1f);
      float band = y > 0.55f ? 1.0f : 0.0f;
      pixel[0] = 0.15f + 0.35f * x + 0.35f * sun + 0.25f * band * stripe;
      pixel[1] = 0.20f + 0.30f * y + 0.25f * sun - 0.25f * moon + 0.20f * band * ring;
      pixel[2] = 0.55f - 0.30f * y - 0.15f * sun + 0.25f * moon + 0.30f * band * (1.0f - stripe);
      float speck = 0.04f * (grain(column, row) - 0.5f);
      for (int channel = 0; channel < 3; ++channel)
        pixel[channel] = fminf(fmaxf(pixel[channel] + speck, 0.0f), 1.0f);
    }
  }
  return picture;
}

bool make_folder(const char *folder, error_line *error) {
  return mkdir(folder, 0777) == 0 || errno == EEXIST ||
         error_set(error, "cannot make the folder '%.300s': %s", folder, strerror(errno));
}

bool image_load(image *picture, const char *path, const int size[2], const int built_in[2],
                error_line *error) {
  if (path != nullptr)
    return image_read(picture, path, error) &&
           (size[0] == 0 || image_shrink(picture, size[0], size[1], error));
  const int *made = size[0] > 0 ? size : built_in;
  *picture = image_procedural(made[0], made[1]);
  return true;
}
