"""bench_test.py - what tests of results and of what makes them share. SPDX-License-Identifier: Apache-2.0"""
import os
import subprocess
import sys
import tempfile
import unittest

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(BENCH)
H200 = os.path.join(BENCH, "results", "h200")
sys.path[:0] = [os.path.join(BENCH, "analysis")]


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, text, *names, mode=0o644):
        os.makedirs(os.path.dirname(self.path(*names)), exist_ok=True)
        with open(self.path(*names), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(*names), mode)
        return self.path(*names)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()

    def call(self, status, program, *words, **environment):
        """What it says; a script is named from the top."""
        start = {".py": [sys.executable, "-B"], ".sh": ["sh"]}.get(os.path.splitext(program)[1], [])
        done = subprocess.run([*start, os.path.join(ROOT, program), *words], text=True,
                              capture_output=True, check=False, start_new_session=True,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr
