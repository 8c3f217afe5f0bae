/* arc example gaussians: what the program accepts, refuses, prints and writes.
   SPDX-License-Identifier: Apache-2.0

   usage: test_gaussians_command_line PROGRAM */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/test_command_line.h"
#include "test_scene_write.h"

#define OUT " --out @/out.ply --csv @/out.csv"

static void test_wrong_options(void) {
  check_wrong("--nonsense" OUT, 2, "'--nonsense' is not an option; see --help");
  check_wrong("--a-very-long-option-that-does-not-exist 3", 2, "is not an option");
  check_wrong("fox" OUT, 2, "'fox' is not an option; see --help");
  check_wrong("--iterations", 2, "--iterations needs a value");
  check_wrong("--iterations -1" OUT, 2, "'-1'; it must be a whole number from 0 to 1000000");
  check_wrong("--iterations 3.5" OUT, 2, "--iterations is '3.5'; it must be");
  check_wrong("--iterations 99999999999999999999" OUT, 2, "it must be a whole number");
  check_wrong("--seed -1" OUT, 2, "--seed is '-1'; it must be a whole number from 0 to");
  check_wrong("--seed 4294967296" OUT, 2, "from 0 to 4294967295");
  check_wrong("--sh-degree 4" OUT, 2, "--sh-degree is '4'; it must be a whole number from 0 to 3");
  check_wrong("--size 64" OUT, 2, "--size is '64'; it must be WIDTHxHEIGHT");
  check_wrong("--size 0x64" OUT, 2, "each 1 to 16384");
  check_wrong("--procedural huge" OUT, 2,
              "--procedural is 'huge'; it must be small, medium or large");
  check_wrong("--background red" OUT, 2, "--background is 'red'; it must be black or white");
  check_wrong("--densify maybe" OUT, 2, "--densify is 'maybe'; it must be on or off");
  check_wrong("--rows 1" OUT, 2, "--rows is '1'; it must be on or off");
  check_wrong("--pixels 3" OUT, 2, "--pixels is '3'; it must be 1, 2 or 4");
  check_wrong("--bench-backward --datasets small,tiny", 2,
              "--datasets is 'small,tiny'; it must be");
  check_wrong("--bench-backward --datasets small,small", 2, "each once, with commas between");
  check_wrong("--bench-backward --datasets small,", 2, "--datasets is 'small,'");
  check_wrong("--bench-backward --datasets scene,small", 2, "give it with --scene PATH");
  check_wrong("--bench-backward --datasets small --procedural small", 2, "both choose scenes");
  check_wrong("--experiment @/x.csv --datasets small --init @/a.ply", 2,
              "and --datasets names others");
  check_wrong("--datasets small" OUT, 2, "is for --bench-backward, --bench-papers and");
  check_wrong("--seeds 3" OUT, 2, "--seeds is for --experiment");
  check_wrong("--experiment @/x.csv --pixels 0", 2, "--pixels is '0'");
  check_wrong("--tiles all" OUT, 2, "--tiles is 'all'; it must be exact, box or circle");
  check_wrong("--path warp" OUT, 2, "--path is 'warp'; it must be one of: plain, serialized");
  check_wrong("--path none" OUT, 2, "--path is 'none'; it must be one of: plain");
  check_wrong("--threshold 34" OUT, 2, "'34'; it must be a whole number from 0 to 33, or auto");
  check_wrong("--path plain --threshold 3" OUT, 2, "--path plain has no threshold to choose");
  check_wrong("--bench-backward=yes", 2, "--bench-backward takes no value");
  check_wrong("--bench-backward --path auto", 2, "--bench-backward runs every path");
  check_wrong("--bench-backward --out @/x.ply", 2, "--bench-backward writes a table only");
  check_wrong("--experiment @/x.csv --threshold 3", 2, "--experiment runs every path");
  check_wrong("--bench-backward --tune on", 2, "leave --path, --threshold and --tune out");
  check_wrong("--tune on --path butterfly" OUT, 2, "--tune picks path and threshold; leave");
  check_wrong("--tune maybe" OUT, 2, "--tune is 'maybe'; it must be on or off");
  check_wrong("--reproducible=yes" OUT, 2, "--reproducible takes no value");
  check_wrong("--reproducible --tune on" OUT, 2, "choose --path, --threshold and --pixels instead");
  check_wrong("--reproducible --path plain" OUT, 2,
              "it must be serialized, butterfly, auto or default");
  check_wrong("--reproducible --rows off" OUT, 2, "leave --rows off out");
  check_wrong("--reproducible --bench-backward", 2, "--bench-backward runs every path");
  check_wrong("--reproducible --experiment @/x.csv", 2, "--experiment runs every path");
  check_wrong("--experiment @/x.csv --csv @/y.csv", 2, "leave --csv out");
  check_wrong("--experiment @/x.csv --bench-backward", 2, "are four programs; ask for one");
  check_wrong("--bench-papers --bench-draw", 2, "are four programs; ask for one");
  check_wrong("--bench-papers --threshold 3", 2, "--bench-papers runs every path");
  check_wrong("--scene @ --procedural small" OUT, 2, "are two scenes; give one");
  check_wrong("--scene @ --size 8x8" OUT, 2, "convert.py makes other pictures of --scene");
  check_wrong("--init @/a.ply --resume @/b" OUT, 2, "are two models; give one");
  check_wrong("--checkpoint-every 5" OUT, 2, "--checkpoint-every needs --checkpoint FILE");
  check_wrong("--out ''", 2, "--out is empty; it must name a file");
  check_wrong("--gpus 0" OUT, 2, "--gpus is '0'; it must be a whole number from 1 to 64, or mpi");
  check_wrong("--gpus 65" OUT, 2, "from 1 to 64");
  check_wrong("--gpus all" OUT, 2, "--gpus is 'all'");
  check_wrong("--batch 0" OUT, 2, "--batch is '0'");
  check_wrong("--gpus 3 --batch 2" OUT, 2, "--batch is 2; with --gpus 3 it must be that or more");
  check_wrong("--gpus 2 --bench-backward", 2, "--bench-backward runs every path on one GPU");
  check_wrong("--batch 2 --experiment @/x.csv", 2, "--experiment runs every path on one GPU");
  check_wrong("--out @/x --checkpoint @/x", 2, "--out and --checkpoint name the same file");
}

