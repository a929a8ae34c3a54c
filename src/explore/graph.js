// Draws a graph: blocks as boxes with their nodes, and the edges between them. In: a graph, the changes in it, and the folded
// blocks. Out: an SVG drawing, of which only the visible part exists.

const LINE = 17, HEAD = 24, PAD = 7, LONGEST = 44;

/** Below this zoom, blocks are drawn as boxes without nodes. */
const COARSE = 0.25;
const SIGNS = { added: '+', changed: '~', moved: '→', gone: '−' };

class GraphView {
  constructor(body) {
    this.body = body;
    this.zoom = 1;
    this.folded = new Set();
    this.showsGone = true;
    this.svg = element('svg');
    this.svg.innerHTML = '<g class="edges"></g><g class="blocks"></g><g class="wires"></g>';
    [this.edges, this.boxes, this.wires] = this.svg.children;
    body.append(this.svg);
    this.drawn = null;
    this.dress = () => '';
    this.lit = new Map();
    body.addEventListener('scroll', () => this.draw(), { passive: true });
  }

  /** Shows another graph, or the same graph with other blocks folded. */
  show(graph, comparison) {
    const anchor = this.layout && this.anchor();
    this.graph = graph;
    this.comparison = comparison;
    this.char = charWidth();
    // The width of the longest name.
    this.names = graph.nodes.reduce((most, node) => (node.isNamed ? Math.max(most, String(node.id).length + 1) : most), 3);
    this.blocks = graph.blocks.map((block) => this.box(block));
    const at = new Map(graph.blocks.map((block, index) => [block.id, index]));
    for (const box of this.blocks) {
      box.preds = box.block.preds.map(({ from, succ }) => ({ from: at.get(from), succ }));
    }
    this.layout = timed('layout', () => layout(this.blocks));
    this.order = [...this.blocks.keys()].sort((one, other) => this.blocks[one].y - this.blocks[other].y);
    this.boxOf = new Map(this.blocks.map((box) => [box.block.id, box]));
    this.place = new Map();
    for (const box of this.blocks) box.lines.forEach((line, index) => { if (!line.gone) this.place.set(line.node.at, [box, index]); });
    this.resize();
    if (anchor) this.hold(anchor);
  }

  /** The topmost visible block, and its position in the window. */
  anchor() {
    const { body, zoom } = this;
    const index = this.order.find((at) => this.blocks[at].y * zoom >= body.scrollTop - 4) ?? this.order[0];
    const box = this.blocks[index];
    return box && { id: box.block.id, x: (box.x + box.width / 2) * zoom + this.margin - body.scrollLeft, y: box.y * zoom - body.scrollTop };
  }

  /** Scrolls so that a block stays at its position in the window. */
  hold({ id, x, y }) {
    const box = this.boxOf.get(id);
    if (!box) return;
    this.body.scrollLeft = (box.x + box.width / 2) * this.zoom + this.margin - x;
    this.body.scrollTop = box.y * this.zoom - y;
    this.draw();
  }

  /** A block's lines and size. */
  box(block) {
    const lines = this.linesOf(block);
    const isFolded = this.folded.has(block.id);
    let longest = 14 + block.note.length;
    for (const line of lines) longest = Math.max(longest, Math.min(LONGEST, nodeText(line.node, this.names).length + 2 + originText(line.node).length));
    return {
      block, lines, isFolded, width: Math.ceil(longest * this.char + 2 * PAD + 16),
      height: HEAD + (isFolded ? 0 : lines.length * LINE + PAD),
    };
  }

  /** A block's nodes, with removed nodes at their old positions. */
  linesOf(block) {
    const lines = block.nodes.map((node) => ({ node, change: this.comparison.changes.get(node.at) || '' }));
    const gone = this.showsGone && this.comparison.gone.get(block.id);
    if (!gone) return lines;
    const at = new Map(block.nodes.map((node, index) => [node.key, index]));
    const behind = new Map();
    let last = -1, next = 0;
    for (const node of gone[0].block.nodes) {
      if (node === gone[next]) { push(behind, last, { node, change: 'gone', gone: true }); next++; }
      else if (node.key >= 0 && at.has(node.key)) last = Math.max(last, at.get(node.key));
    }
    return [...(behind.get(-1) || []), ...lines.flatMap((line, index) => [line, ...(behind.get(index) || [])])];
  }

  resize() {
    const { width, height } = this.layout;
    this.svg.setAttribute('width', Math.ceil(width * this.zoom));
    this.svg.setAttribute('height', Math.ceil(height * this.zoom));
    this.svg.setAttribute('viewBox', `0 0 ${Math.ceil(width * this.zoom) / this.zoom} ${Math.ceil(height * this.zoom) / this.zoom}`);
    this.margin = Math.max(0, Math.floor((this.body.clientWidth - width * this.zoom) / 2));
    this.svg.style.marginLeft = `${this.margin}px`;
    this.drawn = null;
    this.draw();
  }

