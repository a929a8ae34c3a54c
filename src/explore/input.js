// Input from pointer and keyboard. In: events. Out: the page's reactions to them.

const KEYS = [
  ['↑ ↓', 'move within a column'], ['← → or [ ]', 'step through the passes'], ['Tab', 'to the next column'], ['1 … 5', 'go to a column'],
  ['Enter', 'keep the item highlighted'], ['Esc', 'let it go'], ['/', 'search; Enter for the next hit'], ['Shift 1 … 5', 'hide or show a column'],
  ['Space', 'fold a block'], ['f', 'fold or unfold all blocks'], ['p', 'tiles with or without places'], ['b', 'bytes of machine code'],
  ['< >', 'narrow or widen a column'], ['+ −', 'zoom graph or chart'], ['0', 'fit the graph'], ['t', 'light or dark'], ['?', 'this help'],
];

/** Installs the event listeners of a page. */
function listen(page) {
  for (const kind of COLUMNS) {
    const { body } = page.columns[kind];
    body.addEventListener('pointermove', (event) => { if (isMoved(page, event)) page.hover(page.itemAt(kind, event)); });
    body.addEventListener('pointerleave', (event) => { if (isMoved(page, event)) page.hover(null); });
    body.addEventListener('click', (event) => click(page, kind, event));
    body.addEventListener('scroll', () => { if (page.item) page.showMore(); }, { passive: true });
  }
  for (const kind of ['tile', 'range']) {
    const { body } = page.columns[kind];
    body.addEventListener('scroll', () => page.syncFrom(body), { passive: true });
  }
  page.graph.body.addEventListener('wheel', (event) => {
    if (!event.ctrlKey || !page.shown) return;
    page.graph.setZoom(page.graph.zoom * (event.deltaY < 0 ? 1.15 : 1 / 1.15));
    event.preventDefault();
  });
  byId('columns').addEventListener('pointerdown', (event) => drag(page, event));
  byId('function').addEventListener('change', (event) => page.open(+event.target.value));
  const search = byId('search');
  search.addEventListener('input', () => page.search(search.value));
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') { page.nextResult(event.shiftKey ? -1 : 1); event.preventDefault(); }
    if (event.key === 'Escape') { search.value = ''; page.search(''); search.blur(); }
    event.stopPropagation();
  });
  byId('theme').addEventListener('click', () => setTheme(page));
  byId('help').addEventListener('click', () => byId('panel').showModal());
  byId('panel').addEventListener('click', (event) => { if (event.target === byId('panel')) byId('panel').close(); });
  byId('keys').innerHTML = KEYS.map(([key, what]) => `<dt>${key.split(' ').map((part) => (part === 'or' || part === '…' ? part : `<kbd>${html(part)}</kbd>`)).join(' ')}</dt><dd>${what}</dd>`).join('');
  document.addEventListener('keydown', (event) => key(page, event));
  window.addEventListener('resize', () => page.redraw());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => recolor(page));
}

/** Whether the pointer moved. If rows move under a resting pointer, because keys are pressed, the highlight must not follow. */
function isMoved(page, event) {
  const spot = `${event.clientX} ${event.clientY}`;
  if (event.isTrusted && page.isKeyed && spot === page.pointer) return false;
  page.pointer = spot;
  page.isKeyed = false;
  return true;
}

function click(page, kind, event) {
  if (kind === 'node') {
    const head = event.target.closest?.('.head');
    if (head) { page.fold(+head.parentElement.dataset.block); return; }
  }
  const item = page.itemAt(kind, event);
  if (item && item.kind === kind) page.cursors[kind] = item.id;
  if (item) page.pin(item, kind);
  else { page.pinned = null; page.refresh(); }
}