static void test_wrong_drawing(void) {
  check_wrong("--orbit 4" OUT, 2, "--orbit is for --draw and --bench-draw");
  check_wrong("--city 4" OUT, 2, "--city is for --draw and --bench-draw");
  check_wrong("--draw --orbit 0", 2, "--orbit is '0'; it must be a whole number from 1 to 100000");
  check_wrong("--draw=yes", 2, "--draw takes no value");
  check_wrong("--draw --bench-backward", 2, "--draw and --bench-backward are two programs");
  check_wrong("--draw --scene @ --init @/a.ply --orbit 4", 2, "each have cameras; give one");
  check_wrong("--bench-draw --orbit 4 --city 4", 2, "each have cameras; give one");
  check_wrong("--draw --scene @", 2, "drawing a --scene needs a trained model; give one with");
  check_wrong("--draw --city 9", 2, "--city needs a trained model; give one with --init FILE");
  check_wrong("--draw --datasets small", 2, "--datasets is for --bench-backward");
  check_wrong("--bench-draw --datasets small", 2, "--datasets is not for --draw and --bench-draw");
  check_wrong("--draw --init @/a.ply --procedural small", 2, "are two models; give one");
  check_wrong("--draw --out @/a.ply", 2, "--draw writes pictures and times on one GPU; leave");
  check_wrong("--draw --gpus 2", 2, "--cameras, --checkpoint and --gpus out");
  check_wrong("--draw --renders @/no/folder", 2, "folder': No such file or directory");
}

static void test_wrong_files(void) {
  check_wrong("--out @/no/folder.ply", 2, "No such file or directory");
  check_wrong("--csv @ --out @/out.ply", 2, "exists and is not a plain file");
  check_wrong("--renders @/no/folder" OUT, 2, "folder': No such file or directory");
  test_write_file(test_path("file"), "x", 1);
  check_wrong("--renders @/file" OUT, 2, "is not a folder");
  remove(test_path("file"));
}

#define SMALL " --size 32x24 --gaussians 60 --views 5 --iterations 4"
#define MANY " --size 8x8 --gaussians 5 --views 1000"

static void test_wrong_inputs(void) {
  check_wrong("--renders @/new --scene @/absent", 2, "absent");
  check_wrong("--scene @/absent" OUT, 2, "absent");
  check_wrong("--scene @/absent --experiment @/x.csv", 2, "absent");
  check_wrong("--init @/absent.ply" SMALL OUT, 2, "absent.ply");
  check_wrong("--resume @/absent" SMALL OUT, 2, "absent': No such file or directory");
  check_wrong("--hold-out 1" SMALL OUT, 2, "every view is held out; raise --hold-out");
}

