// Links between the items of the columns. In: a function's stages. Out: for each item, its origins and its results.
//
// Items are named by kind and number: `byte` by index, `node` by key (its number in the last graph, see `keyNodes`), `tile` by
// instruction number, `range` by its index in the list, `code` by row. A link is direct (2), or a side link (1): to an operand of
// a tile, a move before it, or a constant within it.

const DIRECT = 2, SIDE = 1;
const COLUMNS = ['byte', 'node', 'tile', 'range', 'code'];

class Links {
  constructor(stages) {
    const last = (name) => stages.filter((stage) => stage.name === name).pop();
    this.graphs = stages.filter((stage) => stage.kind === GRAPH);
    this.bytecode = last('bytecode')?.read() || [];
    this.placed = last('allocate')?.read() || null;
    this.unplaced = last('tile');
    this.list = this.placed || this.tiles || { rows: [], insts: [], vregs: [], intervals: [], blocks: [] };
    this.machine = last('emit')?.read() || [];
    this.ranges = last('live')?.read() || [];
    this.final = this.graphs.length ? this.graphs[this.graphs.length - 1] : null;
    this.keyed = this.graphs.length;
    this.epoch = 0;
    this.toKey = (id) => id;
    timed('indexTiles', () => this.indexTiles());
    timed('indexRanges', () => this.indexRanges());
    timed('indexCode', () => this.indexCode());
    timed('indexNodes', () => this.indexNodes());
  }

  /** The tile list before allocation. */
  get tiles() {
    return this.unplaced?.read() || null;
  }

  /** The graph of a stage, whose nodes have keys. */
  graph(stage) {
    this.keyNodes(this.graphs.indexOf(stage));
    return stage.read();
  }

  indexTiles() {
    this.tilesOfByte = new Map();
    this.tilesOfNode = new Map();
    for (const inst of this.list.insts) {
      if (!inst) continue;
      push(this.tilesOfByte, inst.origin, inst.num);
      if (inst.node >= 0) push(this.tilesOfNode, inst.node, inst.num);
    }
  }

  indexRanges() {
    const { insts, intervals, blocks } = this.list;
    this.rangeOf = [];
    for (const range of this.ranges) for (const vreg of range.vregs) this.rangeOf[vreg] = range.at;
    for (const interval of intervals) this.ranges[this.rangeOf[interval.vreg]]?.intervals.push(interval);
    this.defs = this.ranges.map(() => []);
    this.uses = this.ranges.map(() => []);
    for (const inst of insts) {
      for (const operand of inst ? inst.operands : []) {
        const list = (operand.writes ? this.defs : this.uses)[this.rangeOf[operand.vreg]];
        if (list && list[list.length - 1] !== inst.num) list.push(inst.num);
      }
    }
    this.paramRanges = new Map();
    this.paramsOfRange = new Map();
    this.blocks = new Map(blocks.map((block) => [block.id, block]));
  }

  indexCode() {
    this.codeOfTile = new Map();
    this.codeOfByte = new Map();
    this.codeOfMoves = new Map();
    for (const row of this.machine) {
      if (row.origin >= 0) push(this.codeOfByte, row.origin, row.at);
      if (row.num >= 0) push(this.codeOfTile, row.num, row.at);
      if (row.before >= 0) push(this.codeOfMoves, row.before, row.at);
    }
    // If there are as many instructions as moves, they correspond in order.
    this.moves = new Map();
    this.codeOfMove = new Map();
    this.moveOfCode = new Map();
    for (const row of this.list.rows) if (row.kind === 'move') push(this.moves, row.num, row.id);
    for (const [num, rows] of this.codeOfMoves) {
      const moves = this.moves.get(num) || [];
      if (moves.length !== rows.length) continue;
      moves.forEach((id, at) => { this.codeOfMove.set(id, rows[at]); this.moveOfCode.set(rows[at], id); });
    }
  }

