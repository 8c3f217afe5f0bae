// misuse.cu -- runs every misuse and its twin under several seeds and judges what comes of it.
// SPDX-License-Identifier: Apache-2.0
//
//   simt_misuse_simt misuse.expected           each report must match the file under every seed,
//                                              each twin must end and leave its number
//   simt_misuse_simt misuse.expected --print   writes the file's text, as it would have to be
//   simt_misuse_simt --default <name>          the default reporter: prints the report, exit code 3;
//                                              or what ends the program at once
//
// A line of a case is stored as +N or -N, counted from its CASE; `*` in a stored line stands for any text
// within the line. For the CPU warp only: a GPU may hang on a misuse.
#include "misuse.cuh"

#include <sys/resource.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

static const misuse_case *cases = NULL;
misuse_entry::misuse_entry(const misuse_case &entry_) : entry(entry_) {
  entry.next = cases;
  cases = &entry;
}

enum { out_ints = 1002, seeds = 6, patience = 1 << 18 };

static std::string twin_fault(const misuse_case *c, int *out) {
  int result = -1;
  cudaMemset(out, 0, out_ints * sizeof(int));
  c->launch(out, false);
  cudaError_t error = cudaGetLastError();
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  if (error == cudaSuccess && result == c->twin_result) return "";
  return "the twin gives " + std::to_string(result) + ", must be " +
         std::to_string(c->twin_result) + " (" + cudaGetErrorString(error) + ")\n";
}

// In the form in which it is stored: without launch and seed.
static std::string normalised(const misuse_case *c, const std::string &text) {
  std::istringstream lines(text);
  std::string line, result, file = std::string(c->file) + ":";
  while (std::getline(lines, line)) {
    for (size_t at; (at = line.find(file)) != std::string::npos;) {
      size_t digits = 0;
      int number = std::stoi(line.substr(at + file.size()), &digits) - c->line;
      const char *sign = number < 0 ? "" : "+";
      line.replace(at, file.size() + digits, sign + std::to_string(number));
    }
    if (line.compare(0, 7, "  seed ") != 0 && line.compare(0, 9, "  launch ") != 0)
      result += line + "\n";
  }
  return result;
}

static void keep_report(const char *text, void *user) { *static_cast<std::string *>(user) += text; }

// The launch must report, be abandoned, and leave the engine fit for the next one.
static std::string report_of(const misuse_case *c, int *out) {
  std::string text;
  cudaMemset(out, 0, out_ints * sizeof(int));
  simt_set_report(keep_report, &text);
  c->launch(out, true);
  simt_set_report(NULL, NULL);
  bool failed = cudaGetLastError() == cudaErrorLaunchFailure;
  if (failed != !text.empty()) return "the report and the error code disagree\n" + text;
  return text.empty() ? "no report\n" : normalised(c, text);
}

static bool matches(const char *pattern, const char *text) {
  if (*pattern == '*')
    return matches(pattern + 1, text) || (*text && *text != '\n' && matches(pattern, text + 1));
  if (*pattern != *text) return false;
  return !*pattern || matches(pattern + 1, text + 1);
}

static bool passes(const misuse_case *c, int *out, const std::string &expected) {
  bool reports = !(SIMT__ASAN && c->by_signal);
  for (unsigned long long seed = 1; seed <= seeds; ++seed) {
    simt_seed(seed);
    std::string text = reports ? report_of(c, out) : expected;
    std::string fault = twin_fault(c, out);
    if (matches(expected.c_str(), text.c_str()) && fault.empty()) continue;
    std::cout << c->name << ", seed " << seed << ": FAILED\n" << fault;
    std::cout << "--- expected\n" << expected << "--- reported\n" << text;
    return false;
  }
  std::cout << c->name << (reports ? ": passed" : ": left to AddressSanitizer") << std::endl;
  return true;
}

// "[name]" starts the report of a case.
static std::map<std::string, std::string> read_reports(const char *path) {
  std::map<std::string, std::string> reports;
  std::ifstream file(path);
  std::string line, name;
  while (std::getline(file, line)) {
    if (line[0] == '[')
      name = line.substr(1, line.size() - 2);
    else if (!line.empty())
      reports[name] += line + "\n";
  }
  return reports;
}

static int print_reports(std::map<std::string, std::string> reports, int *out) {
  for (const misuse_case *c = cases; c; c = c->next) {
    simt_seed(1);
    std::string text = report_of(c, out), &stored = reports[c->name];
    if (!matches(stored.c_str(), text.c_str())) stored = text;
  }
  for (const auto &report : reports) std::cout << "[" << report.first << "]\n" << report.second;
  return 0;
}

static __global__ void synchronises(void) { __syncwarp(); }
static __global__ void launches(void) { SIMT_LAUNCH(synchronises, 1, 32, 0, 0); }

static void end_at_once(const std::string &name) {
  if (name == "outside_a_kernel") synchronises();
  if (name == "launched_by_a_kernel") SIMT_LAUNCH(launches, 1, 32, 0, 0);
  const rlimit none = {0, 0};
  if (name == "no_address_space" && setrlimit(RLIMIT_AS, &none) == 0) simt_poison_pointer();
}

int main(int argc, char **argv) {
  std::string first = argc > 1 ? argv[1] : "", second = argc > 2 ? argv[2] : "";
  int *out = NULL;
  cudaMalloc(&out, out_ints * sizeof(int));
  simt_patience(patience);
  if (first == "--default") {
    for (const misuse_case *c = cases; c; c = c->next)
      if (c->name == second) c->launch(out, true);
    end_at_once(second);
    return 1;
  }
  std::map<std::string, std::string> reports = read_reports(first.c_str());
  if (second == "--print") return print_reports(reports, out);
  size_t count = 0, failures = 0;
  for (const misuse_case *c = cases; c; c = c->next, ++count)
    failures += !passes(c, out, reports[c->name]);
  std::cout << count << " misuses, " << failures << " failures\n";
  if (reports.size() != count) std::cout << first << " has other cases\n";
  cudaFree(out);
  return failures || reports.size() != count;
}