static void test_runs(void) {
  check_right("--help", 0, "--bench-backward");
  check_right("--path butterfly --threshold 3" SMALL, 0, "butterfly, threshold 3");
  check_right("--tune on" SMALL, 0, ", tuned");
  check_right("--threshold=8" SMALL, 0, "auto, threshold 8");
  check_right("--reproducible --tune off" SMALL, 0, "default, threshold auto, reproducible");
  check_right("--path=plain --rows off --pixels 1 --tiles box" SMALL, 0, "plain, threshold -");
  check_right("--procedural large --background white --densify off" SMALL, 0, "scene      large");
  check_right("--size 1x1 --gaussians 1 --views 1 --hold-out 0 --iterations 2", 0, "train ");
  CHECK(test_folder_files(true) == 0, "a run without --out left a file");
}

static int count_lines(const char *name, const char *head) {
  size_t size;
  char *text = test_read_file(test_path(name), &size);
  int lines = lines_in(text);
  const char *line = text; /* the first that is no comment */
  while (*line == '#' && strchr(line, '\n') != nullptr) line = strchr(line, '\n') + 1;
  CHECK(strncmp(line, head, strlen(head)) == 0, "%s: %.200s", name, text);
  free(text);
  return lines;
}

static void check_holds(const char *name, const char *part) {
  size_t size;
  char *text = test_read_file(test_path(name), &size);
  CHECK(strstr(text, part) != nullptr, "%s lacks '%s': %s", name, part, text);
  free(text);
}

/* A table of results says what it was measured on. */
static void check_head(const char *name) {
  static const char *const lines[] = {"# program: gaussians\n# date: 20", "\n# command: ",
                                      "\n# device: ", "\n# compiler: ", "\n# policy: arc "};
  size_t size;
  char *text = test_read_file(test_path(name), &size);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
    CHECK(strstr(text, lines[i]) != nullptr, "%s lacks '%s'", name, lines[i]);
  free(text);
}

static void test_outputs(void) {
  gaussians_host model;
  error_line error;
  check_right("--cameras @/cameras.csv --checkpoint @/c --checkpoint-every 2 --renders @" SMALL OUT,
              0, "written");
  CHECK(count_lines("out.csv", "iteration,view,loss,l1,ssim,psnr_db,gaussians,pairs,") == 5, "csv");
  CHECK(count_lines("cameras.csv", "view,r00,r01,r02,t0,") == 5, "cameras"); /* 4 train */
  bool read = ply_read(&model, test_path("out.ply"), &error);
  CHECK(read && model.count > 0 && model.sh_degree == 3, "%s", read ? "model" : error.text);
  if (read) gaussians_free(&model);
  CHECK(test_folder_files(false) == 5, "%d files", test_folder_files(false));
  check_right("--init @/out.ply --iterations 0 --size 32x24 --gaussians 60 --views 5", 0,
              "trained    0 iterations");
  check_right("--resume @/c" SMALL, 0, "from iteration 4 of 4");
  check_right("--resume @/c --renders @/new" SMALL "0", 0, "trained    36 iterations");
  CHECK(access(test_path(IMAGE_HAVE_PNG ? "new/view_00000.png" : "new/view_00000.ppm"), F_OK) == 0,
        "no picture in the new folder");
  remove_tree(test_path("new"));
  check_wrong("--resume @/c" SMALL " --iterations 3", 2, "--iterations must be that or more");
  check_wrong("--resume @/c --seed 9" SMALL, 2, "give the same to go on");
  check_wrong("--resume @/out.ply" SMALL, 2, "no checkpoint of this program");
  test_folder_files(true);
}

