// What stands at the cursor of the heat map: in words for a reader of the screen, and as a table of all accessors.

// Accessors that the table shows, the busiest first.
const MOST_AT_CURSOR = 16;

// Sums at a stretch of the axis: by row and run, and what the stretch covers.
function atCursor(painter, state) {
  const from = state.cursor.place;
  const to = from + painter.bytesPerPixel();
  const found = {
    rows: state.rows.map(() => runs.map(() => ({ local: 0, remote: 0 }))),
    homes: runs.map(() => new Map()),
    areas: new Map(),
    cells: 0,
  };
  const cells = runs.map(() => 0);
  painter.heats.forEach((heat, run) => {
    const view = heat.view(
      state.mode,
      state.rows.map((row) => row.lanes[run]),
    );
    visitCells(painter.axis, heat, from, to, (map, first, last) => {
      cells[run] += last - first;
      extend(found.areas, map, first, last);
      state.rows.forEach((_, row) => {
        for (const kind of ["local", "remote"]) found.rows[row][run][kind] += view.count(map, kind, row, first, last);
      });
      heat.run.matrix.nodes.forEach((node, index) => {
        const start = index * (map.cells + 1);
        const granules = map.homes[start + last] - map.homes[start + first];
        if (granules > 0) found.homes[run].set(node, (found.homes[run].get(node) ?? 0) + granules);
      });
    });
  });
  found.cells = Math.max(...cells);
  return found;
}

// Remembers which bytes of an area are covered.
function extend(areas, map, first, last) {
  const { bytes } = facts.areas[map.area];
  const from = Math.max(map.offset + first * map.cell_bytes, 0);
  const to = Math.min(map.offset + last * map.cell_bytes, bytes) - 1;
  const known = areas.get(map.area) ?? { from: Infinity, to: 0, cell_bytes: map.cell_bytes };
  areas.set(map.area, {
    from: Math.min(known.from, from),
    to: Math.max(known.to, to),
    cell_bytes: Math.max(known.cell_bytes, map.cell_bytes),
  });
}

function coverText(found) {
  if (found.areas.size === 0) return "nothing here";
  if (found.areas.size > 1) return `${plural(found.areas.size, "area")} in one pixel: zoom in to part them`;
  const [[area, { from, to, cell_bytes }]] = [...found.areas];
  const coarse =
    cell_bytes > facts.granule_bytes ? ` (counted in cells of ${size(cell_bytes)} to keep the page small)` : "";
  return `${areaTitle(facts.areas[area])}, bytes ${grouped(from)} to ${grouped(to)} of ${grouped(facts.areas[area].bytes)}${coarse}`;
}

function homeText(homes, run) {
  const nodes = [...homes[run]].sort(([a], [b]) => a - b);
  if (nodes.length === 0) return "-";
  if (nodes.length === 1) return `node ${nodes[0][0]}`;
  return nodes.map(([node, granules]) => `node ${node}: ${plural(granules, "granule")}`).join(", ");
}

// The line at the cursor that threads contest, if there is one.
function lineText(painter, state) {
  const { place } = state.cursor;
  const width = painter.bytesPerPixel();
  const said = runs.map((run, index) => {
    const here = painter.marks[index].filter((mark) => mark.place < place + width && mark.place + mark.bytes > place);
    if (here.length === 0) return null;
    const label = isPair ? `${run.label}: ` : "";
    if (here.length > 1)
      return `${label}${plural(here.length, "contested line")}, ${grouped(sum(here.map((mark) => mark.transfers)))} transfers`;
    return `${label}contested line at byte ${grouped(here[0].offset)}, ${here[0].sharing} sharing, ${grouped(here[0].transfers)} transfers`;
  });
  return said.filter(Boolean).join("; ");
}

function cursorPanel(painter, state, live) {
  const found = atCursor(painter, state);
  const row = state.rows[state.cursor.row];
  const told = runs.map((run, index) => {
    const { local, remote } = found.rows[state.cursor.row][index];
    return `${isPair ? `${run.label} ` : ""}${grouped(remote)} remote, ${grouped(local)} local, home ${homeText(found.homes, index)}`;
  });
  const lines = lineText(painter, state);
  live.textContent = `${coverText(found)}. ${row.label}: ${told.join("; ")}.${lines ? ` ${lines}.` : ""}`;
  const busiest = state.rows
    .map((of, index) => ({
      of,
      counts: found.rows[index],
      all: sum(found.rows[index].map(({ local, remote }) => local + remote)),
      index,
    }))
    .filter(({ all }) => all > 0);
  if (busiest.length > MOST_AT_CURSOR) busiest.sort((a, b) => b.all - a.all).length = MOST_AT_CURSOR;
  const heads = [
    [state.mode],
    ...runs.flatMap((run) => [
      [isPair ? `remote ${run.label}` : "remote", "transactions", true],
      [isPair ? `local ${run.label}` : "local", "transactions", true],
    ]),
  ];
  if (busiest.length === 0) return element("p", { class: "soft" }, "No transactions here.");
  return plainTable(
    {},
    `Who reached it (${plural(found.cells, "cell")})`,
    heads,
    busiest.map(({ of, counts, index }) => [
      index === state.cursor.row ? element("strong", {}, of.label) : of.label,
      ...counts.flatMap(({ local, remote }) => [grouped(remote), grouped(local)]),
    ]),
  );
}