  /** Zooms around the center of the window. */
  setZoom(zoom) {
    zoom = Math.min(2, Math.max(0.15, zoom));
    const { body } = this, ratio = zoom / this.zoom;
    const [x, y] = [body.scrollLeft + body.clientWidth / 2, body.scrollTop + body.clientHeight / 2];
    this.zoom = zoom;
    this.resize();
    body.scrollLeft = x * ratio - body.clientWidth / 2;
    body.scrollTop = y * ratio - body.clientHeight / 2;
    this.draw();
  }

  fit() {
    const { clientWidth, clientHeight } = this.body;
    this.start(Math.min(1, (clientWidth - 4) / this.layout.width, (clientHeight - 4) / this.layout.height));
  }

  /** Resets the view: a readable zoom, with the entry block visible. */
  start(zoom = Math.min(1, Math.max(0.85, (this.body.clientWidth - 4) / this.layout.width))) {
    this.setZoom(zoom);
    const entry = this.blocks[this.order[0]];
    this.body.scrollTop = 0;
    if (entry) this.body.scrollLeft = (entry.x + entry.width / 2) * this.zoom - this.body.clientWidth / 2;
  }

  /** Draws the visible part, and a screen above and below it. */
  draw() {
    if (!this.layout || !this.body.clientHeight) return;
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.body;
    const [top, bottom] = [scrollTop / this.zoom, (scrollTop + clientHeight) / this.zoom];
    if (this.drawn && this.drawn.top <= top && this.drawn.bottom >= bottom) return;
    const around = (bottom - top) / 2;
    this.drawn = { top: top - around, bottom: bottom + around };
    const detail = this.zoom >= 0.5 ? 2 : this.zoom >= COARSE ? 1 : 0;
    const boxes = [];
    for (const index of this.order) {
      const box = this.blocks[index];
      if (box.y > this.drawn.bottom) break;
      if (box.y + box.height >= this.drawn.top) boxes.push(this.drawBox(box, detail));
    }
    this.boxes.innerHTML = boxes.join('');
    const edges = [];
    for (const edge of this.layout.edges) {
      if (edge.bottom >= this.drawn.top && edge.top <= this.drawn.bottom) edges.push(this.drawEdge(edge));
    }
    this.edges.innerHTML = edges.join('');
    this.redress();
  }

  drawBox(box, detail) {
    const { block, lines, isFolded, width, height, x, y } = box;
    const classes = `block${block.cold ? ' cold' : ''}${isFolded ? ' folded' : ''}`;
    const count = isFolded ? `${block.nodes.length} node${block.nodes.length === 1 ? '' : 's'}` : block.note || (block.cold ? 'cold' : '');
    let out = `<g class="${classes}" data-block="${block.id}" transform="translate(${x} ${y})">`
      + `<rect class="box" width="${width}" height="${height}" rx="5"/>`
      + `<g class="head" role="button" aria-expanded="${!isFolded}"><rect width="${width}" height="${HEAD}" rx="5"/>`
      + `<path class="fold" d="${isFolded ? 'M10 8l5 4l-5 4z' : 'M8 9.5h8l-4 5z'}"/>`
      + (detail ? `<text class="name" x="22" y="16">b${block.id}</text>`
        + `<text class="note" x="${width - 10}" y="16" text-anchor="end">${html(count)}</text>` : '')
      + '</g>';
    if (!isFolded && detail) {
      const first = Math.max(0, Math.floor((this.drawn.top - y - HEAD) / LINE));
      const last = Math.min(lines.length - 1, Math.ceil((this.drawn.bottom - y - HEAD) / LINE));
      for (let at = first; at <= last; at++) out += this.drawLine(box, at, detail);
    }
    return `${out}</g>`;
  }

  drawLine(box, at, detail) {
    const { node, change, gone } = box.lines[at];
    const y = HEAD + at * LINE;
    const text = nodeText(node, this.names);
    const origin = originText(node);
    const name = gone ? 'gone' : `node ${change}`;
    const mark = change ? `<text class="sign" x="7" y="${y + 12.5}">${SIGNS[change]}</text>` : '';
    const back = `<rect class="back" x="1" y="${y}" width="${box.width - 2}" height="${LINE}"/><rect class="lead" x="1" y="${y}" width="3" height="${LINE}"/>`;
    const data = gone ? '' : ` data-node="${node.at}"`;
    if (detail < 2) {
      const length = Math.min(LONGEST, text.length) * this.char;
      return `<g class="${name}"${data}>${back}<rect class="bar" x="20" y="${y + 6}" width="${length}" height="5"/></g>`;
    }
    const room = Math.floor((box.width - 2 * PAD - 16) / this.char) - origin.length - 1;
    const id = (node.isNamed ? `v${node.id}` : '').padEnd(this.names) + ' ';
    const rest = text.slice(id.length + node.op.length + node.types.length);
    const left = Math.max(0, room - id.length - node.op.length - node.types.length);
    const short = rest.length > left ? `${rest.slice(0, Math.max(0, left - 1))}…` : rest;
    return `<g class="${name}"${data}>${back}${mark}<text x="20" y="${y + 12.5}" xml:space="preserve"><tspan class="id">${id}</tspan>`
      + `<tspan class="op">${html(node.op)}</tspan><tspan class="types">${html(node.types)}</tspan>${html(short)}</text>`
      + `<text class="at" x="${box.width - 8}" y="${y + 12.5}" text-anchor="end">${origin}</text></g>`;
  }

