/* page.js - reads result files of arc_sweep, draws and lists their cells in page.html; what a file
   holds only becomes text or an attribute there. SPDX-License-Identifier: Apache-2.0 */
'use strict';

const NOT_ARC = ['plain', 'vector', 'cg', 'cub', 'shuffle_skip'];
/* Hue, shape and dashes of a path: what others would ship is dashed, the papers' paths are dotted,
   arc's solid. */
const LOOKS = new Map(Object.entries({
  none: ['grey', 'dot', '1 4'], plain: ['ink', 'circle', '6 4'], vector: ['dim', 'square', '6 4'],
  cg: ['olive', 'cross', '6 4'], cub: ['red', 'up', '6 4'], shuffle_skip: ['pink', 'down', '6 4'],
  serialized: ['pink', 'down', '2 3'], butterfly: ['orange', 'up', '2 3'],
  atomic: ['sky', 'square'], transposed: ['green', 'diamond'], tree: ['red', 'cross'],
  auto: ['blue', 'disc'], hot: ['olive', 'up'], atomred: ['pink', 'down'],
  sums: ['orange', 'square', '8 3 2 3'], pieces: ['green', 'diamond', '8 3 2 3'],
  drop_in: ['ink', 'up', '8 3 2 3']}));

let data, state; // of the file that is shown or of two; of the controls and the table

const find = id => document.getElementById(id);
const fill = (id, ...children) => find(id).replaceChildren(...children);

