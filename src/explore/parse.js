// The parser of traces. In: a trace's text. Out: functions with stages, each of which is parsed on first use.

const GRAPH = 'graph', TILES = 'tiles';
const KINDS = { bytecode: 'bytecode', tile: TILES, allocate: TILES, live: 'live', emit: 'emit' };

/** Undoes the escapes with which a trace is embedded in the page. */
function unescapeTrace(text) {
  return text.replace(/\\x(3c|5c)/gi, (_, code) => (code === '3c' ? '<' : '\\'));
}

/** The functions of a trace: their names, their tiers, and the positions of their stages in the text. */
function readTrace(text) {
  const functions = [];
  let current = null, stage = null;
  const close = (end) => { if (stage) { stage.end = end; stage = null; } };
  const open = (name) => {
    current = { name, tier: '', stages: [] };
    functions.push(current);
  };
  const heads = /^(?:== (.+)|function (.*)|tier (\w+))$/gm;
  for (let head; (head = heads.exec(text));) {
    const [, stageName, functionName, tier] = head;
    if (functionName !== undefined) {
      close(head.index);
      open(functionName);
    } else if (tier !== undefined) {
      if (current && !current.stages.length) current.tier = tier;
    } else {
      close(head.index);
      // In a trace without names, the bytecode starts a new function.
      if (!current || (stageName === 'bytecode' && current.stages.some((other) => other.name === stageName))) {
        open(functions.length ? `function ${functions.length + 1}` : '');
      }
      stage = { name: stageName, kind: KINDS[stageName] || kindOf(text, heads.lastIndex + 1), start: heads.lastIndex + 1, end: text.length };
      current.stages.push(stage);
    }
  }
  close(text.length);
  for (const each of functions) each.stages = each.stages.filter((one) => one.kind !== 'other');
  for (const each of functions) for (const one of each.stages) one.read = readOnce(text, one);
  return functions.filter((each) => each.stages.length);
}

/** The kind of a stage with any other name: a graph, if it begins with a block. */
function kindOf(text, start) {
  return /^b\d+\b[^\n]*:/.test(text.slice(start, start + 400)) ? GRAPH : 'other';
}

const READERS = { bytecode: readBytecode, graph: readGraph, tiles: readTiles, live: readLive, emit: readEmit, other: () => null };

function readOnce(text, stage) {
  let result = null;
  return () => (result ??= timed(`read-${stage.name}`, () => READERS[stage.kind](text.slice(stage.start, stage.end).split("\n"))));
}