/* A model, seen by its own cameras, by a scene's without its pictures, and on an orbit. */
static void test_drawing(void) {
  save_cameras("cameras.txt");
  check_wrong("--draw --init @/absent.ply", 2, "absent.ply");
  check_wrong("--draw --init @/cameras.txt --orbit 3", 2, "its header is not that of 3DGS");
  check_right("--out @/out.ply" SMALL, 0, "written");
  check_wrong("--draw --init @/out.ply --scene @/absent", 2, "absent");
  check_right("--draw" SMALL " --csv @/d.csv --renders @/new", 0, "drawn      5 views, ");
  CHECK(count_lines("d.csv", "view,width,height,pairs,place_ms,sort_ms,paint_ms,frame_ms,") == 6,
        "csv");
  check_holds("d.csv", "\nview_00004,32,24,");
  CHECK(access(test_path(IMAGE_HAVE_PNG ? "new/view_00004.png" : "new/view_00004.ppm"), F_OK) == 0,
        "no picture in the new folder");
  remove_tree(test_path("new"));
  check_right("--draw --init @/out.ply --orbit 3 --size 40x20 --pixels 4 --repeats 2", 0,
              "degree 3, 3 views, the first of 40 x 20 pixels");
  check_right("--draw --init @/out.ply --scene @/cameras.txt", 0, "drawn      5 views");
  check_right("--draw --init @/out.ply --scene @ --views 3", 0, "drawn      3 views");
  check_right("--draw --init @/out.ply --city 300 --size 16x9 --views 2", 0,
              "300 of degree 3, 2 views, the first of 16 x 9 pixels");
  check_right("--bench-draw --init @/out.ply --city 300 --size 40x24 --views 2", 0,
              "300 Gaussians, a synthetic city");
  check_progress("--draw" SMALL, "\rdrawing  view ");
  check_interrupted("--draw --csv @/d.csv" MANY "0", "gaussians  ", SIGINT, 0, "d.csv",
                    "interrupted after ");
  test_folder_files(true);
}

static void test_measuring(void) {
  check_right(
      "--bench-backward --procedural medium --size 24x16 --gaussians 30 --repeats 1 --csv "
      "@/b.csv",
      0, "auto over none");
  CHECK(count_lines("b.csv", "dataset,path,threshold,pixels,arrays_ms,") >= 1 + 3 * 22, "bench");
  check_head("b.csv");
  check_right("--bench-papers --procedural medium --size 24x16 --gaussians 30 --csv @/p.csv", 0,
              "geometric mean");
  CHECK(count_lines("p.csv", "dataset,kernel,threshold,ms,") >= 1 + 3 + 3 * 33, "papers");
  check_head("p.csv");
  check_right("--bench-draw --size 40x24 --gaussians 200 --views 2 --csv @/w.csv", 0, "\nnone ");
  CHECK(count_lines("w.csv", "dataset,gaussians,views,width,height,step,pairs,place_ms,") >= 1 + 12,
        "draw");
  check_holds("w.csv", "\nsmall,200,2,40,24,all,");
  check_head("w.csv");
  check_right(
      "--experiment @/e.csv --datasets large --seeds 2 --iterations 2 --size 16x16 --gaussians 20 "
      "--views 3 --hold-out 3",
      0, "largest difference");
  CHECK(count_lines("e.csv",
                    "workload,BW implementation,balance threshold,dataset,train PSNR,train L1,"
                    "test PSNR,test L1,end-to-end training time,") >= 1 + 2 * 19,
        "experiment");
  check_head("e.csv");
  test_folder_files(true);
}

/* Pictures from files; on a terminal each phase shows how far it is. */
static void test_loading(void) {
  save_scene();
  check_wrong("--scene @/cameras.txt" OUT, 2, "cameras.txt/cameras.txt': Not a directory; convert");
  check_right("--scene @ --iterations 1", 0, "loaded     5 pictures in ");
  check_progress("--scene @ --iterations 1", "\rloading    pictures  ");
  remove_tree(test_folder);
  CHECK(test_folder_make(), "cannot make the folder %s", test_folder);
  check_progress(SMALL, "\riteration 1 of 4 ");
}

static void check_model(const char *of) {
  gaussians_host model;
  error_line error;
  bool read = ply_read(&model, test_path("out.ply"), &error);
  CHECK(read, "%s: %s", of, error.text);
  if (read) gaussians_free(&model);
}

#define LONG "--size 32x24 --gaussians 60 --views 4 --iterations 1000000" OUT

/* Ctrl-C, or `kill`: the current iteration ends, the model so far is written, then judged; at the
   second signal it is not judged. The reader of a pipe may be gone by then. */
