// nvrtc.cpp - arc's headers compile under NVRTC as named strings, without an include path.
// SPDX-License-Identifier: Apache-2.0
//
//   nvrtc --root <repository> [--library libnvrtc.so] [--architectures 50,60,70]
//
// The library is opened at run time, so that one program serves any version of it. Without a list,
// each architecture with code of its own, and the newest, is compiled, down to machine code, and
// policies that change code: every path, every entry point. A warning is a failure.
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

// What is included behind arc.cuh; overloads where the names that they overload are all there.
const char *const forms[] = {"index_add", "hot", "table", "sums", "papers", "overloads"};

// A keyed add on every path, and a uniform and a divergent one; or all other forms.
std::string kernels(bool others)
{
  const char *head = "(float *sums, float *const *pointers, const float *from, unsigned mask) {\n"
                     "  float values[3];\n"
                     "  for (int k = 0; k < 3; ++k) values[k] = from[k * 32 + threadIdx.x];\n"
                     "  arc_target_f32 rows = arc_target_f32_rows(sums, 4, 3);\n"
                     "  int key = (int)from[threadIdx.x];\n"
                     "  bool active = values[0] > 0;\n"
                     "  arc_options o = arc_options_default();\n";
  const char *paths[] = {"ATOMIC", "SERIALIZED", "BUTTERFLY", "TRANSPOSED", "TREE", "AUTO"};
  std::string source = others ? "#define ARC_MAX_PIECES 2\n#define ARC_TABLES 1\n" : "";
  source += "#include \"arc.cuh\"\n";
  for (const std::string form : forms)
    if (others) source += "#include \"arc/" + form + ".cuh\"\n";
  for (const std::string path : paths)
    if (!others)
      source += "extern \"C\" __global__ void add_" + path + head + "  o.path = ARC_PATH_" + path +
                ";\n  arc_add_with_f32(rows, key, values, active, o);\n}\n";
  source += std::string("extern \"C\" __global__ void form") + head;
  if (!others)
    return source + "  arc_add_uniform_f32(rows, blockIdx.x, values, active);\n"
                    "  if (active) arc_add_divergent_f32(rows, key, values);\n"
                    "  arc_atomic_add_f32(sums, values[0]);\n}\n";
  return source +
            "  arc_piece_f32 pieces[2] = {{sums, 4, 1}, {sums + 2, 4, 2}};\n"
            "  arc_target_f32 both = arc_target_f32_pieces(pieces, 2);\n"
            "  arc_add_masked_f32(both, key, values, active, mask);\n"
            "  arc_add_pointers_f32(pointers, 3, key, values, active);\n"
            "  arc_add_pointers_masked_f32(pointers, 3, key, values, active, mask);\n"
            "  if (active) arc_add_pointers_divergent_f32(pointers, 3, key, values);\n"
            "  arc_index_add_f32 memory = arc_index_add_begin_f32(both, from, 3);\n"
            "  arc_index_add_rows_f32(&memory, key, threadIdx.x, active);\n"
            "  arc_index_add_end_f32(&memory);\n"
            "  arc_index_add_f32 halves = arc_index_add_begin_f32_from_f16(rows, from, 3);\n"
            "  arc_index_add_rows_with_f32(&halves, key, threadIdx.x, active, o);\n"
            "  __shared__ __align__(16) char of_table[ARC_TABLE_BYTES(4, 8, 3, 128)];\n"
            "  arc_table_f32 table = arc_table_begin_f32(rows, of_table, 8);\n"
            "  arc_table_add_f32(&table, key, values, active);\n"
            "  arc_table_index_add_f32(&table, &halves, key, threadIdx.x, active);\n"
            "  arc_table_end_f32(&table);\n"
            "  arc_index_add_end_f32(&halves);\n"
            "  __shared__ float shared[ARC_HOT_SUMS(2, 3, 128)];\n"
            "  arc_hot_f32 hot = arc_hot_begin_f32(rows, shared, 0, 2);\n"
            "  o.promises |= ARC_PROMISE_ONE_KEY;\n"
            "  arc_hot_add_with_f32(&hot, 1, values, active, o);\n"
            "  arc_hot_end_f32(&hot, true);\n"
            "  arc_sum_f32 sum = arc_sum_begin_with_f32(rows, 1, values, active, o);\n"
            "  while (arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum);\n"
            "  arc_atomred_f32(sums, values[0]);\n"
            "  arc_target_f32 dynamic = arc_target_dynamic(sums, 4, (int)mask);\n"
            "  arc_add(dynamic, key, from + threadIdx.x, active);\n"
            "  o.scope = ARC_SCOPE_SYSTEM;\n"
            "  arc_add_pointers_with_f32(pointers, 3, key, values, active, o);\n}\n";
}

