// Draws live ranges as a chart beside the tile list: the program runs down, and each range has a lane. In: ranges with their
// intervals, and the tile list's rows. Out: a canvas that shows the visible part.

const LANE_WIDTH = 32, EDGE = 10, TOP = 4;

class Chart {
  constructor(body) {
    this.body = body;
    this.canvas = document.createElement('canvas');
    this.sheet = document.createElement('div');
    this.sheet.className = 'sheet';
    // The canvas stays in place while the body scrolls, and takes no room in it.
    const glass = document.createElement('div');
    glass.className = 'glass';
    glass.append(this.canvas);
    body.append(glass, this.sheet);
    this.row = ROW;
    this.levels = new Map();
    this.bands = new Map();
    this.moves = new Map();
    body.addEventListener('scroll', () => this.draw(), { passive: true });
  }

  /** Shows ranges beside the rows of a tile list; `isPlaced` tells whether they have places yet. */
  show(links, rows, isPlaced) {
    if (this.links !== links) this.byPlace = null;
    Object.assign(this, { links, rows, isPlaced });
    const rowOf = (this.rowOf = []);
    rows.forEach((row, at) => { if (row.kind === 'inst') rowOf[row.num] = at; });
    // A gap extends from the previous instruction to the next one, across moves and heads of blocks.
    this.above = [];
    let bottom = 0;
    rowOf.forEach((at, num) => { this.above[num] = bottom; bottom = at + 1; });
    this.end = bottom;
    this.assignLanes();
    this.sheet.style.height = `${rows.length * this.row + 8}px`;
    this.sheet.style.width = `${2 * EDGE + this.lanes.length * LANE_WIDTH}px`;
    this.draw();
  }

  setRow(row) {
    this.row = Math.min(ROW, Math.max(1, row));
    if (this.links) this.show(this.links, this.rows, this.isPlaced);
  }

  /** The vertical coordinate of a position, in rows. */
  y(position) {
    const num = position >> 2, row = this.rowOf[num];
    if (row === undefined) return this.end;
    const place = position & 3;
    return place === 0 ? this.above[num] : row + (place - 1) / 2;
  }

  /** Assigns each range, in the order of their starts, to the lowest free lane. */
  assignLanes() {
    const { ranges } = this.links;
    this.lanes = [];
    const span = (range) => [range.segments[0].from, range.segments[range.segments.length - 1].to];
    const order = ranges.filter((range) => range.segments.length).sort((one, other) => span(one)[0] - span(other)[0]);
    const ends = [];
    for (const range of order) {
      const [from, to] = span(range);
      let lane = 0;
      while (lane < ends.length && ends[lane] >= from) lane++;
      ends[lane] = to;
      range.lane = lane;
      range.bars = barsOf(range);
      (this.lanes[lane] ??= []).push(range);
    }
  }

  /** Draws the visible part. */
  draw() {
    const { body, canvas, row } = this;
    const { clientWidth: width, clientHeight: height, scrollTop, scrollLeft } = body;
    if (!this.links || !width || !height) return;
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const paint = canvas.getContext('2d');
    const colors = this.colors ??= themeColors();
    paint.setTransform(scale, 0, 0, scale, 0, 0);
    paint.clearRect(0, 0, width, height);
    const first = Math.floor(scrollTop / row), last = Math.ceil((scrollTop + height) / row);
    this.paintRows(paint, colors, first, last, width);
    paint.translate(EDGE - scrollLeft, TOP - scrollTop);
    const dims = this.levels.size > 0;
    paint.font = `10px ${colors.mono}`;
    paint.textAlign = 'center';
    paint.textBaseline = 'middle';
    const from = Math.max(0, Math.floor((scrollLeft - EDGE) / LANE_WIDTH)), to = Math.min(this.lanes.length - 1, Math.ceil((scrollLeft + width) / LANE_WIDTH));
    for (let lane = from; lane <= to; lane++) {
      for (const range of rangesBetween(this.lanes[lane], first, last, (position) => this.y(position))) {
        this.paintRange(paint, colors, range, scrollTop, dims);
      }
    }
    if (this.isPlaced) this.paintMoves(paint, colors, first, last);
  }

