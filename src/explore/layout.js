// The layout of a graph. In: blocks with sizes, and the edges between them. Out: the positions of blocks and edges.
//
// The layers are those of Sugiyama's method: a block lies below all its predecessors, except along back edges. Long edges pass
// through dummy places in the layers between; edges over more layers than FAR run along the side instead, so that the work is
// linear in the size of the drawing. Within a layer, places are ordered by the mean position of their neighbors, and positions
// are the closest ones to these means that keep the order (pool adjacent violators). A layer takes one sort and linear work.

const FAR = 24, GAP_X = 28, GAP_Y = 44, LANE = 12;

/** `blocks` are `{ width, height, preds: [{ from, succ }] }` in order; `from` is an index. */
function layout(blocks) {
  const edges = edgesOf(blocks);
  const order = reversePostorder(blocks.length, edges);
  rankBlocks(blocks, edges, order);
  const layers = layersOf(blocks, edges, order);
  orderLayers(layers);
  placeLayers(layers);
  straighten(edges);
  return finish(blocks, edges, layers);
}

function edgesOf(blocks) {
  const edges = [];
  for (const block of blocks) { block.outs = []; block.ins = []; block.rank = 0; }
  blocks.forEach((block, to) => {
    for (const { from, succ } of block.preds) {
      if (!blocks[from]) continue;
      const edge = { from, to, succ, back: false, far: false, chain: [] };
      edges.push(edge);
      blocks[from].outs.push(edge);
      block.ins.push(edge);
    }
  });
  for (const block of blocks) block.outs.sort((one, other) => one.succ - other.succ);
  return edges;
}

/** Depth-first search from the entry. Edges to blocks on the search's stack are back edges. */
function reversePostorder(count, edges) {
  const outs = Array.from({ length: count }, () => []);
  for (const edge of edges) outs[edge.from].push(edge);
  for (const list of outs) list.sort((one, other) => one.succ - other.succ);
  const state = new Uint8Array(count), post = [];
  for (let root = 0; root < count; root++) {
    if (state[root]) continue;
    const stack = [[root, 0]];
    state[root] = 1;
    while (stack.length) {
      const top = stack[stack.length - 1];
      const edge = outs[top[0]][top[1]++];
      if (!edge) { state[top[0]] = 2; post.push(top[0]); stack.pop(); continue; }
      if (state[edge.to] === 1) edge.back = true;
      else if (!state[edge.to]) { state[edge.to] = 1; stack.push([edge.to, 0]); }
    }
  }
  // Blocks that the entry does not reach are roots of their own. All edges against the order are back edges.
  const order = post.reverse();
  const at = new Uint32Array(count);
  order.forEach((block, index) => { at[block] = index; });
  for (const edge of edges) if (at[edge.to] <= at[edge.from]) edge.back = true;
  return order;
}

function rankBlocks(blocks, edges, order) {
  for (const at of order) {
    let rank = 0;
    for (const edge of blocks[at].ins) if (!edge.back) rank = Math.max(rank, blocks[edge.from].rank + 1);
    blocks[at].rank = rank;
  }
}

/** The layers, which consist of places: blocks, and points at which long edges pass. */
function layersOf(blocks, edges, order) {
  const layers = [];
  const add = (place, rank) => { (layers[rank] ??= []).push(place); return place; };
  for (const at of order) {
    const block = blocks[at];
    block.place = add({ width: block.width, block: at, up: [], down: [], x: 0 }, block.rank);
  }
  const join = (above, below, weight) => {
    above.down.push({ place: below, weight });
    below.up.push({ place: above, weight });
  };
  for (const edge of edges) {
    const { place: from, rank: top } = blocks[edge.from], { place: to, rank: bottom } = blocks[edge.to];
    const low = Math.min(top, bottom), high = Math.max(top, bottom);
    edge.far = high - low > FAR;
    if (edge.far) continue;
    if (!edge.back) {
      let above = from;
      for (let rank = top + 1; rank < bottom; rank++) {
        const point = add({ width: LANE, block: -1, up: [], down: [], x: 0 }, rank);
        join(above, point, above === from ? 1 : 4);
        edge.chain.push(point);
        above = point;
      }
      join(above, to, edge.chain.length ? 2 : 1);
    } else {
      // A back edge goes down beside its source, up again, and above its target.
      let below = null;
      for (let rank = top; rank >= bottom; rank--) {
        const point = add({ width: LANE, block: -1, up: [], down: [], x: 0 }, rank);
        if (below) join(point, below, 4);
        edge.chain.push(point);
        below = point;
      }
      edge.chain[0].beside = from;
      edge.chain[edge.chain.length - 1].beside = to;
    }
  }
  for (const layer of layers) layer.forEach((place, at) => { Object.assign(place, { at, layer }); });
  return layers;
}