/** The rows of bytecode, by index. */
function readBytecode(lines) {
  const rows = [];
  for (const line of lines) {
    // What the bytecode has learned stands behind it.
    const parts = /^\s*(\d+): (.*?)(?: # (.*))?$/.exec(line);
    if (parts) rows[+parts[1]] = { at: +parts[1], text: parts[2], learned: parts[3] ?? '' };
  }
  return rows;
}

/** Operators whose nodes belong to no bytecode, unless they name one. */
const NOWHERE = new Set(['param', 'local', 'tc', 'cu']);

/** A graph: its blocks in the order of the text, and their nodes. Nodes have the numbers of this stage. */
function readGraph(lines) {
  const blocks = [], nodes = [], byId = new Map(), byBlock = new Map();
  let block = null, was = false;
  const nodeLine = /^ {4}(?:v(\d+) = )?([^\s.]+)(\S*)(.*)$/;
  for (const line of lines) {
    if (line.startsWith('    ')) {
      const parts = block && nodeLine.exec(line);
      if (!parts) continue;
      let [, id, op, types, rest] = parts;
      let origin = -1, old = -1, own, kinds = '';
      const comment = rest.indexOf('#');
      if (comment >= 0) {
        // The comment has the number of a node without a value, and the old number of a renumbered node or the kinds that a value may be of.
        const named = /^#(?: v(\d+))?(?: was v(\d+))?(?: (.+))?/.exec(rest.slice(comment));
        kinds = named[3] ?? '';
        own = named[1];
        if (named[2] !== undefined) { old = +named[2]; was = true; }
        rest = rest.slice(0, comment).trimEnd();
      }
      const at = /^(.*) @(\d+)$/.exec(rest);
      if (at) [rest, origin] = [at[1], +at[2]];
      else if (!NOWHERE.has(op)) origin = 0;
      const node = {
        id: +(id ?? own ?? -1), isNamed: id !== undefined, old,
        op, types, rest, kinds, origin, block, at: nodes.length, key: -1,
      };
      if (node.id >= 0) byId.set(node.id, node);
      nodes.push(node);
      block.nodes.push(node);
    } else if (line.startsWith('b')) {
      const parts = /^b(\d+)( cold)?(?: <-((?: b[\d.]+)*))?:(?:\s*#\s*(.*))?/.exec(line);
      if (!parts) continue;
      const [, id, cold, preds, note] = parts;
      block = { id: +id, cold: !!cold || /cold/.test(note || ''), note: note || '', nodes: [], preds: [], at: blocks.length };
      for (const pred of (preds || '').split(' ')) {
        const [, from, succ] = /^b(\d+)(?:\.(\d+))?$/.exec(pred) || [];
        if (from !== undefined) block.preds.push({ from: +from, succ: +(succ || 0) });
      }
      blocks.push(block);
      byBlock.set(block.id, block);
    }
  }
  return { blocks, nodes, byId, byBlock, was };
}

/** The numbers of the nodes that a node reads. */
function inputsOf(node) {
  return (node.inputs ??= Array.from(node.rest.matchAll(/ v(\d+)(?![\w.])/g), (found) => +found[1]));
}

/** One operand of an instruction: `def:r3%rcx=rax`. Long functions have very many, so this must be fast. */
function readOperand(word) {
  const colon = word.indexOf(':');
  let at = colon + 1;
  if (word.charCodeAt(at) !== 114) return null;
  let vreg = 0;
  const from = ++at;
  for (let digit; (digit = word.charCodeAt(at) - 48) >= 0 && digit < 10; at++) vreg = vreg * 10 + digit;
  if (at === from) return null;
  const role = colon < 0 ? 'use' : word.slice(0, colon);
  const equals = word.indexOf('=', at);
  return {
    role, vreg, wish: equals < 0 ? word.slice(at) : word.slice(at, equals), place: equals < 0 ? '' : word.slice(equals + 1),
    writes: role === 'def' || role === 'early' || role === 'temp',
  };
}

/** A tile list, with or without places: rows in the order of the text, instructions by number, and intervals of ranges. */
function readTiles(lines) {
  const rows = [], insts = [], vregs = [], intervals = [], blocks = [];
  let block = null, movesFrom = 0;
  for (const line of lines) {
    if (line.startsWith('    ')) {
      const body = line.slice(4);
      if (body.startsWith('-> ')) {
        const edge = /^-> b(\d+)(?: \(([^)]*)\))?/.exec(body);
        const args = Array.from((edge?.[2] || '').matchAll(/r(\d+)/g), (found) => +found[1]);
        const row = { kind: 'edge', text: body, block, to: edge ? +edge[1] : -1, args };
        block?.edges.push(row);
        rows.push(row);
        movesFrom = rows.length;
      } else if (body.startsWith('move ')) {
        const [, to, , from, type] = body.split(' ');
        rows.push({ kind: 'move', to, from, type, block, num: -1, id: -1 });
      } else {
        const row = readInst(body, insts.length);
        row.block = block;
        for (let at = movesFrom; at < rows.length; at++) rows[at].id = moveId(rows[at].num = row.num, at - movesFrom);
        row.at = rows.length;
        insts[row.num] = row;
        rows.push(row);
        block?.insts.push(row);
        movesFrom = rows.length;
      }
    } else if (line.startsWith('r')) {
      const interval = /^r(\d+)((?: \d+[gela]\.\.\d+[gela])+) (\S+)/.exec(line);
      if (interval) {
        for (const part of segmentsOf(interval[2])) intervals.push({ vreg: +interval[1], ...part, place: interval[3] });
        continue;
      }
      const vreg = /^r(\d+) (\S+)(?: (.*))?$/.exec(line);
      if (vreg) vregs[+vreg[1]] = { type: vreg[2], constant: vreg[3] };
    } else if (line.startsWith('b')) {
      const parts = /^b(\d+)(?: in (l\d+))?( cold)?(?: \(([^)]*)\))?:/.exec(line);
      if (!parts) continue;
      const params = Array.from((parts[4] || '').matchAll(/r(\d+)/g), (found) => +found[1]);
      block = { kind: 'block', id: +parts[1], loop: parts[2] || '', cold: !!parts[3], params, insts: [], edges: [], at: rows.length };
      movesFrom = rows.length + 1;
      blocks.push(block);
      rows.push(block);
    }
  }
  return { rows, insts, vregs, intervals, blocks };
}

