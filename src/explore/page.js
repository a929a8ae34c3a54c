// The page: its columns, the highlights in them, the steps through the passes, search, and keys. In: the trace in the page.

const NAMES = { byte: 'Bytecode', node: 'Graph', tile: 'Tiles', range: 'Ranges', code: 'Code' };
const SHARES = { byte: 1.05, node: 1.55, tile: 1.35, range: 0.85, code: 1.35 };

const byId = (id) => document.getElementById(id);

class Page {
  constructor(functions) {
    this.functions = functions;
    this.hovered = this.pinned = null;
    this.cursors = {};
    this.hits = Object.fromEntries(COLUMNS.map((kind) => [kind, new Set()]));
    this.found = emptyFound();
    this.showsBytes = false;
    this.makeColumns();
    this.makeViews();
    listen(this);
    const pick = byId('function');
    pick.replaceChildren(...functionNames(functions).map((name, at) => new Option(name, at)));
    pick.parentElement.hidden = functions.length < 2;
    if (functions.length) this.open(0);
    else byId('facts').textContent = 'There is no trace in this page.';
  }

  makeColumns() {
    const main = byId('columns');
    this.columns = {};
    COLUMNS.forEach((kind, at) => {
      if (at) {
        const divider = document.createElement('div');
        Object.assign(divider, { className: 'divider', tabIndex: -1 });
        divider.setAttribute('role', 'separator');
        divider.setAttribute('aria-orientation', 'vertical');
        divider.setAttribute('aria-label', `Width of ${NAMES[COLUMNS[at - 1]]}`);
        divider.dataset.left = COLUMNS[at - 1];
        main.append(divider);
      }
      const column = document.createElement('section');
      column.className = 'column';
      column.dataset.kind = kind;
      column.style.setProperty('--share', SHARES[kind]);
      column.innerHTML = `<header><h2>${NAMES[kind]}</h2><span class="count"></span><div class="tools"></div></header>`
        + `<button class="more up" hidden></button><div class="body" id="${kind}" tabindex="0" role="${kind === 'node' || kind === 'range' ? 'group' : 'listbox'}" aria-label="${NAMES[kind]}"></div>`
        + '<button class="more down" hidden></button>';
      main.append(column);
      const toggle = document.createElement('button');
      toggle.textContent = NAMES[kind];
      toggle.dataset.kind = kind;
      toggle.title = `Show or hide (Shift ${at + 1})`;
      toggle.addEventListener('click', () => this.toggleColumn(kind));
      byId('shown').append(toggle);
      this.columns[kind] = { column, toggle, body: column.querySelector('.body'), count: column.querySelector('.count'), tools: column.querySelector('.tools') };
    });
    const tools = (kind, buttons) => {
      for (const [name, text, title, act] of buttons) {
        const button = document.createElement('button');
        Object.assign(button, { textContent: text, title });
        button.dataset.tool = name;
        button.setAttribute('aria-label', title);
        button.addEventListener('click', act);
        this.columns[kind].tools.append(button);
      }
    };
    tools('node', [
      ['gone', 'gone', 'Show what the pass removed', () => this.toggleGone()], ['fold', 'fold', 'Fold or unfold all blocks (f)', () => this.foldAll()],
      ['fit', 'fit', 'Fit (0)', () => this.graph.fit()],
    ]);
    tools('tile', [['places', 'places', 'With or without places (p)', () => this.setPlaces(!this.showsPlaces)]]);
    tools('range', [['out', '−', 'Less detail (−)', () => this.zoomChart(0.5)], ['in', '+', 'More detail (+)', () => this.zoomChart(2)]]);
    tools('code', [['bytes', 'bytes', 'Bytes (b)', () => this.setBytes(!this.showsBytes)]]);
  }