function make(name, attributes, ...children) {
  const space = /^(svg|path|polyline|text|use)$/.test(name) ? '2000/svg' : '1999/xhtml';
  const element = document.createElementNS(`http://www.w3.org/${space}`, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  element.append(...children);
  return element;
}

/* A button that is pressed or not, and keeps the focus when it is made anew. */
function button(id, text, pressed, act) {
  const onclick = () => { act(); find(id).focus({preventScroll: true}); };
  return Object.assign(make('button', {id, 'aria-pressed': pressed}, ...text), {onclick});
}

/* ---- result files ---- */

const byValue = (a, b) => isNaN(a) - isNaN(b) || (isNaN(a) ? a.localeCompare(b) : a - b);
const distinct = (rows, column) => [...new Set(rows.map(row => row[column]))].sort(byValue);
const wordsOf = (row, columns) => columns.map(column => row[column]).join();
const groupsOf = (rows, columns) =>
  Object.values(Object.groupBy(rows, row => wordsOf(row, columns)));

function read(name, text) {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const first = lines.findIndex(line => line[0] !== '#');
  const [columns, ...rows] = lines.slice(first).filter(line => line && line[0] !== '#').map(
    line => line.split(','));
  const gross = rows.length ? columns.findIndex(column => /gross/.test(column)) : -1;
  if (lines[0] !== '# program: arc_sweep' || gross < 0 || rows.some(
    fields => fields.length !== columns.length))
    throw Error(`${name} is no result file of arc_sweep, or damaged`);
  const behind = start => lines.flatMap(line => line.split(start, 2).slice(1));
  return {rows: rows.map(fields => Object.fromEntries(columns.map((name, i) => [name, fields[i]]))),
    head: ['device', 'date', 'policy', 'command'].map(key => `${key}: ${behind(`# ${key}: `)[0]}`),
    device: `${behind('# device: ')}`.split(/[,;]/)[0],
    said: behind('# summary: '), meanings: behind('# column '), gross: columns[gross],
    cell: columns.slice(0, gross), figures: columns.slice(gross, -1),
    model: columns[gross] === 'model_gross'};
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
  return {...a, rows, head, said: [], gross: 'B over A', figures: ['B over A', 'A', 'B'],
    pairs: rows.map(row => ({row, ratio: +row['B over A'], over: 'A'}))};
}

const nameOf = row => data.varying.map(column => `${column} ${row[column]}`).join(', ');

/* Speed of arc's default relative to the fastest of what is not arc, if cells differ in path and
   threshold. */
function defaultOverOthers() {
  const time = row => +row[data.gross];
  return groupsOf(data.rows, data.cell.slice(0, -2)).map(rows => ({
    row: rows.find(row => row.path === 'auto' && row.threshold === 'auto' && row.lanes !== '0'),
    other: rows.filter(row => NOT_ARC.includes(row.path)).sort((a, b) => time(a) - time(b))[0]}))
    .filter(({row, other}) => row && other)
    .map(({row, other}) => ({row, over: other.path, ratio: time(row) / time(other)}));
}

function showLosses() {
  const pairs = data.pairs || defaultOverOthers();
  const mean = Math.exp(pairs.reduce((sum, pair) => sum + Math.log(pair.ratio), 0) / pairs.length);
  const lost = pairs.filter(pair => pair.ratio > 1 / 0.97).sort((a, b) => b.ratio - a.ratio);
  const [who, whom] = data.pairs ? ['B', 'A'] : ["arc's default", 'the best of what is not arc'];
  fill('lost', !pairs.length ? 'Nothing here to compare.' : `${who} has ` +
    `${(1 / mean).toFixed(3)}x the speed of ${whom}, mean of ${pairs.length}; ` +
    `below 0.97x in ${lost.length}.`);
  fill('losses', ...lost.map(({row, ratio, over}) => make('li', {},
    make('b', {}, `${(1 / ratio).toFixed(2)}x`), ` the speed of ${over}: ${nameOf(row)}`)));
}

/* The sweep's own words: a line, and those behind it that are indented. */
function showSummary() {
  const blocks = data.said.join('\n').replace(/\n {4}\b/g, ' ').split(/\n(?! )/).filter(Boolean);
  fill('title', data.pairs ? 'Sweep B over sweep A' : `What adding costs on ${data.device}`);
  fill('facts', data.head.join('\n'));
  fill('said', ...blocks.map(block => make('section', {class: /\S {3}/.test(block) && 'table'},
    ...block.split(/\n(.*)/s, 2).map((part, i) => make(i ? 'pre' : 'h3', {}, part)))));
  find('model').hidden = !data.model;
}

/* ---- controls ---- */

const choices = () => data.varying.filter(word => word !== 'path' && word !== state.across);

function fits(row, column) {
  const wanted = state.pick[column], own = row.path === 'auto' ? 'auto' : '0';
  return wanted === 'any' || wanted === row[column] || (column === 'threshold' &&
    (row.threshold === '-' || (wanted === 'own' && row.threshold === own)));
}

/* The other choices change as little as must be, then to where the chart has the most places. */
function choose(column, value) {
  state.pick[column] = value;
  const free = choices().filter(word => !['threshold', column].includes(word) &&
                                        state.pick[word] !== 'any');
  const score = rows => distinct(rows, state.across).length +
    100 * free.filter(word => rows[0][word] === state.pick[word]).length;
  const [best] = groupsOf(data.rows.filter(row => fits(row, column)), free).reduce(
    (best, rows) => score(rows) > score(best) ? rows : best);
  for (const word of free) state.pick[word] = best[word];
  showChart();
}

function goAcross(word) {
  Object.assign(state, {across: word, pick: {threshold: 'own'}});
  choose('width', word === 'width' ? 'any' : distinct(data.rows, 'width').reduce(
    (a, b) => a < 9 ? b : a));
}

const control = (label, values, now, act) => make('fieldset', {}, make('legend', {}, label),
  ...values.map(value => button(`${label} ${value}`, [value], value === now, () => act(value))));

function showControls() {
  const set = word => value => showChart(state[word] = value);
  fill('controls', control('across', data.varying.filter(
    word => /lanes|keys|threshold|width/.test(word)), state.across, goAcross),
    ...choices().map(word => control(word, [...word === 'threshold' ? ['own'] : [], 'any',
      ...distinct(data.rows, word)], state.pick[word], value => choose(word, value))),
    control('scale', ['log', 'linear'], state.scale, set('scale')),
    control('figure', data.figures, state.figure, set('figure')));
}

/* ---- the chart ---- */

const LEFT = 52, RIGHT = 12, TOP = 8, BOTTOM = 40; // of a panel, around its lines
const DECADES = [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap(
  power => [1, 2, 5].map(digit => digit * 10 ** power));

/* A mark, or else the line, of a path. */
function drawn(path, name, attributes) {
  const [hue, shape, dashes = 'none'] = LOOKS.get(path) || ['dim', 'bar'];
  const kind = name === 'use' ? {class: `point mark-${path}`, href: `#${shape}`} :
    {class: `line mark-${path}`};
  return make(name, {...kind, style: `--hue: var(--${hue}); --dashes: ${dashes}`, ...attributes});
}

function panel(title, rows, width) {
  const height = Math.min(460, 180 + width / 4), log = state.scale === 'log';
  const values = rows.map(row => +row[state.figure]), at = log ? Math.log : value => value;
  const low = log ? 0.95 * Math.min(...values.filter(x => x > 0), 1e9) : Math.min(0, ...values);
  const high = Math.max(1.1 * Math.max(...values), 1.3 * low, 1e-9);
  const places = distinct(rows, state.across), room = (width - LEFT - RIGHT) / places.length;
  const x = value => LEFT + room * (places.indexOf(value) + 0.5);
  const y = value => height - BOTTOM - (height - TOP - BOTTOM) *
    (at(Math.max(value, low)) - at(low)) / (at(high) - at(low));
  const svg = make('svg', {width, height, role: 'img', 'aria-label': `${state.figure} ${title}`});
  const write = (x, y, text, end) => svg.append(make('text', {x, y, 'text-anchor': end}, text));
  const step = +((high - low) / 5).toPrecision(1), round = Math.ceil(low / step);
  const ticks = log && high > 4 * low ? DECADES : [0, 1, 2, 3, 4, 5].map(i => (round + i) * step);
  for (const tick of ticks.filter(tick => tick >= low && tick <= high)) {
    svg.append(make('path', {class: 'grid', d: `M${LEFT},${y(tick)}H${width - RIGHT}`}));
    write(LEFT - 6, y(tick) + 4, +tick.toPrecision(4), 'end');
  }
  for (const [i, value] of places.entries())
    if (i % Math.ceil(26 / room) === 0) write(x(value), height - 22, value, 'middle');
  write((LEFT + width) / 2, height - 4, state.across, 'middle');
  const lines = new Map(), points = [];
  for (const row of [...rows].sort((a, b) => byValue(a[state.across], b[state.across]))) {
    const point = {row, x: x(row[state.across]), y: y(+row[state.figure])};
    const line = wordsOf(row, data.cell.filter(word => word !== state.across));
    points.push(point);
    if (!isNaN(row[state.across])) // words are no places on a line
      lines.set(line, [...lines.get(line) || [row.path], point.x, point.y]);
  }
  svg.append(...[...lines.values()].map(([path, ...points]) => drawn(path, 'polyline', {points})),
    ...points.map(({row, x, y}) => drawn(row.path, 'use', {x, y})));
  svg.onpointermove = event => showTip(points, event);
  return make('figure', {}, make('figcaption', {}, title), svg);
}

function showTip(points, event) {
  const away = point => Math.hypot(point.x - event.offsetX, point.y - event.offsetY);
  const near = points.reduce((best, point) => away(point) < away(best) ? point : best);
  const figures = data.figures.filter(word => near.row[word]), tip = find('tip');
  fill('tip', make('b', {}, near.row.path), `: ${nameOf(near.row)}`,
    make('pre', {}, figures.map(word => `${word} ${near.row[word]}`).join('\n')));
  tip.hidden = away(near) > 30;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight)}px`;
}

function showChart() {
  showControls();
  const there = data.rows.filter(row => row[state.figure] &&
                                        choices().every(column => fits(row, column)));
  const rows = there.filter(row => !state.hidden.has(row.path)), room = find('charts').clientWidth;
  const widths = choices().includes('width') || !rows.length ? distinct(rows, 'width') : [''];
  const columns = Math.max(1, Math.min(widths.length, Math.floor(room / 320)));
  const toggle = path => { state.hidden.delete(path) || state.hidden.add(path); showChart(); };
  fill('unit', data.model ? 'CPU warp, model: ' : '', data.meanings.find(
    line => line.startsWith(`${state.figure}:`)) || state.figure);
  fill('charts', ...widths.map(width => panel(width && `width ${width}`,
    rows.filter(row => !width || row.width === width), room / columns - 8)));
  fill('legend', ...distinct(there, 'path').map(path => button(`path ${path}`, [
    make('svg', {width: 34, height: 12}, drawn(path, 'path', {d: 'M1,6H33'}),
      drawn(path, 'use', {x: 17, y: 6})), path], !state.hidden.has(path), () => toggle(path))));
}

function showTable() {
  const columns = [...data.varying, ...data.figures, 'status'];
  const terms = find('filter').value.split(' ').map(term => term.split('='));
  const rows = data.rows.filter(row => terms.every(([word, value]) => value ? row[word] === value :
    columns.some(column => row[column].includes(word))));
  const sort = word => ({sort: word, turn: state.sort === word ? -state.turn : 1});
  if (state.sort) rows.sort((a, b) => state.turn * byValue(a[state.sort], b[state.sort]));
  fill('head', ...columns.map(word => make('th', {}, button(`sort ${word}`, [word],
    word === state.sort, () => showTable(Object.assign(state, sort(word)))))));
  fill('body', ...rows.slice(0, state.most).map(row =>
    make('tr', {}, ...columns.map(word => make('td', {}, row[word])))));
  fill('count', `${rows.length} of ${data.rows.length} cells`);
  find('more').hidden = rows.length <= state.most;
}

async function openFiles(files) {
  try {
    const [a, b] = await Promise.all([...files].map(async f => read(f.name, await f.text())));
    data = b ? compare(a, b) : a;
    data.varying = data.cell.filter(column => distinct(data.rows, column).length > 1);
    state = {scale: 'log', figure: data.gross, hidden: new Set(), sort: '', turn: 1, most: 200};
    showSummary();
    showLosses();
    goAcross(data.varying.includes('lanes') ? 'lanes' : 'width');
    showTable();
    fill('message', '');
  } catch (error) {
    fill('message', error.message);
  }
}

openFiles([new File([find('csv').textContent], 'the embedded file')]);
