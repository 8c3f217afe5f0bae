// main.cu -- runs one misuse, or its twin, under several seeds and judges what comes of it.
// SPDX-License-Identifier: Apache-2.0
//
//   misuse_simt <name> misuse <name.expected>   the report must match the file under every seed
//   misuse_simt <name> print                    the report, in the form in which it is stored
//   misuse_simt <name> twin                     must run to its end and leave its number in out[0]
//   misuse_simt <name> default                  the default reporter: prints it, exit code 3
//   misuse_simt --list
//
// Reports are stored without folders in paths and without the seed; `*` in a stored line stands for
// any text within the line. For the CPU warp only: a GPU may hang on a misuse.
#include "misuse.cuh"

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

static misuse_case *cases = NULL;
void misuse_register(misuse_case *entry) {
  entry->next = cases;
  cases = entry;
}
static misuse_case *find_case(const std::string &name) {
  misuse_case *c = cases;
  while (c && c->name != name) c = c->next;
  return c;
}

enum { out_ints = 1024, seeds = 12, patience = 1 << 22 };

static bool twin_passes(const misuse_case *c, int *out, unsigned seed) {
  int result = -1;
  simt_seed(seed);
  cudaMemset(out, 0, out_ints * sizeof(int));
  c->launch_twin(out);
  cudaError_t error = cudaGetLastError();
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  if (error == cudaSuccess && result == c->twin_result) return true;
  printf("%s, seed %u: the twin gives %d, must be %d (%s)\n", c->name, seed, result, c->twin_result,
         cudaGetErrorString(error));
  return false;
}

static void keep_report(const char *text, void *user) { *static_cast<std::string *>(user) += text; }

// Without folders and seed.
static std::string normalised(const std::string &text) {
  std::istringstream lines(text);
  std::string line, result;
  while (std::getline(lines, line)) {
    for (size_t end; (end = line.rfind('/')) != std::string::npos;) {
      size_t start = line.find_last_of(" (", end);
      start = start == std::string::npos ? 0 : start + 1;
      line.erase(start, end + 1 - start);
    }
    if (line.compare(0, 7, "  seed ") == 0) line = "  seed       *";
    result += line + "\n";
  }
  return result;
}

static bool matches(const char *pattern, const char *text) {
  if (*pattern == '*')
    return matches(pattern + 1, text) || (*text && *text != '\n' && matches(pattern, text + 1));
  if (*pattern != *text) return false;
  return !*pattern || matches(pattern + 1, text + 1);
}

// The launch must report, be abandoned, and leave the engine fit for the next one.
static std::string report_of(const misuse_case *c, int *out, unsigned seed) {
  std::string text;
  simt_seed(seed);
  cudaMemset(out, 0, out_ints * sizeof(int));
  simt_set_report(keep_report, &text);
  c->launch_misuse(out);
  simt_set_report(NULL, NULL);
  bool failed = cudaGetLastError() == cudaErrorLaunchFailure;
  if (failed != !text.empty()) return "the report and the error code disagree\n" + text;
  return text.empty() ? "no report\n" : normalised(text);
}

static bool misuse_is_caught(const misuse_case *c, int *out, const char *path) {
  std::ifstream file(path);
  std::stringstream expected;
  expected << file.rdbuf();
  bool good = file.good();
  if (!good) printf("cannot read %s\n", path);
  for (unsigned seed = 1; good && seed <= seeds; ++seed) {
    std::string text = report_of(c, out, seed);
    if (matches(expected.str().c_str(), text.c_str()) && twin_passes(c, out, seed)) continue;
    printf("%s, seed %u\n--- expected\n%s--- reported\n%s", c->name, seed, expected.str().c_str(),
           text.c_str());
    good = false;
  }
  return good;
}

int main(int argc, char **argv) {
  std::string name = argc > 1 ? argv[1] : "", what = argc > 2 ? argv[2] : "";
  if (name == "--list") {
    for (const misuse_case *c = cases; c; c = c->next) std::cout << c->name << "\n";
    return 0;
  }
  const misuse_case *c = find_case(name);
  bool known = what == "twin" || what == "print" || what == "default" || what == "misuse";
  if (!c || !known || (what == "misuse") != (argc == 4)) {
    fprintf(stderr, "usage: misuse_simt <name> twin | print | default | misuse <file>\n"
                    "       misuse_simt --list\n");
    return 2;
  }
  if (SIMT__ASAN && c->by_signal && what != "twin") {
    printf("skipped: AddressSanitizer has a report of its own for this\n");
    return 77;
  }
  simt_patience(patience);
  int *out = NULL;
  cudaMalloc(&out, out_ints * sizeof(int));
  bool good = true;
  if (what == "twin")
    for (unsigned seed = 1; seed <= seeds && good; ++seed) good = twin_passes(c, out, seed);
  else if (what == "misuse")
    good = misuse_is_caught(c, out, argv[3]);
  else if (what == "print")
    std::cout << report_of(c, out, 1);
  else
    c->launch_misuse(out);
  cudaFree(out);
  return good ? 0 : 1;
}