function orderLayers(layers) {
  const sweep = (layer, side) => {
    for (const place of layer) {
      const near = place[side];
      place.key = near.length ? near.reduce((sum, { place: other }) => sum + other.at, 0) / near.length : place.at;
      if (place.beside && place.beside !== place) place.key = Math.max(place.key, place.beside.at + 0.5);
    }
    layer.sort((one, other) => one.key - other.key || one.at - other.at);
    layer.forEach((place, at) => { place.at = at; });
  };
  for (let round = 0; round < 3; round++) {
    for (let rank = 1; rank < layers.length; rank++) sweep(layers[rank], 'up');
    for (let rank = layers.length - 2; rank >= 0; rank--) sweep(layers[rank], 'down');
  }
  for (let rank = 1; rank < layers.length; rank++) sweep(layers[rank], 'up');
}

/** Sets the `x` of places, which is their center. */
function placeLayers(layers) {
  for (const layer of layers) {
    let x = 0;
    for (const place of layer) { place.x = x + place.width / 2; x += place.width + GAP_X; }
    const middle = (x - GAP_X) / 2;
    for (const place of layer) place.x -= middle;
  }
  const sweep = (layer, sides) => {
    for (const place of layer) {
      let sum = 0, weight = 0;
      for (const side of sides) for (const near of place[side]) { sum += near.place.x * near.weight; weight += near.weight; }
      if (place.beside) { sum += place.beside.x + place.beside.width / 2 + GAP_X; weight += 1; }
      place.wish = weight ? sum / weight : place.x;
      // Blocks pull harder than lines, so lines go around them.
      place.pull = place.block < 0 ? 1 : 12;
    }
    settle(layer);
  };
  for (let round = 0; round < 4; round++) {
    for (let rank = 1; rank < layers.length; rank++) sweep(layers[rank], ['up']);
    for (let rank = layers.length - 2; rank >= 0; rank--) sweep(layers[rank], round < 3 ? ['down'] : ['up', 'down']);
  }
}

/** Moves a layer's places as close to their desired positions as order and width allow. */
function settle(layer) {
  const pools = [];
  let offset = 0;
  layer.forEach((place, at) => {
    const before = layer[at - 1];
    if (before) offset += (before.width + place.width) / 2 + (before.block < 0 && place.block < 0 ? 4 : GAP_X);
    place.offset = offset;
    const pool = { sum: (place.wish - offset) * place.pull, pull: place.pull, from: at };
    while (pools.length && pools[pools.length - 1].sum / pools[pools.length - 1].pull >= pool.sum / pool.pull) {
      const other = pools.pop();
      pool.sum += other.sum;
      pool.pull += other.pull;
      pool.from = other.from;
    }
    pools.push(pool);
  });
  pools.forEach((pool, at) => {
    const end = pools[at + 1]?.from ?? layer.length;
    for (let index = pool.from; index < end; index++) layer[index].x = pool.sum / pool.pull + layer[index].offset;
  });
}

/** Straightens long edges where nothing is in their way. */
function straighten(edges) {
  const room = ({ layer, at, width }) => {
    const gap = (other) => (width + other.width) / 2 + (other.block < 0 ? 4 : GAP_X / 2);
    return [
      at > 0 ? layer[at - 1].x + gap(layer[at - 1]) : -Infinity,
      at + 1 < layer.length ? layer[at + 1].x - gap(layer[at + 1]) : Infinity,
    ];
  };
  for (const { chain } of edges) {
    if (chain.length < 2) continue;
    // Each run of points that have room at the same x is made straight.
    for (let from = 0; from < chain.length;) {
      let [low, high] = [-Infinity, Infinity], to = from, sum = 0;
      for (; to < chain.length; to++) {
        const [left, right] = room(chain[to]);
        if (Math.max(low, left) > Math.min(high, right)) break;
        [low, high] = [Math.max(low, left), Math.min(high, right)];
        sum += chain[to].x;
      }
      to = Math.max(to, from + 1);
      const x = Math.min(high, Math.max(low, sum / Math.max(1, to - from)));
      if (low <= high && Number.isFinite(x)) for (let at = from; at < to; at++) chain[at].x = x;
      from = to;
    }
  }
}

