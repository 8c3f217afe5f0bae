/* arc study gaussians: saves and resumes a training.
   SPDX-License-Identifier: Apache-2.0

   The file: a checkpoint_header, then parameters, both moments and the statistics as the device
   holds them, then FNV-1a of all that, by 4 bytes. Its byte order is the machine's. */
#include "train.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

typedef struct checkpoint_header {
  char magic[8];
  int version, count, iteration;
  int iterations;                 /* of the whole training; more of them may follow */
  int sh_degree, views, training; /* must be the same when training goes on */
  unsigned seed;
} checkpoint_header;

static const char CHECKPOINT_MAGIC[8] = {'a', 'r', 'c', 'g', 'a', 'u', 's', 's'};
enum { CHECKPOINT_VERSION = 2, CHECKPOINT_MODELS = 3, CHECKPOINT_PARTS };

static size_t statistics_bytes(int count) { return 2 * sizeof(float) * (size_t)count; }

/* What follows the header. */
static device_array checkpoint_part(const trainer *t, int part) {
  const device_array *arrays[CHECKPOINT_PARTS] = {&t->blocks[BLOCK_PARAMETERS],
                                                  &t->blocks[BLOCK_MEANS],
                                                  &t->blocks[BLOCK_SQUARES], &t->statistics};
  device_array array = *arrays[part];
  array.bytes = part < CHECKPOINT_MODELS ? model_bytes(t->count) : statistics_bytes(t->count);
  return array;
}

static checkpoint_header checkpoint_header_of(const trainer *t) {
  checkpoint_header h = {};
  memcpy(h.magic, CHECKPOINT_MAGIC, sizeof h.magic);
  h.version = CHECKPOINT_VERSION;
  h.count = t->count;
  h.iteration = t->iteration;
  h.iterations = t->settings.iterations;
  h.sh_degree = t->settings.sh_degree;
  h.views = (int)t->data->views.size();
  h.training = (int)t->training.size();
  h.seed = t->settings.seed;
  return h;
}

/* FNV-1a, by 4 bytes: a third of a second a gigabyte. */
static const uint64_t CHECKSUM_START = 0xcbf29ce484222325u;

static uint64_t checksum_on(uint64_t sum, const void *bytes, size_t size) {
  const uint32_t *words = (const uint32_t *)bytes;
  for (size_t i = 0; i < size / sizeof *words; ++i) sum = (sum ^ words[i]) * 0x100000001b3u;
  return sum;
}

bool checkpoint_write(const trainer *t, const char *path, error_line *error) {
  output_file file;
  checkpoint_header h = checkpoint_header_of(t);
  uint64_t sum = checksum_on(CHECKSUM_START, &h, sizeof h);
  if (!output_file_open(&file, path, error)) return false;
  fwrite(&h, sizeof h, 1, file.stream);
  for (int part = 0; part < CHECKPOINT_PARTS; ++part) {
    device_array array = checkpoint_part(t, part);
    const auto host =
        device_read<uint32_t>(array.data, array.bytes / sizeof(uint32_t), "reading the checkpoint");
    fwrite(host.data(), 1, array.bytes, file.stream);
    sum = checksum_on(sum, host.data(), array.bytes);
  }
  fwrite(&sum, sizeof sum, 1, file.stream);
  return output_file_commit(&file, error);
}

static bool checkpoint_check(const trainer *t, const checkpoint_header *h, const char *path,
                             error_line *error) {
  checkpoint_header mine = checkpoint_header_of(t);
  if (memcmp(h->magic, CHECKPOINT_MAGIC, sizeof h->magic) != 0)
    return error_set(error, "'%.300s' is not a checkpoint of this program", path);
  if (h->version != CHECKPOINT_VERSION)
    return error_set(error, "'%.300s' is a checkpoint of version %d; this program reads version %d",
                     path, h->version, (int)CHECKPOINT_VERSION);
  if (h->views != mine.views || h->training != mine.training)
    return error_set(error,
                     "'%.300s' was made with %d views, %d of them for training; this scene "
                     "has %d and %d",
                     path, h->views, h->training, mine.views, mine.training);
  if (h->sh_degree != mine.sh_degree || h->seed != mine.seed)
    return error_set(error,
                     "'%.200s' was made with --sh-degree %d --seed %u; give the same to go on",
                     path, h->sh_degree, h->seed);
  if (h->count < 1 || h->count > GAUSSIANS_MOST || h->iteration < 0 || h->iteration > h->iterations)
    return error_set(error, "'%.300s' is damaged: %d Gaussians after %d iterations", path, h->count,
                     h->iteration);
  if (h->iteration > mine.iterations)
    return error_set(error, "'%.300s' has done %d iterations; --iterations must be that or more",
                     path, h->iteration);
  return true;
}

/* Before memory is taken for what a damaged header asks for. */
static bool checkpoint_check_size(FILE *stream, int count, const char *path, error_line *error) {
  struct stat status;
  size_t needs = sizeof(checkpoint_header) + CHECKPOINT_MODELS * model_bytes(count) +
                 statistics_bytes(count) + sizeof(uint64_t);
  if (fstat(fileno(stream), &status) != 0)
    return error_set(error, "cannot read '%.300s': %s", path, strerror(errno));
  return (size_t)status.st_size == needs ||
         error_set(error, "'%.300s' is damaged: it is %s than its %d Gaussians need", path,
                   (size_t)status.st_size > needs ? "longer" : "shorter", count);
}

static bool checkpoint_read_parts(trainer *t, FILE *stream, uint64_t sum, const char *path,
                                  error_line *error) {
  uint64_t wanted = 0;
  for (int part = 0; part < CHECKPOINT_PARTS && !interrupts; ++part) {
    device_array array = checkpoint_part(t, part);
    std::vector<uint32_t> host(array.bytes / sizeof(uint32_t));
    if (fread(host.data(), 1, array.bytes, stream) != array.bytes) continue; /* as the sum tells */
    sum = checksum_on(sum, host.data(), array.bytes);
    host_to_device(array.data, host.data(), array.bytes, "copying the checkpoint to the device");
  }
  if (interrupts) return error_set(error, "interrupted before the checkpoint was read");
  return (fread(&wanted, sizeof wanted, 1, stream) == 1 && sum == wanted) ||
         error_set(error, "'%.300s' is damaged: its checksum is wrong", path);
}

bool checkpoint_read(trainer *t, const char *path, error_line *error) {
  checkpoint_header h;
  FILE *stream = fopen(path, "rb");
  if (stream == nullptr) return error_set(error, "cannot read '%.300s': %s", path, strerror(errno));
  bool read = fread(&h, sizeof h, 1, stream) == 1;
  if (!read) error_set(error, "'%.300s' is not a checkpoint of this program", path);
  read = read && checkpoint_check(t, &h, path, error) &&
         checkpoint_check_size(stream, h.count, path, error);
  if (read) {
    trainer_make_room(t, h.count);
    t->iteration = t->first_iteration = h.iteration;
    const uint64_t sum = checksum_on(CHECKSUM_START, &h, sizeof h);
    read = checkpoint_read_parts(t, stream, sum, path, error);
  }
  fclose(stream);
  return read;
}