// Keyed adds of each type of values and memory.
const char types[] =
    "#include \"arc.cuh\"\n"
    "#define ADD(name, S, T, M, exact_, ...) \\\n"
    "  extern \"C\" __global__ void name(void *sums, const T *from, const int *keys) { \\\n"
    "    T values[3]; \\\n"
    "    for (int k = 0; k < 3; ++k) values[k] = from[k * 32 + threadIdx.x]; \\\n"
    "    arc_options o = arc_options_default(); \\\n"
    "    o.exact = exact_; \\\n"
    "    arc_target_##S target = arc_target_##S##_rows((M *)sums, 4, 3 __VA_ARGS__); \\\n"
    "    arc_add_with_##S(target, keys[threadIdx.x], values, keys[threadIdx.x] >= 0, o); }\n"
    "#define SCALE , 20\n"
    "ADD(f64, f64, double, double, false, )\n"
    "ADD(u32, u32, unsigned, unsigned, false, )\n"
    "ADD(i64, i64, long long, long long, false, )\n"
    "ADD(f32_to_f64, f32_to_f64, float, double, false, )\n"
    "ADD(f16, f16, float, void, false, )\n"
    "ADD(bf16, bf16, float, void, false, )\n"
    "ADD(fixed, fixed, float, long long, false, SCALE)\n"
    "ADD(exact, fixed, float, long long, true, SCALE)\n";

// The first architectures with code of their own for some type, and the first of newer libraries.
bool has_own_code(int architecture)
{
  for (int own : {50, 60, 70, 75, 80, 90})
    if (architecture == own) return true;
  return false;
}

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

// True if it compiles without a word.
bool compile(const library &nvrtc, const std::string &root, int architecture, const char *define,
             const std::string &source, const char *what)
{
  std::vector<std::string> names = {"arc.cuh", "arc_policy.cuh", "arc/words.cuh",
                                    "arc/core.cuh", "arc/check.cuh"};
  for (const std::string form : forms) names.push_back("arc/" + form + ".cuh");
  std::vector<std::string> texts;
  std::vector<const char *> name_list, text_list;
  for (const std::string &name : names) texts.push_back(read_text(root + "/" + name));
  for (size_t i = 0; i < names.size(); ++i)
    name_list.push_back(names[i].c_str()), text_list.push_back(texts[i].c_str());
  const std::string target = "--gpu-architecture=sm_" + std::to_string(architecture);
  const char *options[] = {target.c_str(), define};
  program p = nullptr;
  if (nvrtc.create(&p, source.c_str(), "kernels.cu", (int)names.size(), text_list.data(),
                   name_list.data()))
    return false;
  const int status = nvrtc.compile(p, define ? 2 : 1, options);
  size_t log_size = 0, binary_size = 0;
  nvrtc.log_size(p, &log_size);
  std::vector<char> log(log_size + 1);
  nvrtc.log(p, log.data());
  if (status == 0) nvrtc.binary_size(p, &binary_size);
  nvrtc.destroy(&p);
  const std::string words = words_of(log.data());
  printf("sm_%d %s: %s, %zu bytes\n", architecture, define ? define : what,
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
  const std::string paths = kernels(false), others = kernels(true);
  for (int architecture : list) {
    const bool own = has_own_code(architecture);
    const bool as_70 = architecture == 75 || architecture == 80; /* but for an instruction of bf16 */
    if ((own && architecture != 80) || architecture == list.back())
      failed += !compile(nvrtc, root, architecture, nullptr, paths, "");
    if (own && !as_70)
      failed += !compile(nvrtc, root, architecture, nullptr, types, "(types)");
  }
  const char *defines[] = {"-DARC_CHECK=2", "-DARC_SCOPE=ARC_SCOPE_SYSTEM"};
  for (const char *define : defines)
    if (everything) /* for the newest one, checks take a minute */
      failed += !compile(nvrtc, root, 90, define, paths, "");
  if (!list.empty())
    failed += !compile(nvrtc, root, list.back(), nullptr, others, "(other forms)");
  printf("%zu architectures, %d failed\n", list.size(), failed);
  return failed || list.empty() ? 1 : 0;
}