static void test_interrupts(void) {
  check_interrupted(LONG, "gaussians  ", SIGINT, 0, "out.ply", "test       PSNR");
  check_model("SIGINT");
  CHECK(test_folder_files(true) == 2, "not exactly the two files asked for");
  check_interrupted(LONG, "gaussians  ", SIGTERM, 0, "out.ply", "out.csv\npath       default");
  check_model("SIGTERM");
  test_folder_files(true);
  check_interrupted(LONG, "gaussians  ", SIGINT, SIGINT, "out.ply", "interrupted after ");
  check_model("SIGINT twice");
  test_folder_files(true);
  check_lost_output("|", SMALL OUT);
  check_model("a pipe that nobody reads");
  test_folder_files(true);
  check_interrupted(LONG " --renders @/new", "gaussians  ", SIGINT, SIGTERM, "out.ply",
                    "interrupted after ");
  check_model("two signals");
  CHECK(access(test_path("new"), F_OK) != 0, "two signals, but views are drawn");
  test_folder_files(true);
}

/* A checkpoint that cannot be written ends no training, and the model is written all the same. */
static void test_lost_checkpoint(void) {
  remove(test_path(".output"));
  remove(test_path(".errors"));
  pid_t child = start(LONG " --checkpoint @/c --checkpoint-every 4");
  wait_for(".output", "gaussians  ", 30.0);
  for (int i = 0; i < 10000 && mkdir(test_path("c.partial"), 0700) != 0; ++i) usleep(100);
  wait_for(".errors", "Is a directory", 30.0);
  kill(child, SIGINT);
  outcome o = finish(child);
  CHECK(o.status == 1 && strstr(o.errors, "gaussians: cannot write '") == o.errors, "%d: %s",
        o.status, o.errors);
  CHECK(strstr(o.output, "out.ply\n") && strstr(o.output, "test       PSNR"), "%s", o.output);
  forget(&o);
  check_model("a checkpoint that cannot be written");
  rmdir(test_path("c.partial"));
  test_folder_files(true);
}

/* Loading and judging are as long as there are views. */
static void test_interrupts_of_views(void) {
  check_interrupted("--iterations 1" OUT MANY, "loading", SIGINT, 0, nullptr,
                    "gaussians: interrupted after drawing ");
  CHECK(test_folder_files(true) == 0, "interrupted while loading, but a file is written");
  check_interrupted("--iterations 0" OUT MANY, "judging", SIGINT, 0, "out.ply",
                    "interrupted after the training: not all views are judged and drawn");
  check_model("judging");
  test_folder_files(true);
}

/* ---- more than one process ------------------------------------------------------------------ */

/* Whether two can be had; else says why, in one line. */
static bool has_two(void) {
  outcome o = run("--gpus 2" SMALL);
  bool lacks = strstr(o.errors, "--gpus asks for 2; this machine has ") != nullptr ||
               strstr(o.errors, "--gpus needs NCCL") != nullptr;
  if (lacks) {
    CHECK(o.status == 2 && lines_in(o.errors) == 1, "status %d: %s", o.status, o.errors);
    printf("two processes: skipped, %s", o.errors);
  } else {
    CHECK(o.status == 0 && o.errors[0] == '\0', "status %d: %s", o.status, o.errors);
  }
  forget(&o);
  return !lacks;
}

/* To the end of each line's columns that no time is in. */
static void cut_times(char *text) {
  int column = 0;
  char *to = text;
  for (const char *c = text; *c != '\0'; ++c) {
    column = *c == '\n' ? 0 : column + (*c == ',');
    if (column < 8) *to++ = *c;
  }
  *to = '\0';
}

static void check_same(const char *one, const char *other, bool is_table) {
  size_t sizes[2];
  char *texts[2] = {test_read_file(test_path(one), &sizes[0]), nullptr};
  texts[1] = test_read_file(test_path(other), &sizes[1]);
  for (int i = 0; i < 2 && is_table; ++i) {
    cut_times(texts[i]);
    sizes[i] = strlen(texts[i]);
  }
  CHECK(sizes[0] > 0 && sizes[0] == sizes[1] && memcmp(texts[0], texts[1], sizes[0]) == 0,
        "%s and %s differ", one, other);
  free(texts[0]);
  free(texts[1]);
}

/* One process or two make the same model, to the last bit, and the same losses of all views; also
   from a checkpoint of two processes on. 13 views are no multiple of the 4 of a step. */
