/* page.js - what page.html does: reads result files of arc_sweep, draws and lists their cells.
   SPDX-License-Identifier: Apache-2.0

   What a file holds only ever becomes text of an element. */
'use strict';

const FIRST_LINE = '# program: arc_sweep';
const CLEARLY = 1.03; // as in the sweep's summary
const NOT_ARC = ['plain', 'vector', 'cg', 'cub', 'cub_batched', 'shuffle_skip', 'match_shared'];

let data;  // of the file that is shown, or of two
let state; // of the controls and of the table

/* ---- elements ---- */

const find = id => document.getElementById(id);
const fill = (id, ...children) => find(id).replaceChildren(...children);

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function draw(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  element.append(...children);
  return element;
}

/* ---- result files ---- */

const byValue = (a, b) => isNaN(a) - isNaN(b) || (isNaN(a) ? a.localeCompare(b) : a - b);
const distinct = (rows, column) => [...new Set(rows.map(row => row[column]))].sort(byValue);
const wordsOf = (row, columns) => columns.map(column => row[column]).join();
const withVarying = file =>
  ({...file, varying: file.cell.filter(column => distinct(file.rows, column).length > 1)});

function read(name, text) {
  const lines = text.split(/\r?\n/), first = lines.findIndex(line => line[0] !== '#');
  const columns = lines[first].split(','), figure = columns.findIndex(word => /gross/.test(word));
  if (lines[0] !== FIRST_LINE || figure < 2) throw Error(`${name} is no result file of arc_sweep`);
  const rows = lines.slice(first + 1).filter(line => line && line[0] !== '#').map(line => {
    const fields = line.split(',');
    if (fields.length !== columns.length) throw Error(`${name} is damaged at the line ${line}`);
    return Object.fromEntries(columns.map((column, i) => [column, fields[i]]));
  });
  if (!rows.length) throw Error(`${name} holds no cells`);
  const head = lines.slice(1, first).filter(line => /^# (device|date|policy|command): /.test(line));
  const said = lines.filter(line => line.startsWith('# summary: ')).map(line => line.slice(11));
  return withVarying({head: head.map(line => line.slice(2)), said, rows, gross: columns[figure],
    cell: columns.slice(0, figure), figures: columns.slice(figure, -1),
    model: columns[figure] === 'model_gross'});
}

/* The cells that both have, with the ratio of their figures. */
function compare(a, b) {
  if (a.model !== b.model) throw Error('One file holds times, the other model clocks');
  const others = new Map(b.rows.map(row => [wordsOf(row, b.cell), row[b.gross]]));
  const rows = a.rows.filter(row => others.has(wordsOf(row, a.cell))).map(row => {
    const [A, B] = [row[a.gross], others.get(wordsOf(row, a.cell))];
    return {...row, A, B, 'B over A': (B / A).toPrecision(4)};
  });
  if (!rows.length) throw Error('The files have no cell in common');
  const head = [['A', a], ['B', b]].flatMap(([x, file]) => file.head.map(line => `${x} ${line}`));
  return withVarying({...a, rows, head, said: [], gross: 'B over A', figures: ['B over A', 'A', 'B'],
    pairs: rows.map(row => ({row, ratio: +row['B over A'], over: 'A'}))});
}

/* ---- the answer ---- */

const nameOf = row => data.varying.filter(column => row[column] !== '-')
  .map(column => `${column} ${row[column]}`).join(', ');

/* arc's default over the fastest of what is not arc, where cells differ in path and threshold. */
function defaultOverOthers() {
  const groups = new Map(), time = row => +row[data.gross];
  for (const row of data.rows.filter(row => row.lanes !== '0')) {
    const key = wordsOf(row, data.cell.slice(0, -2)), group = groups.get(key) || {};
    groups.set(key, group);
    if (row.path === 'auto' && row.threshold === 'auto') group.row = row;
    if (NOT_ARC.includes(row.path) && !(group.rival && time(group.rival) <= time(row)))
      group.rival = row;
  }
  return [...groups.values()].filter(({row, rival}) => row && rival).map(({row, rival}) =>
    ({row, ratio: time(row) / time(rival), over: rival.path}));
}

function showLosses() {
  const pairs = data.pairs || defaultOverOthers();
  const mean = Math.exp(pairs.reduce((sum, pair) => sum + Math.log(pair.ratio), 0) / pairs.length);
  const lost = pairs.filter(pair => pair.ratio > CLEARLY).sort((a, b) => b.ratio - a.ratio);
  fill('lost', !pairs.length ? 'Nothing here to compare.' :
    `${data.pairs ? 'B takes' : "arc's default takes"} ${mean.toFixed(3)} of ` +
    `${data.pairs ? 'A' : 'the best of what is not arc'}, mean of ${pairs.length}` +
    `${data.model ? ', model clocks' : ''}; it is over 3 % slower in ${lost.length}.`);
  fill('losses', ...lost.map(({row, ratio, over}) =>
    make('li', {}, make('b', {}, ratio.toFixed(2)), ` of ${over}: ${nameOf(row)}`)));
}

/* The sweep's own words: a line, and those behind it that are indented. */
function showSummary() {
  const macros = data.said.join(' ').match(/-DARC_\w+=\d+/g);
  fill('said', ...data.said.join('\n').split(/\n(?! )/).filter(Boolean).map(block =>
    make('section', {}, ...block.split(/\n(.*)/s, 2).map((part, i) => make(i ? 'pre' : 'h3', {},
      part)))));
  fill('macros', macros ? macros.join(' ') : '');
  find('copy').parentElement.hidden = !macros;
  find('model').hidden = !data.model;
  fill('facts', data.head.join('\n'));
}

/* ---- controls ---- */

const choices = () => data.varying.filter(word => word !== 'path' && word !== state.across);

function fits(row, column) {
  const wanted = state.pick[column], own = row.path === 'auto' ? 'auto' : '0';
  return wanted === 'all' || wanted === row[column] || (column === 'threshold' &&
    (row.threshold === '-' || (wanted === 'own' && row.threshold === own)));
}

/* The other choices change as little as must be, then to where the chart has the most places. */
function choose(column, value) {
  if (column) state.pick[column] = value;
  const free = choices().filter(word => word !== column && word !== 'threshold' &&
                                        state.pick[word] !== 'all');
  const found = new Map();
  for (const row of data.rows.filter(row => !column || fits(row, column))) {
    const key = wordsOf(row, free), same = free.filter(word => row[word] === state.pick[word]);
    if (!found.has(key)) found.set(key, {row, same: same.length, places: new Set()});
    found.get(key).places.add(row[state.across]);
  }
  const [best] = [...found.values()].sort((a, b) => b.same - a.same ||
                                                    b.places.size - a.places.size);
  for (const word of free) state.pick[word] = best.row[word];
  showChart();
}

const control = (label, values, now, act) => make('fieldset', {}, make('legend', {}, label),
  ...values.map(value => make('button', {id: `${label} ${value}`, ariaPressed: value === now,
    onclick: () => act(value)}, value)));

function showControls() {
  const focus = document.activeElement.id;
  const set = word => value => { state[word] = value; choose(); };
  const across = ['lanes', 'keys', 'threshold', 'width'].filter(word => data.varying.includes(word));
  fill('controls', control('across', across, state.across, set('across')),
    control('scale', ['log', 'linear'], state.scale, set('scale')),
    ...choices().map(word => control(word, [...(word === 'threshold' ? ['own'] : []),
      ...distinct(data.rows, word), 'all'], state.pick[word], value => choose(word, value))),
    control('figure', data.figures, state.figure, set('figure')));
  find(focus)?.focus();
}

/* ---- the chart ---- */

const LEFT = 52, RIGHT = 12, TOP = 8, BOTTOM = 40;

function ticksOf(low, high, log) {
  const ten = 10 ** Math.floor(Math.log10(high / 6));
  const step = ten * [1, 2, 5, 10].find(k => 6 * k * ten >= high);
  return new Set([0, 1, 2, 3, 4, 5, 6].map(i => log ?
    +(low * (high / low) ** (i / 6)).toPrecision(high > 20 * low ? 1 : 2) : +(i * step).toPrecision(2))
    .filter(tick => tick >= low && tick <= high));
}

function mark(path, x, y) {
  const shape = find(`mark-${path}`) || find('mark-other');
  return draw('path', {class: `point ${shape.id}`, d: shape.getAttribute('d'),
    transform: `translate(${x},${y})`});
}

function panel(title, rows, width) {
  const height = Math.min(460, 180 + width / 4), log = state.scale === 'log';
  const values = rows.map(row => +row[state.figure]), at = log ? Math.log : value => value;
  const low = log ? Math.min(1e9, ...values.filter(value => value > 0)) / 1.1 : Math.min(0, ...values);
  const high = Math.max(1.1 * Math.max(...values), 1.3 * low, 1e-9);
  const places = distinct(rows, state.across), room = (width - LEFT - RIGHT) / places.length;
  const x = value => LEFT + room * (places.indexOf(value) + 0.5);
  const y = value => height - BOTTOM - (height - TOP - BOTTOM) *
    (at(Math.max(value, low)) - at(low)) / (at(high) - at(low));
  const svg = draw('svg', {width, height, role: 'img', 'aria-label': `${state.figure} ${title}`});
  const write = (x, y, anchor, text) => svg.append(draw('text', {x, y, 'text-anchor': anchor}, text));
  for (const tick of ticksOf(low, high, log)) {
    svg.append(draw('path', {class: 'grid', d: `M${LEFT},${y(tick)}H${width - RIGHT}`}));
    write(LEFT - 6, y(tick) + 4, 'end', tick);
  }
  for (const [i, value] of places.entries())
    if (i % Math.ceil(26 / room) === 0) write(x(value), height - 22, 'middle', value);
  write((LEFT + width) / 2, height - 4, 'middle', state.across);
  const lines = new Map(), points = [];
  for (const row of [...rows].sort((a, b) => byValue(a[state.across], b[state.across]))) {
    const point = {row, x: x(row[state.across]), y: y(+row[state.figure])};
    const line = wordsOf(row, data.cell.filter(word => word !== state.across));
    points.push(point);
    if (isNaN(row[state.across])) continue; // words are no places on a line
    lines.set(line, {path: row.path, d: `${lines.get(line)?.d || ''} ${point.x},${point.y}`});
  }
  svg.append(...[...lines.values()].map(line => draw('polyline', {class: `line mark-${line.path}`,
    points: line.d})), ...points.map(point => mark(point.row.path, point.x, point.y)));
  svg.onpointermove = event => showTip(points, event);
  svg.onpointerleave = () => { find('tip').hidden = true; };
  return make('figure', {}, make('figcaption', {}, title), svg);
}

function showTip(points, event) {
  const away = point => Math.hypot(point.x - event.offsetX, point.y - event.offsetY);
  const near = points.reduce((best, point) => away(point) < away(best) ? point : best);
  const figures = data.figures.filter(word => near.row[word]);
  fill('tip', make('b', {}, near.row.path), `: ${nameOf(near.row)}`,
    make('pre', {}, figures.map(word => `${word} ${near.row[word]}`).join('\n')));
  find('tip').hidden = away(near) > 30;
  find('tip').style.left = `${Math.min(event.clientX + 14, innerWidth - find('tip').offsetWidth)}px`;
  find('tip').style.top = `${Math.min(event.clientY + 14, innerHeight - find('tip').offsetHeight)}px`;
}

function showChart() {
  showControls();
  const there = data.rows.filter(row => row[state.figure] &&
                                        choices().every(column => fits(row, column)));
  const rows = there.filter(row => !state.hidden.has(row.path)), room = find('charts').clientWidth;
  const widths = choices().includes('width') ? distinct(rows, 'width') : [''];
  const columns = Math.max(1, Math.min(widths.length, Math.floor(room / 320)));
  fill('unit', `${data.model ? 'model, no time: ' : ''}${state.figure}`);
  fill('charts', ...widths.map(width => panel(width && `width ${width}`,
    rows.filter(row => !width || row.width === width), room / columns - 8)));
  fill('legend', ...distinct(there, 'path').map(path => make('button', {id: `path ${path}`,
    ariaPressed: !state.hidden.has(path), onclick: () => {
      if (!state.hidden.delete(path)) state.hidden.add(path);
      showChart();
    }}, draw('svg', {width: 34, height: 12}, draw('path', {class: `line mark-${path}`, d: 'M1,6H33'}),
      mark(path, 17, 6)), path)));
}

/* ---- the table ---- */

function showTable() {
  const columns = [...data.varying, ...data.figures, 'status'];
  const terms = find('filter').value.split(' ').filter(Boolean);
  const rows = data.rows.filter(row => {
    const text = columns.map(word => ` ${word}=${row[word]} `).join('');
    return terms.every(term => text.includes(term.includes('=') ? ` ${term} ` : term));
  });
  const sort = word => {
    state.turn = state.sort === word ? -state.turn : 1;
    state.sort = word;
    showTable();
  };
  if (state.sort) rows.sort((a, b) => state.turn * byValue(a[state.sort], b[state.sort]));
  fill('head', ...columns.map(word => make('th', {ariaSort: word !== state.sort ? 'none' :
    state.turn > 0 ? 'ascending' : 'descending'}, make('button', {onclick: () => sort(word)}, word))));
  fill('body', ...rows.slice(0, state.most).map(row =>
    make('tr', {}, ...columns.map(word => make('td', {}, row[word])))));
  fill('count', `${rows.length} of ${data.rows.length} cells`);
  find('more').hidden = rows.length <= state.most;
}

/* ---- the page ---- */

async function open(files) {
  try {
    if (files.length > 2) throw Error('One file, or two to compare');
    const [a, b] = await Promise.all([...files].map(async f => read(f.name, await f.text())));
    data = b ? compare(a, b) : a;
    state = {across: data.varying.includes('lanes') ? 'lanes' : 'width', scale: 'log',
      figure: data.gross, pick: {threshold: 'own'}, hidden: new Set(), sort: '', turn: 1, most: 200};
    fill('message', '');
    showSummary();
    showLosses();
    choose('width', distinct(data.rows, 'width').reduce((a, b) => a < 9 ? b : a));
    showTable();
  } catch (error) {
    fill('message', error.message);
  }
}

async function copy() {
  getSelection().selectAllChildren(find('macros'));
  const taken = navigator.clipboard ? navigator.clipboard.writeText(find('macros').textContent) :
    Promise.reject();
  await taken.then(() => fill('copied', 'copied'), () => fill('copied', 'selected, to copy by keys'));
}

find('open').onchange = event => open(event.target.files);
find('filter').oninput = showTable;
find('copy').onclick = copy;
find('more').onclick = () => { state.most = Infinity; showTable(); };
find('theme').onclick = () => document.documentElement.classList.toggle('dark');
document.documentElement.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
onresize = showChart;
open([new File([find('csv').textContent], 'the embedded file')]);
