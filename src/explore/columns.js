// The appearance of the columns' rows. In: parsed rows. Out: their HTML.

/** A row of bytecode. Field names are dimmed, and wrappers without information are left out. */
function byteRow(row, digits) {
  const text = row.text.replace(/\bImm\(([^()]*)\)/g, '$1').replace(/\bLabel\((\d+)\)/g, '→$1');
  const parts = /^(\w+)(?: \{ (.*) \}|(.*))$/s.exec(text);
  const rest = parts ? (parts[2] ?? parts[3]) : '';
  const fields = html(rest).replace(/(^|, )(\w+): /g, (_, comma, name) => tag('field', ` ${name} `));
  const learned = row.learned ? tag('dim', `  ${row.learned}`) : '';
  return `${tag('n', String(row.at).padStart(digits))}  ${tag('op', parts ? parts[1] : text)}${rest ? fields : ''}${learned}`;
}

/** A row of the tile list. */
function tileRow(row, digits) {
  const indent = ' '.repeat(digits);
  switch (row.kind) {
    case 'block': {
      const params = row.params.length ? tag('dim', ` (${row.params.map((vreg) => `r${vreg}`).join(' ')})`) : '';
      const notes = [row.loop && `in ${row.loop}`, row.cold && 'cold'].filter(Boolean).join(', ');
      return `b${row.id}${params}${notes ? tag('dim', `  ${notes}`) : ''}`;
    }
    case 'edge':
      return `${indent}  ${tag('dim', row.text.replace('->', '→'))}`;
    case 'move':
      return `${indent}  ${tag('dim', 'move')} ${place(row.to)} ${tag('dim', '←')} ${/^-?[\d.]/.test(row.from) ? html(row.from) : place(row.from)}`;
    default:
      return instRow(row, digits);
  }
}

function instRow(row, digits) {
  const written = row.operands.filter((operand) => operand.role === 'def' || operand.role === 'early').map(operandText);
  const read = row.operands.filter((operand) => !operand.writes).map(operandText);
  const temps = row.operands.filter((operand) => operand.role === 'temp').map(operandText);
  let out = `${tag('n', String(row.num).padStart(digits))}  ${tag('op', row.name)}`;
  if (written.length) out += ` ${written.join(' ')} ${read.length || row.imms.length ? tag('dim', '← ') : ''}`;
  else out += ' ';
  out += [...read, ...row.imms.map((imm) => constantText(imm, row.types))].join(' ');
  if (temps.length) out += tag('dim', '  with ') + temps.join(' ');
  return `${out}${tag('dim', `  ${linkText(row)}`)}`;
}

function operandText(operand) {
  const wish = operand.wish && !operand.place ? tag('dim', operand.wish) : '';
  const name = `r${operand.vreg}`;
  return operand.place ? `${tag('dim', `${name}:`)}${place(operand.place)}` : `${name}${wish}`;
}

/** A constant as it is shown: the bits of a float as a number, and a long integer, such as an address, in hexadecimal. */
function constantText(text, types) {
  const isLong = /^(-?\d{9,}|0x[0-9a-f]{8,})$/i.test(text);
  if (isLong && types.endsWith('f64')) return String(new Float64Array(BigInt64Array.of(BigInt(text)).buffer)[0]);
  if (isLong && types.endsWith('f32')) return String(new Float32Array(Int32Array.of(Number(BigInt(text))).buffer)[0]);
  return /^-?\d{11,}$/.test(text) ? `0x${BigInt.asUintN(64, BigInt(text)).toString(16)}` : html(text);
}

/** A register or a place in memory. */
function place(name) {
  if (isMemory(name)) return tag('memory', name);
  return `<span class="reg" style="--c:${placeColor(name)}">${html(name)}</span>`;
}

function linkText({ node, origin }) {
  return [node >= 0 && `v${node}`, origin >= 0 && `@${origin}`].filter(Boolean).join(' ');
}

/** A machine instruction, followed by its origin. */
function codeRow(row, { offset, bytes, text, links, node, num, showsBytes }) {
  const shown = row.text || row.bytes;
  const [, operator, rest] = /^(\S+)(.*)$/s.exec(shown) || ['', shown, ''];
  const fit = operator.length + rest.length > text ? `${rest.slice(0, text - operator.length - 1)}…` : rest.padEnd(text - operator.length);
  const owner = `${(row.num >= 0 ? String(row.num) : '').padStart(num)} ${row.tile || row.word}`;
  const from = (row.origin >= 0 ? `@${row.origin}` : '').padEnd(links) + (row.node >= 0 ? `v${row.node}` : '').padEnd(node);
  return `${tag('n', row.offset.padStart(offset))}  ${showsBytes && row.text ? tag('dim', row.bytes.padEnd(bytes + 2)) : ''}`
    + `${row.text ? tag('op', operator) : html(operator)}${html(fit)} ${tag('dim', from + owner)}`;
}

/** The text of a row that is searched. */
const SEARCHED = {
  byte: (row) => `@${row.at} ${row.text}`,
  node: (node) => `${nodeText(node)} ${originText(node)}`,
  tile: (row) => {
    if (row.kind === 'block') return `b${row.id} ${row.loop}${row.cold ? ' cold' : ''}`;
    if (row.kind === 'move') return `move ${row.to} ${row.from}`;
    if (row.kind === 'edge') return row.text;
    return `${row.num} ${row.name} ${row.operands.map((each) => `r${each.vreg}${each.wish} ${each.place}`).join(' ')} ${row.imms.join(' ')} ${linkText(row)}`;
  },
  range: (range) => `${range.vregs.map((vreg) => `r${vreg}`).join(' ')} ${range.cls} ${range.intervals.map((interval) => interval.place).join(' ')}`,
  code: (row) => `${row.offset} ${row.text} ${row.note}`,
};

/** Returns a predicate that matches texts against a query: item names such as `v3` as whole words, other text anywhere. */
function searcher(query) {
  const plain = query.trim().toLowerCase();
  if (/^[@vrb]\d+$/.test(plain)) {
    const whole = new RegExp(`(?<![\\w@])${plain}(?!\\w)`);
    return (text) => whole.test(text.toLowerCase());
  }
  return (text) => text.toLowerCase().includes(plain);
}

/** A description of a range: its registers and its places. */
function rangeText(range) {
  const few = (list, count, between) => list.slice(0, count).join(between) + (list.length > count ? ' …' : '');
  const places = [...new Set(range.intervals.map((interval) => interval.place))];
  const { segments } = range;
  const span = segments.length ? ` ${positionText(segments[0].from)}..${positionText(segments[segments.length - 1].to)}` : '';
  return few(range.vregs.map((vreg) => `r${vreg}`), 3, ' ') + (places.length ? ` in ${few(places, 4, ', ')}` : '')
    + (range.constant ? ` = ${range.constant}` : '') + span;
}