/** The number of a move, from its index among the moves before an instruction. */
function moveId(num, at) {
  return num * 4096 + at;
}

/** `12: alu_rr.i64.i64 def:r3 r1 4 clobbers rax ; v7 @3` */
function readInst(body, next) {
  const semi = body.indexOf(' ; ');
  let head = semi < 0 ? body : body.slice(0, semi), tail = semi < 0 ? '' : body.slice(semi + 3);
  if (semi < 0) {
    const at = head.indexOf(' @');
    if (at >= 0) { tail = head.slice(at + 1); head = head.slice(0, at); }
  }
  let number = next;
  const colon = head.indexOf(': ');
  if (colon > 0 && head.charCodeAt(0) < 58) { number = +head.slice(0, colon); head = head.slice(colon + 2); }
  const clobbered = head.indexOf(' clobbers ');
  const clobbers = clobbered < 0 ? '' : head.slice(clobbered + 10);
  const words = (clobbered < 0 ? head : head.slice(0, clobbered)).split(' ');
  const [name, from, type] = words[0].split('.');
  const operands = [], imms = [];
  for (let at = 1; at < words.length; at++) {
    const operand = readOperand(words[at]);
    if (operand) operands.push(operand);
    else if (words[at]) imms.push(words[at]);
  }
  const node = /^v(\d+)/.exec(tail), origin = /@(\d+)/.exec(tail);
  return {
    kind: 'inst', num: number, name, types: `${from}.${type}`, operands, imms, clobbers,
    node: node ? +node[1] : -1, origin: origin ? +origin[1] : 0,
  };
}

/** A position in the program. There are four for each instruction: gap, early, late, after. */
function position(number, place) {
  return +number * 4 + 'gela'.indexOf(place);
}

/** Half-open segments: ` 4l..12e 20g..33a`. */
function segmentsOf(text) {
  return Array.from(text.matchAll(/ (\d+)([gela])\.\.(\d+)([gela])/g), (found) => ({
    from: position(found[1], found[2]), to: position(found[3], found[4]),
  }));
}

/** A position as the trace writes it. */
function positionText(position) {
  return `${position >> 2}${'gela'[position & 3]}`;
}

/** Live ranges: for each, its virtual registers and the segments in which it is live. */
function readLive(lines) {
  const ranges = [];
  for (const line of lines) {
    const parts = /^((?:r\d+ )+)(int|float):(.*)$/.exec(line.replace(/^\s+/, ''));
    if (!parts) continue;
    const vregs = Array.from(parts[1].matchAll(/r(\d+)/g), (found) => +found[1]);
    const segments = segmentsOf(parts[3]);
    const hint = / hint (\S+)/.exec(parts[3]), constant = / const (\S+)/.exec(parts[3]);
    ranges.push({
      at: ranges.length, vregs, cls: parts[2], segments, intervals: [],
      hint: hint ? hint[1] : '', constant: constant ? constant[1] : '',
    });
  }
  return ranges;
}

/** Machine code: a row for each instruction, with its origin. */
function readEmit(lines) {
  const rows = [];
  for (const line of lines) {
    const parts = /^\s*([0-9a-f]+) {2}((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:\s+([^;]*?))?\s*(?:;\s*(.*))?$/.exec(line);
    if (!parts) continue;
    const [, offset, bytes, text, note = ''] = parts;
    // The note starts with a number, followed by the tile's name or another word, then the node and the bytecode.
    const owner = /^(?:(\d+) ?)?([a-z_]\w*)?/i.exec(note.replace(/^v\d+/, '')), node = /(?:^| )v(\d+)(?= |$)/.exec(note);
    const origin = /@(\d+)/.exec(note);
    const number = owner[1] === undefined ? -1 : +owner[1], isMove = owner[2] === 'move';
    const isInst = number >= 0 && !isMove;
    const word = owner[2] && !/^v\d+$/.test(owner[2]) ? owner[2] : '';
    rows.push({
      at: rows.length, offset, bytes, text: text || '', note, num: isInst ? number : -1, before: isMove ? number : -1,
      word: isInst ? '' : word, tile: isInst ? word : '', node: node ? +node[1] : -1,
      origin: origin ? +origin[1] : isInst ? 0 : -1,
    });
  }
  return rows;
}
