/* page.cpp - a sweep as one page for any browser. SPDX-License-Identifier: Apache-2.0 */
#include "page_parts.h" /* made of page.html and page.js */

#include "sweep.h"

bool sweep_page(const std::string &name, const std::string &csv, error_line *error) {
  output_file file;
  if (!output_file_open(&file, name.c_str(), error)) return false;
  fputs(page_parts[0], file.stream);
  for (char c : csv)
    if (c == '&' || c == '<')
      fputs(c == '&' ? "&amp;" : "&lt;", file.stream);
    else
      fputc(c, file.stream);
  fputs(page_parts[1], file.stream);
  return output_file_commit(&file, error);
}