  /** Finds the nodes of the final graph that are part of another node's tile. */
  indexNodes() {
    this.parts = new Map();
    this.folded = new Map();
    if (!this.final) return;
    const graph = this.final.read();
    for (const block of graph.blocks) {
      const tiled = this.blocks.get(block.id);
      if (!tiled) continue;
      const params = block.nodes.filter((node) => node.op === 'param');
      if (params.length === tiled.params.length) {
        params.forEach((node, at) => {
          const range = this.rangeOf[tiled.params[at]];
          if (range === undefined) return;
          this.paramRanges.set(node.id, range);
          push(this.paramsOfRange, range, node.id);
        });
      }
    }
    // A node without a tile is part of its users' tiles. Users come later in the graph, so nodes are visited in reverse.
    const into = new Map();
    for (let at = graph.nodes.length - 1; at >= 0; at--) {
      const node = graph.nodes[at];
      if (node.op === 'param') continue;
      const own = this.tilesOfNode.get(node.id);
      const tiles = own || into.get(node.id) || [];
      if (!own && tiles.length) {
        this.folded.set(node.id, tiles);
        for (const tile of tiles) push(this.parts, tile, node.id);
      }
      if (own && !ANYWHERE.has(node.op) || !own) {
        for (const input of inputsOf(node)) {
          if (this.tilesOfNode.has(input)) continue;
          const list = into.get(input) || [];
          for (const tile of tiles) if (!list.includes(tile) && list.length < 64) list.push(tile);
          into.set(input, list);
        }
      }
    }
  }

  /** Assigns keys to the nodes of the graphs from `first` on: a node's number in the last graph, if it still exists there. */
  keyNodes(first) {
    for (; this.keyed > first; this.keyed--) {
      const graph = this.graphs[this.keyed - 1].read();
      const next = this.graphs[this.keyed]?.read();
      const renumbered = next && renumbering(graph, next);
      if (renumbered) {
        const later = this.toKey, offset = ++this.epoch * 1e7;
        this.toKey = (id) => {
          const to = renumbered.get(id);
          return to === undefined ? offset + id : later(to);
        };
      }
      for (const node of graph.nodes) node.key = node.id < 0 ? -1 : this.toKey(node.id);
      graph.byKey = new Map();
      for (const node of graph.nodes) if (node.key >= 0) graph.byKey.set(node.key, node);
    }
  }

  /** The nodes of each bytecode in a graph. */
  nodesOfByte(graph) {
    if (!graph.ofByte) {
      graph.ofByte = new Map();
      for (const node of graph.nodes) if (node.origin >= 0) push(graph.ofByte, node.origin, node.at);
    }
    return graph.ofByte;
  }

  /** The nodes that read each node of a graph. */
  usersOf(graph) {
    if (!graph.users) {
      graph.users = new Map();
      for (const node of graph.nodes) for (const input of inputsOf(node)) push(graph.users, input, node.at);
    }
    return graph.users;
  }

  /** The items linked to an item while this graph is shown: a map from number to level for each column; `node` by graph row. */
  related(kind, id, graph) {
    const found = emptyFound();
    this[kind](id, found, graph);
    mark({ move: found.moves, block: found.blocks }[kind] || found[kind], id, 3);
    return found;
  }

  byte(id, found, graph) {
    for (const [, to] of this.bytecode[id]?.text.matchAll(/\bLabel\((\d+)\)/g) || []) mark(found.byte, +to, SIDE);
    for (const row of graph ? this.nodesOfByte(graph).get(id) || [] : []) mark(found.node, row, DIRECT);
    for (const num of this.tilesOfByte.get(id) || []) {
      mark(found.tile, num, DIRECT);
      this.rangesOf(num, found, false);
    }
    for (const row of this.codeOfByte.get(id) || []) mark(found.code, row, DIRECT);
  }