  makeViews() {
    const body = (kind) => this.columns[kind].body;
    const longest = (rows, text) => rows.reduce((most, row) => Math.max(most, row ? text(row).length : 0), 0);
    this.byteList = new List(body('byte'), {
      make: (at) => byteRow(this.bytes[at], this.digits.byte),
      dress: (at) => this.dress('byte', this.bytes[at].at),
      width: () => longest(this.bytes, (row) => row.text) + this.digits.byte,
    });
    this.tileList = new List(body('tile'), {
      make: (at) => tileRow(this.tiles.rows[at], this.digits.tile),
      dress: (at) => this.dressTile(this.tiles.rows[at]),
      width: () => longest(this.tiles.rows, SEARCHED.tile) + 4,
    });
    this.codeList = new List(body('code'), {
      make: (at) => codeRow(this.links.machine[at], this.codeShape),
      dress: (at) => this.dressCode(at),
      width: () => {
        const { offset, text, bytes, links, node, num } = this.codeShape;
        return offset + text + (this.showsBytes ? bytes + 2 : 0) + links + node + num + 4 + longest(this.links.machine, (row) => row.tile);
      },
    });
    this.graph = new GraphView(body('node'));
    this.graph.dress = (row) => this.dress('node', row);
    this.columns.node.tools.querySelector('[data-tool=gone]').setAttribute('aria-pressed', true);
    this.chart = new Chart(body('range'));
    this.views = {
      byte: view(this.byteList, (id) => this.byteRowOf.get(id)), code: view(this.codeList, (id) => id),
      tile: view(this.tileList, (id) => this.tileRowOf.get(id)), node: this.graph, range: this.chart,
    };
  }

  /** Shows another function. */
  open(at) {
    const one = this.functions[at];
    this.current = one;
    one.links ??= timed('links', () => new Links(one.stages));
    const { links } = one;
    this.links = links;
    this.hovered = this.pinned = null;
    this.cursors = {};
    this.bytes = links.bytecode.filter(Boolean);
    this.byteRowOf = new Map(this.bytes.map((row, index) => [row.at, index]));
    this.graph.folded = new Set();
    this.digits = { byte: String(this.bytes.length).length, tile: Math.max(2, String(links.list.insts.length).length) };
    this.steps = one.stages.filter((stage) => stage.kind !== 'bytecode');
    byId('title').textContent = document.title;
    const facts = [ plural(this.bytes.length, 'bytecode'), links.list.insts.length && plural(links.list.insts.length, 'instruction'), links.machine.length && plural(codeBytes(links.machine), 'byte')];
    byId('facts').textContent = [this.functions.length < 2 && one.name !== document.title && one.name, one.tier, ...facts].filter(Boolean).join('  ·  ');
    const has = { byte: this.bytes.length, node: links.graphs.length, tile: links.list.rows.length, range: links.ranges.length, code: links.machine.length };
    for (const kind of COLUMNS) {
      const { toggle } = this.columns[kind];
      toggle.disabled = !has[kind];
      this.showColumn(kind, !!has[kind], true);
    }
    this.columns.byte.count.textContent = this.bytes.length.toLocaleString('en');
    this.columns.code.count.textContent = has.code ? plural(codeBytes(links.machine), 'byte') : '';
    this.byteList.reset(this.bytes.length);
    this.showCode();
    this.makeTime();
    this.shownGraph = null;
    this.setTime(this.steps.length - 1);
    if (this.graph.layout) this.graph.start();
    this.search(byId('search').value);
    this.readAhead(links.graphs.length - 1);
  }

  /** Parses the earlier graphs in idle time, so that they are ready when they are shown. */
  readAhead(at) {
    const { links } = this;
    if (at < 0 || !window.requestIdleCallback) return;
    requestIdleCallback(() => { links.keyNodes(at); if (links === this.links) this.readAhead(at - 1); });
  }

  showCode() {
    const rows = this.links.machine;
    const widths = rows.map((row) => (row.text || row.bytes).length).sort((one, other) => one - other);
    this.codeShape = {
      offset: rows.reduce((most, row) => Math.max(most, row.offset.length), 2), showsBytes: this.showsBytes,
      bytes: Math.min(30, rows.reduce((most, row) => Math.max(most, row.bytes.length), 0)),
      text: Math.max(18, Math.min(widths[widths.length - 1] || 0, Math.max(24, widths[Math.floor(widths.length * 0.95)] || 0))),
      links: 2 + String(this.bytes.length).length, node: 2 + rows.reduce((most, row) => Math.max(most, String(row.node).length), 1),
      num: this.digits.tile,
    };
    this.columns.code.tools.querySelector('[data-tool=bytes]').setAttribute('aria-pressed', this.showsBytes);
    this.codeList.reset(rows.length);
  }

  /* Time. */

  makeTime() {
    byId('time').replaceChildren(...this.steps.map((stage, at) => {
      const item = document.createElement('li');
      const button = document.createElement('button');
      button.textContent = stage.name;
      button.addEventListener('click', () => this.setTime(at));
      item.append(button);
      return item;
    }));
  }

