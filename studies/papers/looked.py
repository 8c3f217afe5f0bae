"""looked.py - what tests of pictures share. SPDX-License-Identifier: Apache-2.0"""
import itertools
import sys
from unittest import mock

from bench_test import Test

import results
import pictures

try:
    pictures.load()
except results.Skip as reason:
    print(f"skipped: {reason}")
    sys.exit(77)
from matplotlib import legend, pyplot, text

AUTO = ("#0a4fb0", "o")


def overlap(a, b):
    return min(a.x1, b.x1) > max(a.x0, b.x0) and min(a.y1, b.y1) > max(a.y0, b.y0)


class Looked(Test):
    """What can be seen of a picture."""

    def look_at(self, drawn):
        self.addCleanup(pyplot.close, drawn)
        with mock.patch.object(text.Text, "draw", autospec=True,
                               side_effect=text.Text.draw) as draw:
            drawn.canvas.draw()
        boxes = {call[0][0]: call[0][0].get_window_extent() for call in draw.call_args_list
                 if call[0][0].get_visible() and call[0][0].get_text()}
        words = {written: written.get_text() for written in boxes}
        for a, b in itertools.combinations(boxes, 2):
            self.assertFalse(overlap(boxes[a], boxes[b]), f"'{words[a]}' over '{words[b]}'")
        for written, box in boxes.items():
            self.assertNotRegex(words[written], r"\$")  # powers of ten
            self.assertFalse(drawn.bbox.x1 < box.x1 or drawn.bbox.y1 < box.y1 or min(box.min) < 0,
                             f"'{words[written]}' is cut off")
        for box in drawn.findobj(legend.Legend):
            for axes in drawn.axes:
                self.assertFalse(overlap(box.get_window_extent(), axes.get_window_extent()))
        looks = {}
        for axes in drawn.axes:
            for axis, whole in ((axes.xaxis, drawn.get_supxlabel()),
                                (axes.yaxis, drawn.get_supylabel())):
                ticks = [words[tick] for tick in axis.get_ticklabels() if tick in words]
                self.assertTrue(not ticks or axis.get_label_text() or whole
                                or any(tick.islower() or tick.isupper() for tick in ticks))
            for line, name in zip(*axes.get_legend_handles_labels()):
                looks[name] = ([line.get_marker(), line.get_linestyle()]
                               if hasattr(line, "get_marker") else type(line))
                if name == "auto":
                    self.assertEqual((line.get_color(), line.get_marker()), AUTO)
        for a, b in itertools.combinations(looks, 2):
            self.assertNotEqual(looks[a], looks[b], f"{a} and {b} differ by colour alone")