  node(row, found, graph) {
    const node = graph.nodes[row];
    if (node.origin >= 0) mark(found.byte, node.origin, DIRECT);
    for (const input of inputsOf(node)) {
      const other = graph.byId.get(input);
      if (other) mark(found.node, other.at, SIDE);
    }
    for (const user of (node.id >= 0 && this.usersOf(graph).get(node.id)) || []) mark(found.node, user, SIDE);
    const own = this.tilesOfNode.get(node.key);
    for (const num of own || this.folded.get(node.key) || []) {
      this.tileAndCode(num, found, DIRECT);
      if (own) this.rangesOf(num, found, false);
    }
    const range = this.paramRanges.get(node.key);
    if (range !== undefined) mark(found.range, range, DIRECT);
  }

  tile(num, found, graph) {
    const inst = this.list.insts[num];
    if (!inst) return;
    mark(found.byte, inst.origin, DIRECT);
    this.nodesOfTile(num, found, graph, DIRECT, true);
    this.rangesOf(num, found, true);
    this.tileAndCode(num, found, DIRECT);
    for (const row of this.codeOfMoves.get(num) || []) mark(found.code, row, SIDE);
  }

  code(row, found, graph) {
    const item = this.machine[row];
    const to = /^j\w+ 0x([0-9a-f]+)$/.exec(item.text), target = to && this.rowAt(to[1]);
    if (target !== undefined && target !== null) mark(found.code, target, SIDE);
    if (item.origin >= 0) mark(found.byte, item.origin, DIRECT);
    if (item.num >= 0) this.tile(item.num, found, graph);
    else if (item.before >= 0) {
      const move = this.moveOfCode.get(row);
      for (const id of move === undefined ? this.moves.get(item.before) || [] : [move]) mark(found.moves, id, DIRECT);
      mark(found.tile, item.before, SIDE);
    }
  }

  /** The machine instruction at an offset. */
  rowAt(offset) {
    this.offsets ??= new Map(this.machine.map((row) => [row.offset, row.at]));
    return this.offsets.get(offset);
  }

  /** A block, by its number: links to all items in it. */
  block(id, found, graph) {
    for (const node of graph?.byBlock.get(id)?.nodes || []) {
      mark(found.node, node.at, DIRECT);
      if (!this.list.insts.length && node.origin >= 0) mark(found.byte, node.origin, DIRECT);
    }
    for (const inst of this.blocks.get(id)?.insts || []) {
      mark(found.byte, inst.origin, DIRECT);
      this.tileAndCode(inst.num, found, DIRECT);
      this.rangesOf(inst.num, found, false);
      for (const move of this.moves.get(inst.num) || []) mark(found.moves, move, DIRECT);
      for (const row of this.codeOfMoves.get(inst.num) || []) mark(found.code, row, DIRECT);
    }
  }

  range(at, found, graph) {
    for (const num of this.defs[at]) {
      this.tileAndCode(num, found, DIRECT);
      this.nodesOfTile(num, found, graph, DIRECT, false);
      mark(found.byte, this.list.insts[num].origin, DIRECT);
    }
    for (const num of this.uses[at]) this.tileAndCode(num, found, SIDE);
    for (const key of this.paramsOfRange.get(at) || []) {
      const node = graph && graph.byKey.get(key);
      if (!node) continue;
      mark(found.node, node.at, DIRECT);
      if (node.origin >= 0) mark(found.byte, node.origin, DIRECT);
    }
  }

  /** A move of the tile list: links to the instruction after it, to its bytecode and to its code. */
  move(id, found) {
    const num = Math.floor(id / 4096), row = this.codeOfMove.get(id);
    mark(found.tile, num, SIDE);
    mark(found.byte, this.list.insts[num].origin, DIRECT);
    for (const at of row === undefined ? this.codeOfMoves.get(num) || [] : [row]) mark(found.code, at, DIRECT);
  }

  tileAndCode(num, found, level) {
    mark(found.tile, num, level);
    for (const row of this.codeOfTile.get(num) || []) mark(found.code, row, level);
  }