  /** Draws lines at the starts of blocks, and bands at highlighted instructions. */
  paintRows(paint, colors, first, last, width) {
    const { rows, row, body } = this;
    for (let at = Math.max(0, first); at <= Math.min(last, rows.length - 1); at++) {
      const y = at * row - body.scrollTop + TOP;
      if (rows[at].kind === 'block' && at > 0 && row >= 4) {
        paint.fillStyle = colors.line;
        paint.fillRect(0, Math.round(y), width, 1);
      }
      const level = rows[at].kind === 'inst' && this.bands.get(rows[at].num);
      if (level) {
        paint.fillStyle = level === 1 ? colors.soft : level === 2 ? colors.linked : colors.self;
        paint.fillRect(0, y, width, Math.max(1, row));
      }
    }
  }

  paintRange(paint, colors, range, scrollTop, dims) {
    const { row } = this;
    const level = this.levels.get(range.at) || 0;
    const x = range.lane * LANE_WIDTH + 2, width = LANE_WIDTH - 4;
    paint.globalAlpha = dims && !level ? 0.4 : dims && level === 1 ? 0.75 : 1;
    const top = this.y(range.segments[0].from) * row, bottom = this.y(range.segments[range.segments.length - 1].to) * row;
    this.paintHoles(paint, colors, range, x + width / 2);
    let before = null;
    for (const bar of range.bars) {
      const y = this.y(bar.from) * row, height = Math.max(2, this.y(bar.to) * row - y);
      if (y + height >= scrollTop && y <= scrollTop + this.body.clientHeight) this.paintBar(paint, colors, bar, x, y, width, height, scrollTop, before);
      before = bar;
    }
    if (level >= 2) {
      paint.strokeStyle = colors.accent;
      paint.lineWidth = level === 3 ? 2 : 1.25;
      paint.strokeRect(x - 2, top - 1, width + 4, Math.max(3, bottom - top) + 2);
    }
    paint.globalAlpha = 1;
  }

  /** Draws the holes of a range, which are between its segments. */
  paintHoles(paint, colors, { segments }, x) {
    paint.strokeStyle = colors.dim;
    paint.lineWidth = 1;
    paint.setLineDash([2, 3]);
    paint.beginPath();
    for (let at = 1; at < segments.length; at++) {
      const [from, to] = [this.y(segments[at - 1].to), this.y(segments[at].from)];
      if (to > from) { paint.moveTo(x, from * this.row); paint.lineTo(x, to * this.row); }
    }
    paint.stroke();
    paint.setLineDash([]);
  }

