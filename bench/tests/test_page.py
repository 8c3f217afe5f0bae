"""test_page.py ARC_SWEEP_SIMT - the sweep's page in a browser without a window.
SPDX-License-Identifier: Apache-2.0"""
import html
import json
import re
import shutil
import subprocess
import sys
import unittest

from bench_test import H200, Test

import results

SWEEP = sys.argv.pop(1)
BROWSERS = list(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
CELLS = ("--width 3,9 --lanes 1,8,32,mixed --shape prefix,random --keys 1,4 --threshold 0,auto "
         "--path plain,vector,transposed,auto --blocks 1 --threads 32 --updates 2 --rows 70")
HOSTILE = "<img src=x onerror=errors.push(1)>&lt"
# No window is narrower than 500 pixels; a frame is.
FRAME = """<iframe src="driven.html" style="width: WIDTHpx; height: 900px"></iframe><script>
onmessage = said => { document.body.textContent = said.data; }; </script>"""
DRIVER = r"""<script>
const all = what => [...document.querySelectorAll(what)], count = what => all(what).length;
const press = id => find(id).click(), text = id => find(id).textContent, errors = [];
const filter = words => { find('filter').value = words; showTable(); };
const give = (...files) => openFiles(files.map(([name, its]) => new File([its], name)));
function lightOf(colour) { // as WCAG has it
  const [r, g, b] = colour.match(/[\d.]+/g).map(part => part / 255).map(
    part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
}
function contrast(element, property) {
  let under = element, of = getComputedStyle(element)[property], on;
  for (; /, 0\)/.test(on = getComputedStyle(under).backgroundColor); under = under.parentElement);
  return Math.exp(Math.abs(Math.log(lightOf(of) / lightOf(on))));
}
const least = (what, property) => Math.min(...all(what).filter(element =>
  element.checkVisibility() && element.innerText !== '').map(e => contrast(e, property)));
onerror = text => { errors.push(text); };
const alive = setInterval(() => {}, 1); // virtual time does not skip while files are read
onload = async () => {
  while (!data) await new Promise(then => setTimeout(then));
  const said = await (async () => { STEPS })().catch(error => { errors.push(error.message); });
  clearInterval(alive);
  parent.postMessage(JSON.stringify([errors, said]), '*');
};
</script></body>"""


class Page(Test):
    def setUp(self):
        super().setUp()
        self.call(0, SWEEP, *CELLS.split(), "--quiet", "--csv", self.path("a.csv"), "--html",
                  self.path("a.html"))
        self.csv, self.rows = self.read("a.csv"), results.Results(self.path("a.csv")).rows

    def drive(self, steps, width=1200):
        """What the steps return in the page, in which nothing may be an error."""
        driver = DRIVER.replace("STEPS", steps)
        self.write(self.read("a.html").replace("</body>", driver), "driven.html")
        frame = self.write(FRAME.replace("WIDTH", str(width)), "frame.html")
        done = subprocess.run(
            [BROWSERS[0], "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom",
             "--enable-logging=stderr", f"--user-data-dir={self.path('browser')}",
             "--virtual-time-budget=1000000", "file://" + frame], capture_output=True, text=True,
            check=True)
        self.assertNotIn("CONSOLE", done.stderr)
        errors, said = json.loads(html.unescape(re.search("<body>(.*)</body>", done.stdout)[1]))
        self.assertEqual(errors, [])
        return said

    def test_chart_and_table(self):
        log, linear, hidden, tip, across, every, unmarked, model, last, rows = self.drive("""
            const point = all('#charts .mark-auto')[1], at = point.getBoundingClientRect();
            all('#charts svg')[0].dispatchEvent(new PointerEvent('pointermove',
              {clientX: at.x + at.width / 2, clientY: at.y + at.height / 2}));
            const said = [all('#charts use')[0].getAttribute('y')];
            press('scale linear'); said.push(all('#charts use')[0].getAttribute('y'));
            press('path auto'); said.push(count('#charts .mark-auto'), text('tip'));
            press('path auto'); press('across keys');
            said.push(all('#charts text').at(-1).textContent); press('across lanes');
            for (const {id} of all('#controls button')) if (/any$/.test(id)) press(id);
            said.push([count('#charts use'), count('figure')],
              all('use').filter(e => !find(e.getAttribute('href').slice(1))).length,
              [find('model').checkVisibility(), text('unit'), text('said')].join());
            press('sort model_gross'); press('more'); said.push(all('#body tr').at(-1).textContent);
            filter('plain width=9'); return [...said, count('#body tr')];""")
        self.assertRegex(tip, r"^auto: width 9, .*model_gross [\d.]+\n")
        self.assertEqual((log == linear, hidden, across, every, unmarked),
                         (False, 0, "keys", [len(self.rows), 2], 0))
        self.assertRegex(model, "(?s)^true,CPU warp, model: .*arc's default has ")
        self.assertIn(max(self.rows, key=lambda row: row["gross"])["model_gross"], last)
        self.assertEqual(rows, [row["path"] + row["width"] for row in self.rows].count("plain9"))

    def test_files(self):
        twice = re.sub(r"(?m)^((?:[^#,\n]*,){14})([\d.]+)",
                       lambda its: f"{its[1]}{float(its[2]) * 2}", self.csv)
        fake = self.csv.replace(",plain,", f",{HOSTILE},").replace("device: ", "device: " + HOSTILE)
        with open(H200 + "/default.csv", encoding="utf-8") as file:
            gpu = file.read()
        given = json.dumps([self.csv, twice, fake, gpu]).replace("<", "\\u003c")
        losses = int(re.search(r"win by over 3 % in (\d+) of", gpu)[1])
        n = len(self.rows)
        self.assertEqual(self.drive(f"""
            const [own, twice, fake, gpu] = {given}, said = [];
            await give(['a', own], ['b', twice]); said.push(text('lost'), count('#losses li'));
            await give(['x', 'no sweep']); said.push(text('message'), text('title'));
            await give(['a', own], ['g', gpu]); said.push(text('message'));
            await give(['f', fake]); said.push(count('img'), text('title'));
            const other = '\\ufeff' + own.replaceAll('\\n', '\\r\\n');
            said.push(JSON.stringify(read('o', other)) === JSON.stringify(read('a', own)));
            await give(['g', gpu]); said.push(find('model').hidden, count('#losses li'));
            return said;"""), [
                f"B has 0.500x the speed of A, mean of {n}; below 0.97x in {n}.", n,
                "x is no result file of arc_sweep, or damaged", "Sweep B over sweep A",
                "One file holds times, the other model clocks", 0,
                f"What adding costs on {HOSTILE}CPU warp (simt)", True, True, losses])

    def test_readable(self):
        for width in (1200, 390):
            for wide, words, labels, marks, lines in self.drive("""
                    const seen = () => [document.documentElement.scrollWidth,
                      least('body :not(svg *, svg)', 'color'), least('#charts text', 'fill'),
                      least('#charts use', 'fill'), least('#charts polyline', 'stroke')];
                    press('width any'); const light = seen();
                    document.documentElement.style.colorScheme = 'dark';
                    return [light, seen()];""", width):
                self.assertLessEqual(wide, width)
                self.assertGreaterEqual(min(words, labels, 1.5 * marks, 1.5 * lines), 4.5)


if __name__ == "__main__":
    if not BROWSERS:
        print("skipped: no chromium or google-chrome")
        sys.exit(results.SKIPPED)
    unittest.main()