/** Drags a divider, which moves width from one of its columns to the other. */
function drag(page, event) {
  const divider = event.target.closest('.divider');
  if (!divider) return;
  const next = (from, side) => { let each = from; do each = each[side]; while (each && (each.hidden || each.className === 'divider')); return each; };
  const [left, right] = [next(divider, 'previousElementSibling'), next(divider, 'nextElementSibling')];
  if (!left || !right) return;
  const [leftWidth, rightWidth] = [left.clientWidth, right.clientWidth];
  const shares = [left, right].map((column) => +getComputedStyle(column).getPropertyValue('--share'));
  const all = shares[0] + shares[1];
  const move = (now) => {
    const width = Math.min(leftWidth + rightWidth - 80, Math.max(80, leftWidth + now.clientX - event.clientX));
    left.style.setProperty('--share', (all * width) / (leftWidth + rightWidth));
    right.style.setProperty('--share', all - (all * width) / (leftWidth + rightWidth));
    page.redraw();
  };
  divider.setPointerCapture(event.pointerId);
  divider.addEventListener('pointermove', move);
  divider.addEventListener('pointerup', () => divider.removeEventListener('pointermove', move), { once: true });
  event.preventDefault();
}

function key(page, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('panel').open) return;
  const kind = document.activeElement?.classList.contains('body') ? document.activeElement.id : null;
  const isButton = document.activeElement?.matches?.('button, select');
  const screen = kind ? Math.max(1, Math.floor(page.columns[kind].body.clientHeight / ROW) - 2) : 1;
  const digit = /^Digit([1-5])$/.exec(event.code);
  const acts = {
    ArrowDown: kind && (() => page.step(kind, 1)), ArrowUp: kind && (() => page.step(kind, -1)),
    PageDown: kind && (() => page.step(kind, screen)), PageUp: kind && (() => page.step(kind, -screen)),
    Home: kind && (() => page.step(kind, -1e9)), End: kind && (() => page.step(kind, 1e9)),
    ArrowLeft: () => page.setTime(page.time - 1), ArrowRight: () => page.setTime(page.time + 1),
    '[': () => page.setTime(page.time - 1), ']': () => page.setTime(page.time + 1),
    Enter: !isButton && (() => page.hovered && page.pin(page.hovered, kind)), Escape: () => { page.pinned = page.hovered = null; page.cursors = {}; page.refresh(); },
    '/': () => { byId('search').focus(); byId('search').select(); }, '?': () => byId('panel').showModal(),
    ' ': kind === 'node' && (() => page.cursors.node !== undefined && page.fold(page.shown.nodes[page.cursors.node].block.id)),
    f: () => page.shown && page.foldAll(), p: () => { page.setPlaces(!page.showsPlaces); page.refresh(); },
    b: () => page.setBytes(!page.showsBytes), t: () => setTheme(page),
    '<': kind && (() => widen(page, kind, 0.85)), '>': kind && (() => widen(page, kind, 1.2)),
    '+': () => zoom(page, kind, 1.25), '=': () => zoom(page, kind, 1.25), '-': () => zoom(page, kind, 0.8), 0: () => page.shown && page.graph.fit(),
  };
  let act = acts[event.key];
  if (digit && event.shiftKey) act = () => page.toggleColumn(COLUMNS[digit[1] - 1]);
  else if (digit) act = () => focusColumn(page, COLUMNS[digit[1] - 1]);
  if (!act) return;
  act();
  event.preventDefault();
}

function focusColumn(page, kind) {
  if (page.columns[kind].toggle.disabled) return;
  page.showColumn(kind, true);
  page.columns[kind].body.focus();
  page.columns[kind].column.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  if (page.cursors[kind] === undefined) page.step(kind, 0);
}

/** Makes a column wider or narrower. */
function widen(page, kind, factor) {
  const { column } = page.columns[kind];
  column.style.setProperty('--share', +getComputedStyle(column).getPropertyValue('--share') * factor);
  page.redraw();
}

function zoom(page, kind, by) {
  if (kind === 'range') page.zoomChart(by > 1 ? 2 : 0.5);
  else if (page.shown) page.graph.setZoom(page.graph.zoom * by);
}

function setTheme(page) {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
  recolor(page);
}

function recolor(page) {
  page.chart.colors = null;
  page.chart.draw();
}
