// A list that has elements only for visible rows. In: the number of rows, and a function that makes one. Out: a column's body.

const ROW = 20, MARGIN = 12;

class List {
  /**
   * `body` scrolls; `make(index)` returns a row's inner HTML; `dress(index)` its classes; `width()` the longest row in characters.
   */
  constructor(body, { make, dress, width }) {
    Object.assign(this, { body, make, dress, width, count: 0, shown: new Map(), first: 0, last: -1 });
    this.sheet = document.createElement('div');
    this.sheet.className = 'sheet';
    this.sheet.setAttribute('role', 'presentation');
    body.append(this.sheet);
    body.addEventListener('scroll', () => this.draw(), { passive: true });
  }

  /** Shows other rows. */
  reset(count) {
    this.count = count;
    this.shown.clear();
    this.sheet.replaceChildren();
    this.sheet.style.height = `${count * ROW + 8}px`;
    this.sheet.style.minWidth = `max(100%, ${this.width() + 3}ch)`;
    this.draw();
  }

  /** Makes the rows that have become visible. */
  draw() {
    const height = this.body.clientHeight, top = this.body.scrollTop;
    if (!height) return;
    const first = Math.max(0, Math.floor(top / ROW) - MARGIN);
    const last = Math.min(this.count - 1, Math.ceil((top + height) / ROW) + MARGIN);
    for (const [index, row] of this.shown) {
      if (index < first || index > last) { row.remove(); this.shown.delete(index); }
    }
    const made = document.createDocumentFragment();
    for (let index = first; index <= last; index++) {
      if (this.shown.has(index)) continue;
      const row = document.createElement('div');
      row.dataset.row = index;
      row.id = `${this.body.id}-${index}`;
      row.setAttribute('role', 'option');
      row.style.transform = `translateY(${index * ROW}px)`;
      row.innerHTML = this.make(index);
      this.put(row, this.dress(index));
      this.shown.set(index, row);
      made.append(row);
    }
    if (made.childNodes.length) this.sheet.append(made);
  }

  /** Updates the highlights. */
  redress() {
    for (const [index, row] of this.shown) this.put(row, this.dress(index));
  }

  put(row, dress) {
    const classes = `row ${dress}`;
    if (row.className === classes) return;
    row.className = classes;
    row.setAttribute('aria-selected', / self/.test(classes));
  }

  /** The row under an event. */
  rowAt(event) {
    const row = event.target.closest?.('.row');
    return row ? +row.dataset.row : -1;
  }

  isInSight(index) {
    const top = index * ROW - this.body.scrollTop;
    return top >= 0 && top + ROW <= this.body.clientHeight;
  }

  /** If a row is not visible, scrolls it to a third from the top. */
  reveal(index) {
    if (index < 0 || this.isInSight(index)) return;
    this.body.scrollTop = index * ROW - this.body.clientHeight / 3;
    this.draw();
  }

  /** Scrolls as little as possible to make a row visible. */
  nudge(index) {
    const top = index * ROW, { scrollTop, clientHeight } = this.body;
    if (top < scrollTop) this.body.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.body.scrollTop = top + ROW - clientHeight;
    this.draw();
  }
}

const HTML = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for HTML. */
function html(text) {
  return String(text).replace(/[&<>"]/g, (char) => HTML[char]);
}

/** Wraps text in an element with a class. */
function tag(cls, text) {
  return `<span class="${cls}">${html(text)}</span>`;
}
