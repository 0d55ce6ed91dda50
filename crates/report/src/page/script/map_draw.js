// Draws the heat map: an overview of the whole heap, then for each run a strip of homes, the rows of accessors and a strip
// of contested lines, and the axis of areas below. A pixel shows the mean over the granules that it covers, so that zooming
// changes the detail, not the meaning.

const MAP = { gutter: 96, right: 6, overview: 34, title: 24, home: 14, gap: 3, contested: 18, axis: 50 };
function mapLayout(rowCount, runCount) {
  const rowHeight = Math.max(Math.min(Math.floor(544 / runCount / rowCount), 34), 1);
  let top = MAP.overview;
  const panels = Array.from({ length: runCount }, () => {
    const home = top + MAP.title;
    const rows = home + MAP.home + MAP.gap;
    const contested = rows + rowHeight * rowCount + MAP.gap;
    top = contested + MAP.contested + MAP.gap;
    return { title: home - 7, home, rows, contested, end: top };
  });
  return { rowHeight, panels, axis: top + 2, height: top + 2 + MAP.axis };
}

class MapPainter {
  constructor(canvas, axis, heats) {
    Object.assign(this, {
      canvas,
      axis,
      heats,
      context: canvas.getContext("2d"),
      strip: document.createElement("canvas"),
    });
    this.marks = runs.map((run) => contestedMarks(run, axis));
  }

  // `state`: rows, kinds, most, view, cursor.
  draw(state) {
    const { canvas, context } = this;
    this.state = state;
    this.layout = mapLayout(state.rows.length, runs.length);
    const scale = window.devicePixelRatio || 1;
    this.width = canvas.clientWidth || 1000;
    canvas.style.height = `${this.layout.height}px`;
    const [width, height] = [Math.round(this.width * scale), Math.round(this.layout.height * scale)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    this.plot = { left: MAP.gutter, width: this.width - MAP.gutter - MAP.right };
    this.pixels = Math.max(Math.round(this.plot.width * scale), 1);
    this.ramp = rampPixels();
    this.ink = styled("--ink");
    this.soft = styled("--ink-soft");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, this.width, this.layout.height);
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.textBaseline = "alphabetic";
    this.overview();
    runs.forEach((run, index) => this.panel(run, index));
    drawAreas(this);
    this.cursor();
  }

  bytesPerPixel() {
    return (this.state.view.to - this.state.view.from) / this.plot.width;
  }

  x(place) {
    return this.plot.left + (place - this.state.view.from) / this.bytesPerPixel();
  }

  place(x) {
    return this.state.view.from + (x - this.plot.left) * this.bytesPerPixel();
  }

  label(text, x, y, width, align = "left", colour = this.ink) {
    const { context } = this;
    context.fillStyle = colour;
    context.textAlign = align;
    let shown = text;
    while (shown.length > 1 && context.measureText(shown).width > width)
      shown = `${shown.slice(0, Math.max(shown.length - 3, 0))}…`;
    if (context.measureText(shown).width <= width) context.fillText(shown, x, y);
  }

  // Sums by pixel of a stretch of the axis: counts of each row, and granules.
  sums(index, from, to, pixels) {
    const { rows, kinds, mode } = this.state;
    const heat = this.heats[index];
    const view = heat.view(
      mode,
      rows.map((row) => row.lanes[index]),
    );
    const counts = new Float64Array(rows.length * pixels);
    const granules = new Float64Array(pixels);
    const step = (to - from) / pixels;
    for (let at = 0; at < pixels; at++) {
      visitCells(this.axis, heat, from + at * step, from + (at + 1) * step, (map, first, last) => {
        granules[at] += ((last - first) * map.cell_bytes) / facts.granule_bytes;
        for (let row = 0; row < rows.length; row++) {
          for (const kind of kinds) counts[row * pixels + at] += view.count(map, kind, row, first, last);
        }
      });
    }
    return { counts, granules };
  }