/** Computes coordinates from places: the tops of layers, the boxes of blocks, and the lines of edges. */
function finish(blocks, edges, layers) {
  let left = blocks.length ? Infinity : 0, right = blocks.length ? -Infinity : 0, y = GAP_Y / 2;
  for (const layer of layers) {
    for (const place of layer) {
      left = Math.min(left, place.x - place.width / 2);
      right = Math.max(right, place.x + place.width / 2);
    }
  }
  const far = edges.filter((edge) => edge.far);
  const lanes = farLanes(far, blocks);
  const shift = 16 - left;
  const bands = layers.map((layer) => {
    const height = layer.reduce((most, place) => Math.max(most, place.block < 0 ? 0 : blocks[place.block].height), 0);
    const band = { top: y, bottom: y + height };
    y += height + GAP_Y;
    return band;
  });
  for (const layer of layers) for (const place of layer) place.x = Math.round(place.x + shift);
  for (const block of blocks) {
    block.x = block.place.x - block.width / 2;
    block.y = bands[block.rank].top;
  }
  const width = right - left + 32;
  const turns = new Uint32Array(layers.length);
  for (const edge of edges) {
    if (edge.back || edge.far) edge.turn = turns[blocks[edge.to].rank]++;
    route(edge, blocks, bands, width);
  }
  return { width: width + lanes * 8 + 8, height: y - GAP_Y / 2, edges };
}

/** Assigns lanes to the edges that run along the side, so that no two overlap. */
function farLanes(far, blocks) {
  const ends = [];
  const span = (edge) => [blocks[edge.from].rank, blocks[edge.to].rank].sort((one, other) => one - other);
  far.sort((one, other) => span(one)[0] - span(other)[0]);
  for (const edge of far) {
    const [low, high] = span(edge);
    let lane = ends.findIndex((end) => end < low);
    if (lane < 0) lane = ends.length < 12 ? ends.push(0) - 1 : 11;
    ends[lane] = high;
    edge.lane = lane;
  }
  return ends.length;
}

/** The line of an edge, as the points through which it goes. */
function route(edge, blocks, bands, width) {
  const from = blocks[edge.from], to = blocks[edge.to];
  const share = (index, count) => (count > 1 ? (index / (count - 1) - 0.5) * Math.min(60, count * 16) : 0);
  const start = [from.place.x + share(from.outs.indexOf(edge), from.outs.length), from.y + from.height];
  const end = [to.place.x + share(to.ins.indexOf(edge), Math.min(to.ins.length, 6)) * (to.ins.length > 6 ? 0 : 1), to.y];
  const points = [start];
  const bottom = bands[from.rank].bottom;
  // Neighboring lines are kept apart.
  const out = bottom + 12 + 4 * (edge.turn % 3), over = to.y - 13 - 4 * (edge.turn % 3);
  if (edge.far) {
    const x = width + edge.lane * 8;
    points.push([start[0], out], [x, out], [x, over], [end[0], over]);
  } else if (edge.back) {
    let x = edge.chain[0].x;
    points.push([start[0], out], [x, out]);
    edge.chain.forEach((point, at) => {
      if (point.x === x) return;
      const middle = bands[from.rank - at].bottom + GAP_Y / 2;
      points.push([x, middle], [point.x, middle]);
      x = point.x;
    });
    points.push([x, over], [end[0], over]);
  } else {
    if (bottom > start[1]) points.push([start[0], bottom]);
    edge.chain.forEach((point, at) => {
      const band = bands[from.rank + 1 + at];
      points.push([point.x, band.top], [point.x, band.bottom]);
    });
  }
  points.push(end);
  edge.points = points;
  edge.top = Math.min(...points.map((point) => point[1]));
  edge.bottom = Math.max(...points.map((point) => point[1]));
}

/** The SVG path of an edge: curved if it goes down, with corners if it goes back or along the side. */
function pathOf(points, isAngular) {
  let path = `M${points[0][0]} ${points[0][1]}`;
  for (let at = 1; at < points.length; at++) {
    const [x0, y0] = points[at - 1], [x, y] = points[at];
    if (isAngular && at + 1 < points.length) {
      const [x1, y1] = points[at + 1];
      const [before, after] = [Math.hypot(x - x0, y - y0), Math.hypot(x1 - x, y1 - y)];
      const bend = Math.min(6, before / 2, after / 2);
      if (bend < 0.5) continue;
      path += `L${x - ((x - x0) / before) * bend} ${y - ((y - y0) / before) * bend}`
        + `Q${x} ${y} ${x + ((x1 - x) / after) * bend} ${y + ((y1 - y) / after) * bend}`;
    } else if (isAngular || x0 === x) {
      path += `L${x} ${y}`;
    } else {
      const half = (y0 + y) / 2;
      path += `C${x0} ${half} ${x} ${half} ${x} ${y}`;
    }
  }
  return path;
}