  rangesOf(num, found, withUses) {
    for (const operand of this.list.insts[num].operands) {
      const range = this.rangeOf[operand.vreg];
      if (range === undefined) continue;
      if (operand.writes) mark(found.range, range, DIRECT);
      else if (withUses) mark(found.range, range, SIDE);
    }
  }

  nodesOfTile(num, found, graph, level, withParts) {
    if (!graph) return;
    const own = graph.byKey.get(this.list.insts[num].node);
    if (own) mark(found.node, own.at, level);
    for (const key of withParts ? this.parts.get(num) || [] : []) {
      const part = graph.byKey.get(key);
      if (!part) continue;
      const isShared = ANYWHERE.has(part.op);
      mark(found.node, part.at, isShared ? SIDE : DIRECT);
      if (part.origin >= 0) mark(found.byte, part.origin, SIDE);
    }
  }
}

/** Operators that have one node for the whole function. */
const ANYWHERE = new Set(['const', 'tc', 'local', 'cu']);

function push(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Sets the level of an item, unless it has a higher one. */
function mark(map, id, level) {
  if ((map.get(id) || 0) < level) map.set(id, level);
}

/** Maps the numbers of one graph to those of the next, if they differ. For logs without `dead`, similar nodes are matched. */
function renumbering(graph, next) {
  if (next.was) return new Map(next.nodes.filter((node) => node.old >= 0 && node.id >= 0).map((node) => [node.old, node.id]));
  const same = (one, other) => one.op === other.op && one.types === other.types && one.origin === other.origin;
  let shared = 0, alike = 0;
  for (const node of next.nodes) {
    const old = node.id >= 0 && graph.byId.get(node.id);
    if (!old) continue;
    shared++;
    if (same(old, node)) alike++;
  }
  const named = next.nodes.filter((node) => node.id >= 0);
  if (!named.length || (alike * 10 >= named.length * 6 && alike * 10 >= shared * 8)) return null;
  // Renumbering closes the gaps of removed nodes, so the other nodes keep their order.
  const before = graph.nodes.filter((node) => node.id >= 0).sort((one, other) => one.id - other.id);
  named.sort((one, other) => one.id - other.id);
  const map = new Map(), places = new Map();
  const look = (node) => `${node.op}${node.types} ${node.origin}`;
  before.forEach((node, at) => push(places, look(node), at));
  for (const list of places.values()) list.reverse();
  let from = 0;
  for (const node of named) {
    const list = places.get(look(node)) || [];
    while (list.length && list[list.length - 1] < from) list.pop();
    if (!list.length) continue;
    from = list.pop();
    map.set(before[from++].id, node.id);
  }
  return map;
}

/** The changes from one graph to the next: a word for each row (`added`, `changed`, `moved`), and the removed nodes. */
function compareGraphs(before, after) {
  const changes = new Map(), gone = new Map();
  const counts = { added: 0, removed: 0, changed: 0, moved: 0 };
  if (!before) return { changes, gone, counts };
  const text = (graph, node) => node.op + node.types
    + node.rest.replace(/ v(\d+)(?![\w.])/g, (_, id) => ` v${graph.byId.get(+id)?.key ?? `?${id}`}`);
  const note = (node, what) => { changes.set(node.at, what); counts[what]++; };
  for (const node of after.nodes) {
    const old = before.byKey.get(node.key);
    if (!old) note(node, 'added');
    else if (text(before, old) !== text(after, node)) note(node, 'changed');
    else if (old.block.id !== node.block.id) note(node, 'moved');
  }
  for (const node of before.nodes) if (!after.byKey.has(node.key)) remove(node);
  function remove(node) {
    counts.removed++;
    push(gone, node.block.id, node);
  }
  for (const list of gone.values()) list.sort((one, other) => one.at - other.at);
  return { changes, gone, counts };
}