  // Pixels as an image, stretched to the place where they belong.
  paint(words, width, height, x, y, shownWidth, shownHeight) {
    this.strip.width = width;
    this.strip.height = height;
    const image = new ImageData(new Uint8ClampedArray(words.buffer), width, height);
    this.strip.getContext("2d").putImageData(image, 0, 0);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.strip, x, y, shownWidth, shownHeight);
  }

  overview() {
    const { context, plot, state } = this;
    const height = MAP.overview - 8;
    const key = `${state.mode} ${state.kinds} ${this.pixels}`;
    if (this.known?.key !== key) {
      const all = runs.map((_, index) => this.sums(index, 0, this.axis.length, Math.round(plot.width)));
      const mean = ({ counts, granules }) =>
        Array.from(granules, (count, at) => {
          let total = 0;
          for (let row = 0; row < state.rows.length; row++) total += counts[row * granules.length + at];
          return count > 0 ? total / count : 0;
        });
      this.known = { key, means: all.map(mean) };
    }
    const means = this.known.means[0].map((_, at) => Math.max(...this.known.means.map((of) => of[at])));
    const most = means.reduce((most, value) => Math.max(most, value), 1);
    this.label("whole heap", plot.left - 8, height - 7, MAP.gutter - 12, "right", this.soft);
    context.fillStyle = styled("--local");
    means.forEach((value, at) => {
      const tall = onRamp(value, most) * (height - 4);
      if (value > 0) context.fillRect(plot.left + at, height - tall, 1, tall);
    });
    const [left, right] = [state.view.from, state.view.to].map(
      (place) => plot.left + (place / this.axis.length) * plot.width,
    );
    context.strokeStyle = styled("--accent");
    context.lineWidth = 2;
    context.strokeRect(left, 1, Math.max(right - left, 3), height);
  }

  panel(run, index) {
    const { context, layout, plot, state } = this;
    const panel = layout.panels[index];
    context.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
    if (isPair) this.label(runTitle(run), plot.left, panel.title, plot.width);
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    this.homes(index, panel);
    this.rows(index, panel);
    drawContested(this, index, panel);
    context.strokeStyle = styled("--line-strong");
    context.lineWidth = 1;
    context.strokeRect(plot.left - 0.5, panel.rows - 0.5, plot.width + 1, layout.rowHeight * state.rows.length + 1);
  }

  rows(index, panel) {
    const { layout, plot, pixels } = this;
    const { rows, view, most } = this.state;
    const { counts, granules } = this.sums(index, view.from, view.to, pixels);
    const words = new Uint32Array(rows.length * pixels);
    for (let at = 0; at < words.length; at++) {
      if (counts[at] > 0) words[at] = this.ramp[Math.round(onRamp(counts[at] / granules[at % pixels], most) * 255)];
    }
    // Below a cell there is nothing finer to see but the bytes of contested lines: the shade steps back.
    this.context.globalAlpha = this.isBelowCells(index) ? 0.35 : 1;
    this.paint(words, pixels, rows.length, plot.left, panel.rows, plot.width, layout.rowHeight * rows.length);
    this.context.globalAlpha = 1;
    const every = Math.ceil(13 / layout.rowHeight);
    rows.forEach((row, number) => {
      if (number % every === 0)
        this.label(
          row.label,
          plot.left - 8,
          panel.rows + (number + 0.5) * layout.rowHeight + 4,
          MAP.gutter - 12,
          "right",
        );
    });
  }

  // Whether all that is in view lies in one cell.
  isBelowCells(index) {
    const { view } = this.state;
    let cells = 0;
    visitCells(this.axis, this.heats[index], view.from, view.to, (map, first, last) => {
      cells += last - first;
    });
    return cells === 1;
  }

  // Each column is parted by the share of its granules that live on each node.
  homes(index, panel) {
    const { plot, pixels } = this;
    const { view } = this.state;
    const { nodes } = runs[index].matrix;
    const colours = nodes.map((_, node) => pixel(channels(styled(nodeVariable(node)))));
    const words = new Uint32Array(MAP.home * pixels);
    const granules = new Float64Array(nodes.length);
    const step = (view.to - view.from) / pixels;
    for (let at = 0; at < pixels; at++) {
      granules.fill(0);
      visitCells(
        this.axis,
        this.heats[index],
        view.from + at * step,
        view.from + (at + 1) * step,
        (map, first, last) => {
          for (let node = 0; node < nodes.length; node++) {
            const start = node * (map.cells + 1);
            granules[node] += map.homes[start + last] - map.homes[start + first];
          }
        },
      );
      const whole = granules.reduce((total, count) => total + count, 0);
      let done = 0;
      for (let node = 0, upTo = 0; node < nodes.length && whole > 0; node++) {
        upTo += granules[node] / whole;
        for (; done < Math.round(upTo * MAP.home); done++) words[done * pixels + at] = colours[node];
      }
    }
    this.paint(words, pixels, MAP.home, plot.left, panel.home, plot.width, MAP.home);
    this.label("home node", plot.left - 8, panel.home + 11, MAP.gutter - 12, "right", this.soft);
  }

  // The pixel of a place, moved to the edge if it lies outside.
  within(place) {
    return Math.min(Math.max(this.x(place), this.plot.left), this.plot.left + this.plot.width);
  }

  cursor() {
    const { context, layout, plot, state } = this;
    const { cursor, view, drag } = state;
    const bottom = layout.panels.at(-1).end;
    if (drag) {
      context.fillStyle = styled("--accent");
      context.globalAlpha = 0.25;
      const [from, to] = [this.x(drag.from), this.x(drag.to)];
      context.fillRect(Math.min(from, to), MAP.overview, Math.abs(to - from), bottom - MAP.overview);
      context.globalAlpha = 1;
    }
    if (!cursor || cursor.place < view.from || cursor.place > view.to) return;
    const x = Math.min(Math.max(this.x(cursor.place), plot.left + 1), plot.left + plot.width - 1);
    context.strokeStyle = styled("--accent");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, MAP.overview);
    context.lineTo(x, layout.axis + 17);
    context.stroke();
    for (const panel of layout.panels) {
      context.strokeRect(plot.left, panel.rows + cursor.row * layout.rowHeight, plot.width, layout.rowHeight);
    }
  }
}
