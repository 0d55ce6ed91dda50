// What keys, mouse and pen do to the heat map; all that the mouse can do, keys can do.

function pressKey(map, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = map.state.rows.length;
  const row = (sign) => {
    map.state.cursor.row = Math.min(Math.max(map.state.cursor.row + sign, 0), rows - 1);
    map.redraw();
  };
  const acts = {
    ArrowLeft: () => map.step(-1),
    ArrowRight: () => map.step(1),
    ArrowUp: () => row(-1),
    ArrowDown: () => row(1),
    "+": () => map.zoom(1 / 2),
    "=": () => map.zoom(1 / 2),
    "-": () => map.zoom(2),
    PageUp: () => map.move(-0.9),
    PageDown: () => map.move(0.9),
    Home: () => {
      map.state.cursor.place = 0;
      map.look(0, map.state.view.to - map.state.view.from);
    },
    End: () => {
      map.state.cursor.place = map.onAxis(map.axis.length);
      map.look(map.axis.length, map.state.view.to - map.state.view.from);
    },
    n: () => map.nextArea(1),
    p: () => map.nextArea(-1),
    0: () => map.whole(),
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}

function placeUnder(map, event) {
  const { from, to } = map.state.view;
  const x = event.clientX - map.canvas.getBoundingClientRect().left;
  return Math.min(Math.max(map.painter.place(x), from), to - SLIVER);
}

// A click sets the cursor; a drag zooms to what it spans, with shift it moves the window; in the overview it jumps.
function pressPointer(map, event) {
  if (event.button !== 0) return;
  const top = map.canvas.getBoundingClientRect().top;
  const isOverview = event.clientY - top < MAP.overview;
  const start = { x: event.clientX, place: placeUnder(map, event), view: { ...map.state.view } };
  const overview = (moved) => {
    const share = (moved.clientX - map.canvas.getBoundingClientRect().left - MAP.gutter) / map.painter.plot.width;
    const span = start.view.to - start.view.from;
    map.look(share * map.axis.length - span / 2, span);
  };
  const drag = (moved) => {
    if (isOverview) return overview(moved);
    if (event.shiftKey) {
      return map.look(
        start.view.from - (moved.clientX - start.x) * map.painter.bytesPerPixel(),
        start.view.to - start.view.from,
      );
    }
    map.state.drag = Math.abs(moved.clientX - start.x) > 4 ? { from: start.place, to: placeUnder(map, moved) } : null;
    map.redraw();
  };
  const release = () => {
    map.canvas.removeEventListener("pointermove", drag);
    const { drag: spanned } = map.state;
    map.state.drag = null;
    if (spanned) map.look(Math.min(spanned.from, spanned.to), Math.abs(spanned.to - spanned.from));
    else if (!isOverview && !event.shiftKey) pointAt(map, event);
    map.redraw();
  };
  if (isOverview) overview(event);
  map.canvas.setPointerCapture(event.pointerId);
  map.canvas.addEventListener("pointermove", drag);
  map.canvas.addEventListener("pointerup", release, { once: true });
}

function pointAt(map, event) {
  const y = event.clientY - map.canvas.getBoundingClientRect().top;
  const { panels, rowHeight } = map.painter.layout;
  const panel = panels.find(({ end }) => y < end) ?? panels.at(-1);
  const row = Math.floor((y - panel.rows) / rowHeight);
  map.state.cursor = { place: placeUnder(map, event), row: Math.min(Math.max(row, 0), map.state.rows.length - 1) };
}

// The plain wheel scrolls the page.
function turnWheel(map, event) {
  if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
  event.preventDefault();
  if (event.ctrlKey || event.metaKey) map.zoom(event.deltaY > 0 ? 1.25 : 0.8, placeUnder(map, event));
  else map.move(event.deltaX / map.painter.plot.width);
}
