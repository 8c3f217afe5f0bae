// nvrtc.cpp - arc's headers compile under NVRTC as named strings, without an include path.
// SPDX-License-Identifier: Apache-2.0
//
//   nvrtc --root <repository> [--library libnvrtc.so] [--architectures 50,60,70]
//
// The library is opened at run time, so that one program serves any version of it. Compiled, down to
// machine code, are all kernels of each_call.cu for the last architecture, the adds alone for the first
// one and, without a list, one with all checks. A warning is a failure.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

const int skipped = 77;

typedef struct program_opaque *program;

struct library {
  int (*version)(int *major, int *minor);
  int (*architecture_count)(int *count);
  int (*architectures)(int *list);
  int (*create)(program *p, const char *source, const char *name, int headers,
                const char *const *header_sources, const char *const *header_names);
  int (*compile)(program p, int options, const char *const *option);
  int (*log_size)(program p, size_t *size);
  int (*log)(program p, char *text);
  int (*binary_size)(program p, size_t *size);
  int (*destroy)(program *p);
};

template <class F>
bool load(void *handle, const char *name, F *function)
{
  void *symbol = dlsym(handle, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != nullptr;
}

bool open_library(const std::string &path, library *nvrtc)
{
  const char *names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                         "/usr/local/cuda/lib64/libnvrtc.so"};
  void *handle = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW);
  for (int i = 0; path.empty() && !handle && i < 4; ++i) handle = dlopen(names[i], RTLD_NOW);
  return handle && load(handle, "nvrtcVersion", &nvrtc->version) &&
         load(handle, "nvrtcGetNumSupportedArchs", &nvrtc->architecture_count) &&
         load(handle, "nvrtcGetSupportedArchs", &nvrtc->architectures) &&
         load(handle, "nvrtcCreateProgram", &nvrtc->create) &&
         load(handle, "nvrtcCompileProgram", &nvrtc->compile) &&
         load(handle, "nvrtcGetProgramLogSize", &nvrtc->log_size) &&
         load(handle, "nvrtcGetProgramLog", &nvrtc->log) &&
         load(handle, "nvrtcGetCUBINSize", &nvrtc->binary_size) &&
         load(handle, "nvrtcDestroyProgram", &nvrtc->destroy);
}

std::string read_text(const std::string &path)
{
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// What is included behind arc.cuh.
const char *const forms[] = {"index_add", "hot", "table", "sums", "papers", "overloads"};

// What the compiler says, but for the age of the architecture, which is no fault of the header.
std::string words_of(const std::string &log)
{
  std::istringstream lines(log);
  std::string line, words;
  while (std::getline(lines, line))
    if (line.find_first_not_of(" \t\r") != std::string::npos &&
        line.find("are deprecated and may be removed") == std::string::npos)
      words += line + "\n";
  return words;
}

// True if each_call.cu compiles without a word.
bool compile(const library &nvrtc, const std::string &root, int architecture,
             std::vector<const char *> options)
{
  const std::string source = read_text(root + "/tests/each_call.cu");
  std::vector<std::string> names = {"arc.cuh", "arc_policy.cuh", "arc/words.cuh",
                                    "arc/core.cuh", "arc/check.cuh", "arc/wide.cuh"};
  for (const std::string form : forms) names.push_back("arc/" + form + ".cuh");
  std::vector<std::string> texts;
  std::vector<const char *> name_list, text_list;
  for (const std::string &name : names) texts.push_back(read_text(root + "/" + name));
  for (size_t i = 0; i < names.size(); ++i)
    name_list.push_back(names[i].c_str()), text_list.push_back(texts[i].c_str());
  const std::string target = "--gpu-architecture=sm_" + std::to_string(architecture);
  const char *what = options.empty() ? "" : options.back();
  options.insert(options.end(), {target.c_str(), "-DKEY=int"});
  program p = nullptr;
  if (nvrtc.create(&p, source.c_str(), "each_call.cu", (int)names.size(), text_list.data(),
                   name_list.data()))
    return false;
  const int status = nvrtc.compile(p, (int)options.size(), options.data());
  size_t log_size = 0, binary_size = 0;
  nvrtc.log_size(p, &log_size);
  std::vector<char> log(log_size + 1);
  nvrtc.log(p, log.data());
  if (status == 0) nvrtc.binary_size(p, &binary_size);
  nvrtc.destroy(&p);
  const std::string words = words_of(log.data());
  printf("sm_%d %s: %s, %zu bytes\n", architecture, what,
         status ? "FAILED" : words.empty() ? "compiled" : "compiled with warnings", binary_size);
  if (!words.empty()) printf("%s", words.c_str());
  fflush(stdout);
  return status == 0 && words.empty() && binary_size > 0;
}

std::vector<int> parse_list(const char *text)
{
  std::vector<int> list;
  for (const char *at = text; *at;) {
    char *end = nullptr;
    list.push_back((int)strtol(at, &end, 10));
    at = *end ? end + 1 : end;
  }
  return list;
}

}  // namespace

int main(int argc, char **argv)
{
  std::string root = ".", path;
  std::vector<int> list;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--root")) root = argv[i + 1];
    else if (!strcmp(argv[i], "--library")) path = argv[i + 1];
    else if (!strcmp(argv[i], "--architectures")) list = parse_list(argv[i + 1]);
    else {
      fprintf(stderr, "usage: %s --root DIR [--library FILE] [--architectures 50,60]\n", argv[0]);
      return 2;
    }
  }
  library nvrtc;
  if (!open_library(path, &nvrtc)) {
    printf("skipped: no NVRTC library%s%s\n", path.empty() ? "" : " at ", path.c_str());
    return skipped;
  }
  int major = 0, minor = 0, count = 0, failed = 0;
  nvrtc.version(&major, &minor);
  printf("NVRTC %d.%d\n", major, minor);
  const bool everything = list.empty();
  if (everything) {
    nvrtc.architecture_count(&count);
    list.resize((size_t)count);
    nvrtc.architectures(list.data());
  }
  if (!list.empty()) failed += !compile(nvrtc, root, list.back(), {});
  if (list.size() > 1) failed += !compile(nvrtc, root, list.front(), {"-DADDS"});
  if (everything) failed += !compile(nvrtc, root, 90, {"-DONE", "-DARC_CHECK=2"});
  printf("%zu architectures, %d failed\n", list.size(), failed);
  return failed || list.empty() ? 1 : 0;
}
