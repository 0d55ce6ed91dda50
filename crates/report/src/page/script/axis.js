// The axis of the heat map: the areas one after another in the order of their addresses, each as far as it was reached;
// what lies between is left out. A place on the axis is a number of bytes.

class Axis {
  constructor(heats) {
    this.length = 0;
    this.pieces = [];
    this.ofArea = new Map();
    for (const [area, spans] of reachedSpans(heats)) {
      const pieces = spans.map(({ from, to }) => {
        const piece = { area, from, bytes: to - from, start: this.length };
        this.length += piece.bytes;
        return piece;
      });
      this.pieces.push(...pieces);
      this.ofArea.set(area, { start: pieces[0].start, bytes: this.length - pieces[0].start, pieces });
    }
  }

  // The index in `pieces` of the one at a place.
  indexAt(place) {
    let [low, high] = [0, this.pieces.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.pieces[middle].start <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // The piece at a place and the offset in its area.
  at(place) {
    const piece = this.pieces[this.indexAt(place)];
    return { piece, offset: piece.from + Math.min(Math.max(place - piece.start, 0), piece.bytes) };
  }

  // Where an offset of an area stands; none if it is not there.
  placeOf(area, offset) {
    const piece = this.ofArea
      .get(area)
      ?.pieces.find(({ from, bytes }) => offset > from - facts.granule_bytes && offset < from + bytes);
    return piece ? piece.start + Math.max(offset - piece.from, 0) : null;
  }
}

// The stretches of each area that any run reached, as bytes of the area; areas by address, the catch-all last.
function reachedSpans(heats) {
  const spans = new Map();
  for (const map of heats.flatMap((heat) => heat.maps)) {
    const { bytes } = facts.areas[map.area];
    const from = Math.min(Math.max(map.offset, 0), Math.max(bytes - 1, 0));
    // An area of no bytes would have no place.
    const to = Math.max(Math.min(map.offset + map.cells * map.cell_bytes, bytes), from + 1);
    spans.set(map.area, [...(spans.get(map.area) ?? []), { from, to }]);
  }
  const address = (area) => Number(facts.areas[area].start);
  const isLast = (area) => facts.areas[area].kind === "other";
  return [...spans]
    .sort(([a], [b]) => isLast(a) - isLast(b) || address(a) - address(b) || a - b)
    .map(([area, found]) => [area, joined(found)]);
}

// Spans without overlaps, ascending.
function joined(spans) {
  const done = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = done.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else done.push({ ...span });
  }
  return done;
}

// Visits the cells of a run that lie between two places: map, first cell, end, piece. A cell belongs to the stretch in
// which it begins, so that stretches side by side count it once; a stretch inside a cell has the whole cell.
function visitCells(axis, heat, from, to, visit) {
  for (let index = axis.indexAt(from); index < axis.pieces.length; index++) {
    const piece = axis.pieces[index];
    if (piece.start >= to) return;
    const left = piece.from + Math.max(from - piece.start, 0);
    const right = piece.from + Math.min(to - piece.start, piece.bytes);
    for (const map of heat.mapsOf(piece.area)) {
      const end = map.offset + map.cells * map.cell_bytes;
      if (end <= left) continue;
      if (map.offset >= right) break;
      const cell = (offset) => Math.floor((offset - map.offset) / map.cell_bytes);
      const first = Math.max(cell(left), 0);
      // The last cell may reach beyond the piece's end and still belongs to it.
      const last = right >= Math.min(end, piece.from + piece.bytes) ? map.cells : cell(right);
      visit(map, first, Math.min(Math.max(last, first + 1), map.cells), piece);
    }
  }
}
