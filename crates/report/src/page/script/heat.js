// The heat map's numbers: unpacked once into prefix sums, so that the sum over any run of cells is one subtraction. That
// replaces a pyramid of coarser maps: every zoom is as fast, and exact. Written by heat.rs, where the order is told.

async function inflate(text) {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Reads LEB128 numbers one after another.
class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  next() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let unit = 128; ; unit *= 128) {
      byte = this.bytes[this.at++];
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  }

  // Lines of so many cells, each as its running sum from 0.
  prefixSums(lines, cells) {
    const sums = new Float64Array(lines * (cells + 1));
    for (let line = 0, to = 0; line < lines; line++, to++) {
      for (let cell = 0; cell < cells; cell++, to++) sums[to + 1] = sums[to] + this.next();
    }
    return sums;
  }
}

// The heat of one run.
class Heat {
  constructor(run, bytes) {
    this.run = run;
    const numbers = new Numbers(bytes);
    this.maps = run.maps.map((map) => ({
      ...map,
      local: numbers.prefixSums(run.lanes.length, map.cells),
      remote: numbers.prefixSums(run.lanes.length, map.cells),
      homes: numbers.prefixSums(run.matrix.nodes.length, map.cells),
    }));
    this.ofArea = new Map();
    for (const map of this.maps) {
      if (!this.ofArea.has(map.area)) this.ofArea.set(map.area, []);
      this.ofArea.get(map.area).push(map);
    }
    this.views = new Map();
  }

  // The maps of an area, ascending.
  mapsOf(area) {
    return this.ofArea.get(area) ?? [];
  }

  // The numbers by accessor: `rows` lists the lanes of each row; `key` names the view for the next time.
  view(key, rows) {
    if (!this.views.has(key)) this.views.set(key, new HeatView(this, rows));
    return this.views.get(key);
  }
}

// Lanes summed up to rows: prefix sums by row, and the busiest cell, which sets the scale.
class HeatView {
  constructor(heat, rows) {
    this.rows = rows;
    this.ofMap = new Map(
      heat.maps.map((map) => [map, { local: this.summed(map, "local"), remote: this.summed(map, "remote") }]),
    );
    this.most = { remote: this.busiest(["remote"]), all: this.busiest(["local", "remote"]) };
  }

  summed(map, kind) {
    const length = map.cells + 1;
    const sums = new Float64Array(this.rows.length * length);
    this.rows.forEach((lanes, row) => {
      for (const lane of lanes) {
        for (let cell = 0; cell < length; cell++) sums[row * length + cell] += map[kind][lane * length + cell];
      }
    });
    return sums;
  }

  // Transactions of a row with cells [from, to) of a map.
  count(map, kind, row, from, to) {
    const sums = this.ofMap.get(map)[kind];
    const start = row * (map.cells + 1);
    return sums[start + to] - sums[start + from];
  }

  // The most transactions per granule that a row has in any cell.
  busiest(kinds) {
    let most = 0;
    for (const [map, sums] of this.ofMap) {
      const granules = map.cell_bytes / facts.granule_bytes;
      const length = map.cells + 1;
      const parts = kinds.map((kind) => sums[kind]);
      for (let at = 1; at < this.rows.length * length; at++) {
        if (at % length === 0) continue;
        let count = 0;
        for (const part of parts) count += part[at] - part[at - 1];
        if (count / granules > most) most = count / granules;
      }
    }
    return most;
  }
}

async function readHeats() {
  const packed = [...document.querySelectorAll("script.heat")];
  return Promise.all(packed.map(async (script, index) => new Heat(runs[index], await inflate(script.textContent))));
}