  paintBar(paint, colors, bar, x, y, width, height, scrollTop, before) {
    const place = this.isPlaced ? bar.place : '';
    const isHollow = isMemory(place);
    if (isHollow) {
      const fade = paint.globalAlpha;
      paint.strokeStyle = colors.dim;
      paint.globalAlpha = fade * 0.5;
      paint.lineWidth = 1;
      paint.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, width - 1, height - 1);
      paint.globalAlpha = fade;
    } else {
      const fade = paint.globalAlpha;
      paint.fillStyle = place ? placeColor(place) : colors.bar;
      paint.globalAlpha = fade * 0.38;
      paint.fillRect(x, y, width, height);
      paint.globalAlpha = fade;
      paint.fillRect(x, y, 4, height);
    }
    // A split: the range continues in another place.
    if (before && this.isPlaced && before.place !== place) {
      paint.fillStyle = colors.text;
      paint.fillRect(x - 2, y - 1, width + 4, 2);
      paint.beginPath();
      paint.moveTo(x + width / 2 - 4, y - 6);
      paint.lineTo(x + width / 2 + 4, y - 6);
      paint.lineTo(x + width / 2, y - 1);
      paint.fill();
    }
    if (height < 11) return;
    const label = place ? shortPlace(place) : `r${bar.vreg}`;
    const limit = y + height - 7;
    const textY = Math.min(Math.max(y + 8, scrollTop + 8), limit);
    paint.fillStyle = colors.text;
    paint.fillText(label, x + width / 2 + (isHollow ? 0 : 2), textY, width - 4);
  }

  /** Draws moves as arrows from the lane of the source to the lane of the destination. */
  paintMoves(paint, colors, first, last) {
    const { rows, row } = this;
    if (row < 8) return;
    for (let at = Math.max(0, first); at <= Math.min(last, rows.length - 1); at++) {
      const move = rows[at];
      if (move.kind !== 'move' || move.num < 0) continue;
      const ends = this.endsOf(move);
      const y = (at + 0.5) * row;
      const [x0, x1] = ends.map((range) => range.lane * LANE_WIDTH + LANE_WIDTH / 2);
      // A move within one lane is already drawn as a split.
      if (!ends.length || x0 === x1) continue;
      paint.strokeStyle = paint.fillStyle = this.moves.has(move.id) || this.bands.get(move.num) >= DIRECT ? colors.accent : colors.dim;
      paint.lineWidth = 1.25;
      const side = x1 >= x0 ? 1 : -1;
      paint.beginPath();
      paint.moveTo(x0, y);
      paint.lineTo(x1 - side * 3, y);
      paint.stroke();
      paint.beginPath();
      paint.arc(x0, y, 2, 0, 7);
      paint.moveTo(x1, y);
      paint.lineTo(x1 - side * 5, y - 3.5);
      paint.lineTo(x1 - side * 5, y + 3.5);
      paint.fill();
    }
  }

  /** The ranges at a move's two ends: the one in the source before the move, and the one in the destination after it. */
  endsOf(move) {
    if (move.ends) return move.ends;
    const gap = move.num * 4;
    const from = this.whoIsIn(move.from, [gap - 1, gap, gap - 2, gap + 1]);
    const to = this.whoIsIn(move.to, [gap + 1, gap, gap + 2, gap + 3]) || this.whoGets(move);
    move.ends = to || from ? [from || to, to || from] : [];
    return move.ends;
  }

  whoIsIn(place, positions) {
    this.byPlace ??= this.indexPlaces();
    for (const position of positions) {
      const list = this.byPlace.get(place) || [];
      const bar = list[lastBefore(list, position)];
      if (bar && bar.to > position) return bar.range;
    }
    return null;
  }

  /** The range of a block parameter at the jump's target whose place is the destination of a move. */
  whoGets(move) {
    for (const edge of move.block?.edges || []) {
      const target = this.links.blocks.get(edge.to);
      const start = target?.insts[0] && target.insts[0].num * 4;
      const found = start !== undefined && this.whoIsIn(move.to, [start, start + 1]);
      if (found && target.params.some((vreg) => this.links.rangeOf[vreg] === found.at)) return found;
    }
    return null;
  }

  indexPlaces() {
    const places = new Map();
    for (const range of this.links.ranges) {
      for (const interval of range.intervals) push(places, interval.place, { from: interval.from, to: interval.to, range });
    }
    for (const list of places.values()) list.sort((one, other) => one.from - other.from);
    return places;
  }

  /** The range at the position of an event. */
  rangeAt(event) {
    const bounds = this.body.getBoundingClientRect();
    const x = event.clientX - bounds.left + this.body.scrollLeft - EDGE;
    const row = (event.clientY - bounds.top + this.body.scrollTop - TOP) / this.row;
    const lane = this.lanes[Math.floor(x / LANE_WIDTH)];
    const found = lane && rangesBetween(lane, row, row, (position) => this.y(position))[0];
    return found ? found.at : -1;
  }

  /** The position of a range's start in the chart. */
  spot(at) {
    const range = this.links.ranges[at];
    return { x: EDGE + range.lane * LANE_WIDTH + LANE_WIDTH / 2, y: this.y(range.segments[0].from) * this.row };
  }

  isInSight(at) {
    const range = this.links.ranges[at];
    if (!range?.segments.length) return true;
    const top = this.y(range.segments[0].from) * this.row, bottom = this.y(range.segments[range.segments.length - 1].to) * this.row;
    const x = range.lane * LANE_WIDTH, { scrollTop, scrollLeft, clientHeight, clientWidth } = this.body;
    return bottom >= scrollTop && top <= scrollTop + clientHeight && x >= scrollLeft - LANE_WIDTH && x < scrollLeft + clientWidth - LANE_WIDTH / 2;
  }

  reveal(at) {
    if (this.isInSight(at)) return;
    const { x, y } = this.spot(at);
    const { scrollTop, clientHeight, clientWidth } = this.body;
    if (y < scrollTop || y > scrollTop + clientHeight) this.body.scrollTop = y - clientHeight / 3;
    this.body.scrollLeft = x - clientWidth / 2;
    this.draw();
  }
}