static void test_same_by_two(void) {
#define GROUP_RUN \
  " --reproducible --batch 4 --size 32x24 --gaussians 600 --views 9 --densify-until 13"
#define TO(NAME) " --out @/" NAME ".ply --checkpoint @/" NAME " --csv @/" NAME ".csv"
  check_right(GROUP_RUN " --iterations 13" TO("one"), 0, "group      1 processes, 4 views a step");
  check_right(GROUP_RUN " --iterations 13 --gpus 2" TO("two"), 0, "group      2 processes, 4 ");
  check_same("one", "two", false);
  check_same("one.ply", "two.ply", false);
  check_same("one.csv", "two.csv", true);
  check_right("--resume @/two" GROUP_RUN " --iterations 21" TO("one"), 0, "iteration 13 of 21");
  check_right("--resume @/two" GROUP_RUN " --iterations 21 --gpus 2" TO("two"), 0, "13 of 21");
  check_same("one", "two", false);
  test_folder_files(true);
}

/* The process of that rank; 0: not to be found. */
static pid_t child_of(pid_t parent, int rank) {
  char path[64];
  long found[2] = {0, 0};
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
  FILE *file = fopen(path, "r");
  if (file == nullptr) return 0;
  int count = fscanf(file, "%ld %ld", &found[0], &found[1]);
  fclose(file);
  return count == 2 ? (pid_t)found[rank] : 0;
}

#define LONG_BY_TWO "--gpus 2 --size 32x24 --gaussians 60 --views 4 --iterations 1000000"

/* The others end within ten seconds, with one line and a checkpoint from which one can go on. */
static void test_killed(int rank, bool keeps) {
  char wanted[96];
  remove(test_path(".output"));
  pid_t program_id = start(keeps ? LONG_BY_TWO " --checkpoint @/c" : LONG_BY_TWO);
  wait_for(".output", "group      2 processes", 30.0);
  usleep(300000);
  pid_t child = child_of(program_id, rank);
  if (child == 0) printf("killed processes: not tested, this system does not list children\n");
  double begin = test_seconds();
  kill(child != 0 ? child : program_id, SIGKILL);
  outcome o = finish(program_id);
  snprintf(wanted, sizeof wanted, "gaussians: process %d of 2 (number %ld): ended by signal 9 ",
           rank, (long)child);
  if (child != 0) {
    CHECK(test_seconds() - begin < 10.0, "ended after %.1f s", test_seconds() - begin);
    CHECK(o.status == 1 && lines_in(o.errors) == 1, "status %d: %s", o.status, o.errors);
    CHECK(strncmp(o.errors, wanted, strlen(wanted)) == 0, "not '%s': %s", wanted, o.errors);
    CHECK(strstr(o.errors, keeps ? "--resume " : "iterations, without --checkpoint") != nullptr,
          "%s", o.errors);
    CHECK((access(test_path("c"), F_OK) == 0) == keeps, "the checkpoint");
  }
  forget(&o);
  if (child != 0 && keeps)
    check_interrupted("--resume @/c --size 32x24 --gaussians 60 --views 4 --iterations 1000000",
                      "from iteration ", SIGINT, 0, nullptr, "interrupted after ");
  test_folder_files(true);
}

static void test_group(void) {
  if (!has_two()) return;
  test_same_by_two();
  check_wrong("--gpus 2 --resume @/absent" SMALL OUT, 2, "absent': No such file or directory");
  check_wrong("--gpus 2 --hold-out 1" SMALL OUT, 2, "every view is held out; raise --hold-out");
  check_progress("--gpus 2" SMALL, "\riteration ");
  check_interrupted("--gpus 2 " LONG, "gaussians  ", SIGINT, 0, "out.ply", "test       PSNR");
  check_model("SIGINT to two processes");
  check_interrupted("--gpus 2 " LONG, "gaussians  ", SIGTERM, SIGTERM, "out.ply",
                    "interrupted after ");
  test_folder_files(true);
  test_killed(0, true);
  test_killed(1, true);
  test_killed(1, false);
}

static void anywhere(void) {
  test_wrong_options();
  test_wrong_drawing();
  test_wrong_files();
}

static void on_device(void) {
  test_wrong_inputs();
  test_runs();
  test_drawing();
  test_outputs();
  test_measuring();
  test_loading();
  test_interrupts();
  test_lost_checkpoint();
  test_interrupts_of_views();
  test_group();
}

int main(int argc, char **argv) {
  static const command_line_test test = {"test_gaussians_command_line",
                                         "gaussians: ",
                                         "--size 16x16 --gaussians 20 --views 2 --iterations 1",
                                         true,
                                         anywhere,
                                         on_device};
  return command_line_main(argc, argv, &test);
}