  drawEdge(edge) {
    const cold = this.blocks[edge.to].block.cold || this.blocks[edge.from].block.cold;
    const points = edge.points;
    const [x, y] = points[points.length - 1];
    const line = points.slice(0, -1).concat([[x, y - 5]]);
    return `<g class="edge${cold ? ' cold' : ''}${edge.back ? ' back-edge' : ''}"><path d="${pathOf(line, edge.back || edge.far)}"/>`
      + `<path class="tip" d="M${x - 4} ${y - 7}L${x} ${y - 0.5}L${x + 4} ${y - 7}z"/></g>`;
  }

  /** Updates the highlights, and draws the flow of values to and from the current node. */
  redress() {
    for (const node of this.boxes.querySelectorAll('.node')) {
      const row = +node.dataset.node;
      const change = this.comparison.changes.get(row) || '';
      const classes = `node ${change} ${this.dress(row)}`.trim();
      if (node.getAttribute('class') !== classes) node.setAttribute('class', classes);
    }
    // If the nodes of a block are not shown, the block is highlighted in their place.
    for (const group of this.boxes.children) {
      const box = this.boxOf.get(+group.dataset.block);
      group.classList.toggle('lit', this.lit.has(+group.dataset.block));
      if (box && (box.isFolded || this.zoom < COARSE)) group.classList.toggle('within', box.block.nodes.some((node) => / self| linked/.test(` ${this.dress(node.at)}`)));
    }
    this.wires.innerHTML = this.wire || '';
  }

  /** Lines from a node to its inputs and its users. */
  wiresOf(row, related) {
    const own = this.spot(row);
    if (!own) return '';
    const lines = [];
    const inputs = new Set(inputsOf(this.graph.nodes[row]));
    for (const [other, level] of related) {
      if (level !== SIDE) continue;
      const spot = this.spot(other);
      if (!spot) continue;
      const isInput = inputs.has(this.graph.nodes[other].id);
      const [from, to] = isInput ? [spot, own] : [own, spot];
      const out = Math.min(70, 14 + Math.abs(from.y - to.y) / 6);
      const x = Math.min(from.x, to.x) - out;
      lines.push(`<path d="M${from.x} ${from.y}C${x} ${from.y} ${x} ${to.y} ${to.x - 5} ${to.y}"/>`
        + `<path class="tip" d="M${to.x - 6} ${to.y - 3.5}L${to.x} ${to.y}L${to.x - 6} ${to.y + 3.5}z"/>`);
    }
    return lines.join('');
  }

  /** The position of a node's line; of its block's head, if the block is folded. */
  spot(row) {
    const found = this.place.get(row);
    if (!found) return null;
    const [box, at] = found;
    return { x: box.x + 2, y: box.y + (box.isFolded ? HEAD / 2 : HEAD + at * LINE + LINE / 2), box };
  }

  isInSight(row) {
    const spot = this.spot(row);
    if (!spot) return true;
    const [x, y] = [spot.x * this.zoom, spot.y * this.zoom];
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.body;
    return y > scrollTop && y < scrollTop + clientHeight && x < scrollLeft + clientWidth && x + 40 * this.zoom > scrollLeft;
  }

  reveal(row) {
    if (this.isInSight(row)) return;
    const spot = this.spot(row);
    this.body.scrollTop = spot.y * this.zoom - this.body.clientHeight / 3;
    this.body.scrollLeft = (spot.x + spot.box.width / 2) * this.zoom - this.body.clientWidth / 2;
    this.draw();
  }

  nudge(row) {
    const spot = this.spot(row);
    if (!spot) return;
    const y = spot.y * this.zoom, { scrollTop, clientHeight } = this.body;
    if (y - LINE < scrollTop) this.body.scrollTop = y - LINE * 2;
    else if (y + LINE > scrollTop + clientHeight) this.body.scrollTop = y + LINE * 2 - clientHeight;
    if (!this.isInSight(row)) this.reveal(row);
    this.draw();
  }

  /** The nodes in the order in which they are drawn. */
  rows() {
    return this.order.flatMap((index) => (this.blocks[index].isFolded ? [] : this.blocks[index].lines.filter((line) => !line.gone).map((line) => line.node.at)));
  }
}

/** A node's text without its bytecode: `v3   add.i32 v1 v2`. */
function nodeText(node, names = 4) {
  return `${(node.isNamed ? `v${node.id}` : '').padEnd(names)} ${node.op}${node.types}${node.rest}${node.kinds && `  # ${node.kinds}`}`;
}

function originText(node) {
  return node.origin >= 0 ? `@${node.origin}` : '';
}

function element(name) {
  return document.createElementNS('http://www.w3.org/2000/svg', name);
}

/** The width of a character of code. */
function charWidth() {
  const context = document.createElement('canvas').getContext('2d');
  context.font = `12px ${getComputedStyle(document.documentElement).getPropertyValue('--mono')}`;
  return context.measureText('0'.repeat(100)).width / 100;
}