  setTime(at) {
    if (at < 0 || at >= this.steps.length) return;
    this.time = at;
    const stage = this.steps[at];
    [...byId('time').children].forEach((item, index) => {
      item.className = index < at ? 'done' : index === at ? 'now' : '';
      if (index === at) item.firstChild.setAttribute('aria-current', 'step');
      else item.firstChild.removeAttribute('aria-current');
      if (index === at) item.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
    const now = { graph: 'node', tiles: 'tile', live: 'range', emit: 'code' }[stage.kind];
    for (const kind of COLUMNS) this.columns[kind].column.classList.toggle('now', kind === now);
    this.showGraph(stage);
    const allocated = this.steps.findIndex((step) => step.name === 'allocate');
    this.setPlaces(allocated >= 0 && at >= allocated);
    this.refresh();
  }

  /** Shows the graph of a pass with its changes; for later stages, the last graph. */
  showGraph(stage) {
    const { graphs } = this.links;
    if (!graphs.length) return;
    const isGraph = stage.kind === GRAPH;
    const shown = isGraph ? stage : graphs[graphs.length - 1];
    const wanted = `${graphs.indexOf(shown)} ${isGraph}`;
    if (this.shownGraph === wanted) return;
    // The highlight stays on the same node.
    const keep = [this.pinned, this.hovered].map((item) => item?.kind === 'node' && this.shown.nodes[item.id]?.key);
    this.shownGraph = wanted;
    const graph = (this.shown = this.links.graph(shown));
    const before = isGraph && graphs[graphs.indexOf(shown) - 1];
    const comparison = compareGraphs(before && this.links.graph(before), graph);
    [this.pinned, this.hovered] = [this.pinned, this.hovered].map((item, at) => {
      if (item?.kind !== 'node') return item;
      const node = graph.byKey.get(keep[at]);
      return node ? { kind: 'node', id: node.at } : null;
    });
    delete this.cursors.node;
    this.graph.show(graph, comparison);
    this.showCounts(comparison.counts, shown, !!before);
    this.search(byId('search').value, true);
  }

  showCounts(counts, stage, hasBefore) {
    const { count, tools } = this.columns.node;
    tools.querySelector('[data-tool=gone]').hidden = !counts.removed;
    count.textContent = hasBefore && Object.values(counts).some((number) => number) ? '' : stage.name;
    for (const old of tools.querySelectorAll('.chip')) old.remove();
    if (!hasBefore) return;
    const chips = [['added', '+', counts.added], ['gone', '−', counts.removed], ['changed', '~', counts.changed], ['moved', '→', counts.moved]];
    const made = chips.filter(([, , number]) => number).map(([what, sign, number]) => {
      const chip = document.createElement('button');
      chip.className = `chip ${what}`;
      chip.textContent = `${sign}${number}`;
      chip.title = `${plural(number, 'node')} ${what}: to the next one`;
      chip.addEventListener('click', () => this.nextChange(what));
      return chip;
    });
    tools.prepend(...made);
    if (!made.length) count.textContent = `${stage.name}, as before`;
  }

  /** Goes to the next node with this kind of change. */
  nextChange(what) {
    if (what === 'gone') {
      if (!this.graph.showsGone) this.toggleGone();
      const boxes = this.graph.order.map((index) => this.graph.blocks[index]);
      const { scrollTop } = this.graph.body;
      const spots = boxes.flatMap((box) => box.lines.map((line, at) => line.gone && box.y + HEAD + at * LINE).filter((y) => y !== false)).map((y) => y * this.graph.zoom);
      const next = spots.find((y) => y > scrollTop + 60) ?? spots[0];
      if (next !== undefined) this.graph.body.scrollTop = next - 40;
      return;
    }
    const rows = this.graph.rows().filter((row) => this.graph.comparison.changes.get(row) === what);
    const now = rows.indexOf(this.cursors.node);
    if (!rows.length) return;
    this.goTo('node', rows[(now + 1) % rows.length]);
  }

  setPlaces(shows) {
    this.showsPlaces = shows && !!this.links.placed;
    const tiles = (this.showsPlaces ? this.links.placed : this.links.tiles) || this.links.list;
    const button = this.columns.tile.tools.querySelector('[data-tool=places]');
    button.setAttribute('aria-pressed', this.showsPlaces);
    button.hidden = !this.links.placed || !this.links.unplaced;
    if (this.tiles === tiles && this.tileList.count === tiles.rows.length) return;
    const top = this.tiles && this.tileList.body.scrollTop / ROW;
    const seen = this.tiles?.rows[Math.floor(top)];
    this.tiles = tiles;
    this.tileRowOf = new Map();
    this.moveRowOf = new Map();
    tiles.rows.forEach((row, at) => { if (row.kind === 'inst') this.tileRowOf.set(row.num, at);
      if (row.kind === 'move') this.moveRowOf.set(row.id, at); });
    this.columns.tile.count.textContent = tiles.rows.length ? plural(this.tileRowOf.size, 'instruction') : '';
    this.tileList.reset(tiles.rows.length);
    this.columns.range.count.textContent = this.links.ranges.length ? this.links.ranges.length.toLocaleString('en') : '';
    if (this.links.ranges.length) this.chart.show(this.links, tiles.rows, this.showsPlaces);
    // The same rows stay visible.
    const row = seen?.kind === 'inst' && this.tileRowOf.get(seen.num);
    if (row) this.tileList.body.scrollTop = (row + (top % 1)) * ROW;
  }

  setBytes(shows) {
    this.showsBytes = shows;
    this.showCode();
  }

  toggleGone() {
    this.graph.showsGone = !this.graph.showsGone;
    this.columns.node.tools.querySelector('[data-tool=gone]').setAttribute('aria-pressed', this.graph.showsGone);
    this.regraph();
  }

  foldAll() {
    const { folded, graph } = this.graph;
    const all = graph.blocks.every((block) => folded.has(block.id));
    this.graph.folded = new Set(all ? [] : graph.blocks.map((block) => block.id));
    this.regraph();
    this.graph.start(this.graph.zoom);
  }

  fold(id) {
    const { folded } = this.graph;
    if (!folded.delete(id)) folded.add(id);
    this.regraph(id);
  }

  /** Lays the graph out again. The folded or unfolded block stays at its position on the screen. */
  regraph(id) {
    const { graph } = this;
    const box = graph.boxOf.get(id);
    const spot = box && { id, x: (box.x + box.width / 2) * graph.zoom + graph.margin - graph.body.scrollLeft, y: box.y * graph.zoom - graph.body.scrollTop };
    graph.show(graph.graph, graph.comparison);
    if (spot) graph.hold(spot);
    this.refresh();
  }

  zoomChart(factor) {
    const { chart } = this, ratio = this.chart.body.scrollTop / chart.row;
    chart.setRow(chart.row * factor);
    chart.body.scrollTop = ratio * chart.row;
    this.syncFrom(this.columns.tile.body);
  }

  /* Columns. */

  toggleColumn(kind) {
    if (!this.columns[kind].toggle.disabled) this.showColumn(kind, this.columns[kind].column.hidden);
  }

  showColumn(kind, shows, isQuiet) {
    const { column, toggle } = this.columns[kind];
    column.hidden = !shows;
    toggle.setAttribute('aria-pressed', shows);
    // There is a divider between each two visible columns.
    let seen = false;
    for (const each of byId('columns').children) {
      if (each.className === 'divider') each.hidden = true;
      else if (!each.hidden) { if (seen && each.previousElementSibling) each.previousElementSibling.hidden = false; seen = true; }
    }
    if (!isQuiet) this.redraw();
  }

  redraw() {
    for (const list of [this.byteList, this.tileList, this.codeList]) list.draw();
    if (this.graph.layout) this.graph.resize();
    this.chart.draw();
    this.refresh();
  }

  /** Scrolls tiles and ranges together, because their rows correspond. */
  syncFrom(body) {
    const { tile, range } = this.columns;
    const other = body === tile.body ? range.body : tile.body;
    const ratio = body === tile.body ? this.chart.row / ROW : ROW / this.chart.row;
    const wanted = Math.round(body.scrollTop * ratio);
    if (this.chart.row === ROW && Math.abs(other.scrollTop - wanted) > 1) other.scrollTop = wanted;
  }

  /* Highlights. */

  get item() {
    return this.pinned || this.hovered;
  }

  /** Highlights the items that are linked to the current item. */
  refresh() {
    const { item, links } = this;
    this.found = item ? links.related(item.kind, item.id, this.shown) : emptyFound();
    for (const id of this.showsPlaces && item && item.kind !== 'block' ? this.found.moves.keys() : []) {
      const move = this.tiles.rows[this.moveRowOf.get(id)];
      for (const range of move ? this.chart.endsOf(move) : []) mark(this.found.range, range.at, DIRECT);
    }
    document.body.classList.toggle('pinned', !!this.pinned);
    this.byteList.redress();
    this.tileList.redress();
    this.codeList.redress();
    this.graph.wire = item?.kind === 'node' ? this.graph.wiresOf(item.id, this.found.node) : '';
    this.graph.lit = this.found.blocks;
    if (this.graph.layout) this.graph.redress();
    // The highlights on the canvas are also set as attributes, where tests can read them.
    const named = (levels) => [...this.found.range].filter(([, level]) => levels.includes(level)).map(([id]) => `r${links.ranges[id].vregs[0]}`).join(' ');
    Object.assign(this.columns.range.body.dataset, { self: named([3]), linked: named([DIRECT]), soft: named([SIDE]) });
    this.chart.levels = this.found.range;
    this.chart.bands = this.found.tile;
    this.chart.moves = this.found.moves;
    this.chart.draw();
    this.showMore();
    this.showWay();
  }

  dress(kind, id) {
    const level = this.found[kind].get(id);
    return `${level === 3 ? 'self' : level === DIRECT ? 'linked' : level ? 'soft' : ''}${this.hits[kind].has(id) ? ' hit' : ''}${this.cursors[kind] === id ? ' cursor' : ''}`;
  }

  dressTile(row) {
    if (row.kind === 'block') return `head${this.found.blocks.has(row.id) ? ' self' : ''}`;
    if (row.kind === 'edge') return this.found.blocks.has(row.to) ? 'soft' : '';
    if (row.kind === 'move') {
      const level = this.found.moves.get(row.id);
      return level === 3 ? 'self' : level ? 'linked' : this.found.tile.get(row.num) >= DIRECT && this.item?.kind === 'tile' ? 'soft' : '';
    }
    return row.kind === 'inst' ? this.dress('tile', row.num) : '';
  }

  dressCode(at) {
    const { machine } = this.links;
    const starts = at > 0 && machine[at].origin !== machine[at - 1].origin && machine[at].word !== 'move';
    return `${this.dress('code', at)}${starts ? ' after' : ''}`;
  }

  /** Shows in each column how many linked items lie above and below its visible part. */
  showMore() {
    for (const kind of COLUMNS) {
      const { column, body } = this.columns[kind];
      let above = [], below = [];
      if (!column.hidden) {
        const spots = [...this.found[kind]].filter(([, level]) => level >= DIRECT).map(([id]) => [this.topOf(kind, id), id]).filter(([top]) => top !== undefined);
        above = spots.filter(([top]) => top[1] <= body.scrollTop + 2).sort((one, other) => other[0][0] - one[0][0]);
        below = spots.filter(([top]) => top[0] >= body.scrollTop + body.clientHeight - 2).sort((one, other) => one[0][0] - other[0][0]);
      }
      for (const [name, list, arrow] of [['up', above, '↑'], ['down', below, '↓']]) {
        const button = column.querySelector(`.more.${name}`);
        button.hidden = !list.length;
        button.textContent = `${arrow} ${list.length}`;
        button.setAttribute('aria-label', `${list.length} linked ${name === 'up' ? 'above' : 'below'}`);
        button.onclick = () => { this.views[kind].reveal(list[0][1]); this.showMore(); };
      }
    }
  }

  /** The top and bottom of an item in its column, in pixels. */
  topOf(kind, id) {
    if (kind === 'node') {
      const spot = this.graph.spot(id);
      return spot && [spot.y * this.graph.zoom - 8, spot.y * this.graph.zoom + 8];
    }
    if (kind === 'range') {
      const { segments } = this.links.ranges[id];
      return segments.length ? [this.chart.y(segments[0].from) * this.chart.row, this.chart.y(segments[segments.length - 1].to) * this.chart.row] : undefined;
    }
    const row = kind === 'byte' ? this.byteRowOf.get(id) : kind === 'tile' ? this.tileRowOf.get(id) : id;
    return row === undefined ? undefined : [row * ROW, row * ROW + ROW];
  }

  /** Describes the origins and results of the current item in the status line. */
  showWay() {
    const status = byId('status');
    if (!this.item) {
      status.innerHTML = '<span class="hint">Point at anything to see what it came from and what it became. Click keeps it, ? shows the keys.</span>';
      return;
    }
    const moves = [...this.found.moves.keys()].map((id) => this.tiles.rows[this.moveRowOf.get(id)]).filter(Boolean);
    const text = {
      byte: (id) => `${id} ${this.links.bytecode[id]?.text ?? ''}`,
      node: (id) => { const node = this.shown.nodes[id]; return `${node.isNamed ? `v${node.id} ` : ''}${node.op}${node.types}${node.rest}`; },
      tile: (id) => `${id} ${this.links.list.insts[id]?.name ?? ''}`,
      range: (id) => rangeText(this.links.ranges[id]),
      code: (id) => `${this.links.machine[id].offset} ${this.links.machine[id].text || this.links.machine[id].bytes}`,
    };
    const block = this.item.kind === 'block' ? `<span class="way from"><b>Block</b>b${this.item.id}</span>` : '';
    status.innerHTML = block + COLUMNS.map((kind) => {
      const ids = [...this.found[kind]].filter(([, level]) => level >= DIRECT).sort((one, other) => other[1] - one[1] || one[0] - other[0]).map(([id]) => id);
      if (kind === 'tile' && !ids.length && moves.length) {
        const own = this.item.kind === 'move' ? ' from' : '';
        return `<span class="way${own}"><b>${NAMES[kind]}</b>${html(`${moves[0].to} ← ${moves[0].from}, before ${moves[0].num}`)}</span>`;
      }
      if (!ids.length) return '';
      const more = ids.length > 1 ? tag('dim', ` +${ids.length - 1}`) : '';
      return `<span class="way${this.item.kind === kind ? ' from' : ''}"><b>${NAMES[kind]}</b>${html(text[kind](ids[0]))}${more}</span>`;
    }).join('') + (this.pinned ? '<span class="kept">kept <kbd>Esc</kbd></span>' : '');
  }

  /** The item under the pointer. */
  itemAt(kind, event) {
    if (kind === 'node') {
      const node = event.target.closest?.('[data-node]');
      if (node) return { kind, id: +node.dataset.node };
      const head = event.target.closest?.('.head');
      return head ? { kind: 'block', id: +head.parentElement.dataset.block } : null;
    }
    if (kind === 'range') {
      const id = this.chart.rangeAt(event);
      return id < 0 ? null : { kind, id };
    }
    const list = { byte: this.byteList, tile: this.tileList, code: this.codeList }[kind];
    const at = list.rowAt(event);
    if (at < 0) return null;
    if (kind === 'byte') return { kind, id: this.bytes[at].at };
    if (kind === 'code') return { kind, id: at };
    const row = this.tiles.rows[at];
    if (row.kind === 'inst') return { kind, id: row.num };
    if (row.kind === 'move') return row.id >= 0 ? { kind: 'move', id: row.id } : null;
    return { kind: 'block', id: row.kind === 'block' ? row.id : row.to };
  }

  hover(item) {
    if (same(item, this.hovered)) return;
    this.hovered = item;
    if (!this.pinned) this.refresh();
  }

  /** Pins an item, so that it stays highlighted, and reveals its links. Unpins it if it is already pinned. */
  pin(item, except) {
    this.pinned = same(item, this.pinned) ? null : item;
    this.refresh();
    if (this.pinned) this.revealLinked(except);
  }

  /** Scrolls every column to the linked items, unless some of them are visible. */
  revealLinked(except) {
    for (const kind of COLUMNS) {
      if (kind === except || this.columns[kind].column.hidden) continue;
      const ids = [...this.found[kind]].filter(([, level]) => level >= DIRECT).map(([id]) => id).sort((one, other) => one - other);
      if (ids.length && !ids.some((id) => this.views[kind].isInSight(id))) this.views[kind].reveal(ids[0]);
    }
    const move = this.moveRowOf.get(Math.min(...this.found.moves.keys()));
    if (move !== undefined && except !== 'tile') this.tileList.reveal(move);
    this.showMore();
  }

  /** Moves a column's cursor to an item, which becomes the current one. */
  goTo(kind, id) {
    this.isKeyed = true;
    this.cursors[kind] = id;
    const item = { kind, id };
    if (this.pinned) this.pinned = item;
    this.hovered = item;
    (this.views[kind].nudge || this.views[kind].reveal).call(this.views[kind], id);
    this.refresh();
    this.revealLinked(kind);
    const row = kind === 'byte' ? this.byteRowOf.get(id) : kind === 'tile' ? this.tileRowOf.get(id) : id;
    if (kind !== 'node' && kind !== 'range') this.columns[kind].body.setAttribute('aria-activedescendant', `${kind}-${row}`);
  }

  /** The items of a column in the order in which they are shown. */
  itemsOf(kind) {
    if (kind === 'byte') return this.bytes.map((row) => row.at);
    if (kind === 'node') return this.shown ? this.graph.rows() : [];
    if (kind === 'tile') return [...this.tileRowOf.keys()];
    if (kind === 'range') return this.links.ranges.filter((range) => range.segments.length).sort((one, other) => one.segments[0].from - other.segments[0].from).map((range) => range.at);
    return this.links.machine.map((row) => row.at);
  }

  step(kind, by) {
    const items = this.itemsOf(kind);
    if (!items.length) return;
    const now = items.indexOf(this.cursors[kind]);
    const first = () => Math.max(0, items.findIndex((id) => this.views[kind].isInSight(id)));
    const next = now < 0 ? first() : Math.min(items.length - 1, Math.max(0, now + by));
    this.goTo(kind, items[next]);
  }

  /* Search. */

  search(query, isQuiet) {
    for (const kind of COLUMNS) this.hits[kind].clear();
    this.results = [];
    if (query.trim()) {
      const matches = searcher(query);
      const look = (kind, rows, id) => {
        for (const row of rows) {
          if (row && matches(SEARCHED[kind](row))) { this.hits[kind].add(id(row)); this.results.push({ kind, id: id(row) }); }
        }
      };
      look('byte', this.bytes, (row) => row.at);
      if (this.shown) look('node', this.graph.rows().map((at) => this.shown.nodes[at]), (node) => node.at);
      look('tile', this.tiles?.rows.filter((row) => row.kind === 'inst') || [], (row) => row.num);
      look('range', this.links.ranges, (range) => range.at);
      look('code', this.links.machine, (row) => row.at);
      this.results = this.results.filter(({ kind }) => !this.columns[kind].column.hidden);
    }
    this.result = -1;
    byId('found').textContent = query.trim() ? String(this.results.length) : '';
    if (!isQuiet) this.refresh();
  }

  nextResult(by) {
    const count = this.results.length;
    if (!count) return;
    this.result = (this.result + by + count) % count;
    if (this.result < 0) this.result = count - 1;
    const { kind, id } = this.results[this.result];
    byId('found').textContent = `${this.result + 1}/${count}`;
    this.views[kind].reveal(id);
    this.goTo(kind, id);
  }
}

/** The names of functions; a name that occurs twice is followed by the tier or a number. */
function functionNames(functions) {
  const seen = new Map();
  const tiers = new Set(functions.map((each) => each.tier));
  return functions.map(({ name, tier }) => {
    const plain = `${name || 'function'}${tiers.size > 1 && tier ? ` (${tier})` : ''}`;
    const count = (seen.get(plain) || 0) + 1;
    seen.set(plain, count);
    return count > 1 ? `${plain} #${count}` : plain;
  });
}

/** A view of a list whose items are not rows: `rowOf` maps an item to its row. */
function view(list, rowOf) {
  const at = (act) => (id) => { const row = rowOf(id); return row === undefined ? act === 'isInSight' : list[act](row); };
  return { isInSight: at('isInSight'), reveal: at('reveal'), nudge: at('nudge') };
}

function emptyFound() {
  return { byte: new Map(), node: new Map(), tile: new Map(), range: new Map(), code: new Map(), moves: new Map(), blocks: new Map() };
}

function same(one, other) {
  return one === other || (!!one && !!other && one.kind === other.kind && one.id === other.id);
}

function plural(number, what) {
  return `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;
}

/** The size of the code, which is the end of the last instruction. */
function codeBytes(rows) {
  const last = rows[rows.length - 1];
  return last ? parseInt(last.offset, 16) + last.bytes.split(' ').length : 0;
}

/** Runs a function, and records its time for the browser's performance tools. */
function timed(name, act) {
  const start = performance.now();
  const result = act();
  performance.measure(`explorer-${name}`, { start, end: performance.now() });
  return result;
}

timed('ready', () => new Page(timed('read', () => readTrace(unescapeTrace(byId('trace').textContent)))));
