// The heat map's state: what is looked at, by whom, and where the cursor stands. Every change is drawn once per frame.

// Part of a byte that keeps the cursor before the end of what it is in, large enough to survive beside any address.
const SLIVER = 1 / 16;

class HeatMap {
  constructor(heats) {
    this.axis = new Axis(heats);
    this.heats = heats;
    const lines = runs.flatMap((run) => run.contested.lines.map((line) => line.bytes));
    this.lineBytes = lines.length > 0 ? Math.min(...lines) : 32;
    this.state = {
      mode: "node",
      kinds: ["remote"],
      view: { from: 0, to: this.axis.length },
      cursor: { place: 0, row: 0 },
      drag: null,
    };
    this.canvas = element("canvas", {
      id: "heat",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "heat map",
      "aria-label": "Heat map of addresses by accessor",
      "aria-describedby": "heat-keys heat-live",
      onkeydown: (event) => pressKey(this, event),
      onpointerdown: (event) => pressPointer(this, event),
      ondblclick: (event) => this.zoom(1 / 4, placeUnder(this, event)),
    });
    this.live = element("p", { id: "heat-live", role: "status" });
    this.panel = element("div");
    this.scale = element("div", { class: "legend", id: "heat-scale" });
    this.span = element("span", { class: "soft small", id: "heat-span" });
    this.painter = new MapPainter(this.canvas, this.axis, heats);
    this.canvas.addEventListener("wheel", (event) => turnWheel(this, event), { passive: false });
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
    // The cursor begins where most is to be seen: areas come with the most remote transactions first.
    const first = facts.areas.findIndex((_, area) => this.hasArea(area));
    if (first >= 0) this.state.cursor.place = this.axis.ofArea.get(first).start;
    // Where nothing is remote the map would begin blank.
    const isRemote = facts.areas.some((area) => area.runs.some((traffic) => traffic?.remote > 0));
    this.choose("node", isRemote ? ["remote"] : ["local", "remote"]);
  }

  // Rows are nodes or threads of any run; of each run a row has the lanes that belong to it.
  choose(mode, kinds) {
    const part = mode === "node" ? 1 : 0;
    const ids =
      mode === "node"
        ? runs.flatMap((run) => run.matrix.nodes)
        : runs.flatMap((run) => [...run.lanes.map(([thread]) => thread), ...run.threads.keys()]);
    const rows = [...new Set(ids)]
      .sort((a, b) => a - b)
      .map((id) => {
        const lanes = runs.map((run) => run.lanes.flatMap((lane, index) => (lane[part] === id ? [index] : [])));
        const holds = (thread, run) =>
          mode === "thread" ? thread === id : lanes[run].some((lane) => runs[run].lanes[lane][0] === thread);
        return { id, label: `${mode} ${id}`, lanes, holds };
      });
    Object.assign(this.state, { mode, kinds, rows });
    this.state.cursor.row = Math.min(this.state.cursor.row, rows.length - 1);
    const measure = kinds.length === 1 ? "remote" : "all";
    // One scale for both runs: the same shade is the same count.
    this.state.most = Math.max(
      ...this.heats.map(
        (heat, run) =>
          heat.view(
            mode,
            rows.map((row) => row.lanes[run]),
          ).most[measure],
      ),
      1,
    );
    mapScale(this);
    this.redraw();
  }

  redraw() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.paint();
    });
  }

  paint() {
    if (!this.canvas.isConnected) return;
    const { view } = this.state;
    this.painter.draw(this.state);
    this.panel.replaceChildren(cursorPanel(this.painter, this.state, this.live));
    this.span.textContent = `${size(Math.round(view.to - view.from))} of ${size(this.axis.length)} shown`;
  }

  // The window [from, from + span), within the axis and not below a line.
  look(from, span) {
    const wide = Math.min(Math.max(span, Math.min(this.lineBytes, this.axis.length)), this.axis.length);
    const start = Math.min(Math.max(from, 0), this.axis.length - wide);
    this.state.view = { from: start, to: start + wide };
    const { cursor } = this.state;
    cursor.place = Math.min(Math.max(cursor.place, start), start + wide - SLIVER);
    this.redraw();
  }

  zoom(times, place = this.state.cursor.place) {
    const { from, to } = this.state.view;
    this.look(place - (place - from) * times, (to - from) * times);
  }

  move(share) {
    const { from, to } = this.state.view;
    this.look(from + (to - from) * share, to - from);
  }

  // A step of the cursor: a cell, or a few pixels where cells are smaller.
  step(sign) {
    const { cursor } = this.state;
    const { piece, offset } = this.axis.at(cursor.place);
    const map = this.heats
      .flatMap((heat) => heat.mapsOf(piece.area))
      .find((map) => offset >= map.offset && offset < map.offset + map.cells * map.cell_bytes);
    const few = 3 * this.painter.bytesPerPixel();
    let place = cursor.place + sign * few;
    if (map && map.cell_bytes > few) {
      const cell = Math.floor((offset - map.offset) / map.cell_bytes) + sign;
      // Past either end of the piece stands the next piece.
      const next = piece.start + map.offset + cell * map.cell_bytes - piece.from;
      place =
        next < piece.start && offset > piece.from && sign < 0 ? piece.start : Math.min(next, piece.start + piece.bytes);
      if (sign < 0 && place < piece.start) place = piece.start - 1;
    }
    cursor.place = this.onAxis(place);
    const { from, to } = this.state.view;
    if (cursor.place < from || cursor.place >= to) this.look(cursor.place - (to - from) / 2, to - from);
    this.redraw();
  }

  onAxis(place) {
    return Math.min(Math.max(place, 0), this.axis.length - SLIVER);
  }

  nextArea(sign) {
    const areas = [...this.axis.ofArea.keys()];
    const index = areas.indexOf(this.axis.at(this.state.cursor.place).piece.area) + sign;
    this.seeArea(areas[Math.min(Math.max(index, 0), areas.length - 1)]);
  }

  seeArea(area) {
    const { start, bytes } = this.axis.ofArea.get(area);
    this.state.cursor.place = start;
    this.look(start, bytes);
  }

  whole() {
    this.look(0, this.axis.length);
  }

  hasArea(area) {
    return this.axis.ofArea.has(area);
  }

  showArea(area) {
    this.seeArea(area);
    this.focus();
  }

  // A line, with as much again on either side.
  showLine(line) {
    const place = this.axis.placeOf(line.area, line.offset);
    if (place === null) return;
    this.state.cursor.place = place;
    this.look(place - line.bytes, 3 * line.bytes);
    this.focus();
  }

  focus() {
    document.getElementById("map").scrollIntoView();
    this.canvas.focus({ preventScroll: true });
  }
}