/** A range's segments, split where its place changes. */
function barsOf(range) {
  const intervals = [...range.intervals].sort((one, other) => one.from - other.from);
  const bars = [];
  let at = 0;
  for (const segment of range.segments) {
    let from = segment.from;
    while (at < intervals.length && intervals[at].to <= from) at++;
    let index = at;
    while (from < segment.to) {
      const interval = intervals[index];
      if (!interval || interval.from >= segment.to) { bars.push({ from, to: segment.to, place: '', vreg: range.vregs[0] }); break; }
      if (interval.from > from) bars.push({ from, to: interval.from, place: '', vreg: range.vregs[0] });
      const [start, end] = [Math.max(from, interval.from), Math.min(segment.to, interval.to)];
      bars.push({ from: start, to: end, place: interval.place, vreg: range.vregs[0] });
      from = end;
      index++;
    }
  }
  return bars;
}

/** The ranges of a lane, which are ordered and do not overlap, that intersect these rows. */
function rangesBetween(lane, first, last, y) {
  const found = [];
  let [low, high] = [0, lane.length];
  while (low < high) {
    const middle = (low + high) >> 1, { segments } = lane[middle];
    if (y(segments[segments.length - 1].to) < first) low = middle + 1;
    else high = middle;
  }
  for (; low < lane.length && y(lane[low].segments[0].from) <= last; low++) found.push(lane[low]);
  return found;
}

/** The last of these ordered intervals that starts at or before a position. */
function lastBefore(list, position) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].from <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const REGISTERS = ['rax', 'rcx', 'rdx', 'rbx', 'rsp', 'rbp', 'rsi', 'rdi', 'r8', 'r9', 'r10', 'r11', 'r12', 'r13', 'r14', 'r15'];

/** A register's color: muted, equally light for all registers of a class, and very different for neighbors. */
function placeColor(place) {
  const float = /^(?:xmm|f)(\d+)$/.exec(place), number = float ? +float[1] : REGISTERS.indexOf(place);
  const index = number >= 0 ? number : [...place].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 97, 7);
  return `oklch(${float ? 0.84 : 0.76} ${float ? 0.075 : 0.1} ${(index * 137.5 + 250) % 360})`;
}

/** Whether a place is not a register: the value is on the stack, or a constant that is rematerialized where it is needed. */
function isMemory(place) {
  return /^(slot|arg|memory|again)/.test(place);
}

function shortPlace(place) {
  return place.replace(/^xmm/, 'x').replace(/^slot/, 's').replace('again', '…');
}

/** The theme's colors in the form that a canvas takes. */
function themeColors() {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement('span');
  document.body.append(probe);
  const color = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
  const colors = { mono: style.getPropertyValue('--mono').trim() };
  for (const name of ['text', 'dim', 'line', 'back', 'accent', 'bar', 'self', 'linked', 'soft']) colors[name] = color(name);
  probe.remove();
  return colors;
}
