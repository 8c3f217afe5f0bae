/* arc study gaussians: work for all cores of the host.
   SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "../../../bench/common/program_run.h"

int parallel_for(int count, const char *what, const std::function<bool(int)> &work) {
  std::atomic<int> next{0}, done{0};
  std::atomic<bool> failed{false};
  auto take = [&](bool shows) {
    for (bool more = true; more;) {
      if (shows && progress_due()) progress_line("%s  %d of %d", what, done.load(), count);
      int i = next++;
      more = i < count && !failed && !interrupts;
      if (more && work(i))
        ++done;
      else if (more)
        failed = true;
    }
  };
  std::vector<std::thread> helpers;
  int threads = std::min({(int)std::thread::hardware_concurrency(), count, 16});
  try {
    while ((int)helpers.size() + 1 < threads) helpers.emplace_back(take, false);
  } catch (const std::system_error &) {
    /* no more threads to be had: those there are do it all */
  }
  take(true);
  for (std::thread &helper : helpers) helper.join();
  progress_clear();
  return done;
}
