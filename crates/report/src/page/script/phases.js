// Phases: which stretch of an area was reached when, by whom, and how much of it from afar. One row a phase, one column a stretch
// (or an area, where all are shown).

function phaseSection() {
  const run = runs.find((run) => run.phases.length > 1);
  if (!run) return;
  const state = { run, area: -1, node: -1, kind: "remote" };
  const grid = element("div", { id: "phase-grid", class: "scroll" });
  const redraw = () => grid.replaceChildren(phaseGrid(state));
  const choose = (label, options, pick) =>
    element(
      "label",
      {},
      `${label} `,
      element(
        "select",
        {
          onchange: (event) => {
            pick(event.target.value);
            redraw();
          },
        },
        options.map(([value, text]) => element("option", { value }, text)),
      ),
      " ",
    );
  const known = new Set(run.phase_cells.map(([, area]) => area));
  const areas = facts.areas.map((area, index) => [index, areaTitle(area)]).filter(([index]) => known.has(index));
  const shown = runs.filter((run) => run.phases.length > 1);
  section(
    "phases",
    "Phases",
    "The run between barriers, from top to bottom in the order of time. Each cell is a stretch of memory in a phase; the darker, the more transactions. Short stretches between barriers are joined.",
    element(
      "div",
      { class: "tools" },
      shown.length > 1 &&
        choose(
          "Run",
          shown.map((run, index) => [index, run.label]),
          (value) => (state.run = shown[Number(value)]),
        ),
      choose("Columns", [[-1, "all areas"], ...areas], (value) => (state.area = Number(value))),
      choose("By", [[-1, "all nodes"], ...run.matrix.nodes.map((node) => [node, `node ${node}`])], (value) => {
        state.node = Number(value);
      }),
      choose(
        "Count",
        [
          ["remote", "remote"],
          ["all", "local and remote"],
        ],
        (value) => (state.kind = value),
      ),
    ),
    grid,
  );
  redraw();
}

function phaseGrid({ run, area, node, kind }) {
  const counts = new Map();
  const columns = new Map();
  for (const [phase, cellArea, granule, granules, by, local, remote] of run.phase_cells) {
    if ((area >= 0 && cellArea !== area) || (node >= 0 && by !== node)) continue;
    const column = area < 0 ? cellArea : granule;
    const count = kind === "remote" ? remote : local + remote;
    columns.set(column, { granules, count: (columns.get(column)?.count ?? 0) + count });
    const key = `${phase} ${column}`;
    counts.set(key, (counts.get(key) ?? 0) + count);
  }
  const order = [...columns.keys()].filter((column) => columns.get(column).count > 0).sort((a, b) => a - b);
  const shown = area < 0 ? order.slice(0, MOST_PHASE_AREAS) : order;
  const most = Math.max(...counts.values(), 1);
  const columnTitle = (column) =>
    area < 0
      ? areaTitle(facts.areas[column])
      : `${size(column * facts.granule_bytes)} to ${size((column + columns.get(column).granules) * facts.granule_bytes)}`;
  const cell = (phase, column) => {
    const count = counts.get(`${phase} ${column}`) ?? 0;
    const { background } = rampColour(onRamp(count, most));
    const title = `phase ${phase}, ${columnTitle(column)}: ${grouped(count)} ${kind === "remote" ? "remote " : ""}transactions`;
    return element("td", { title, class: "cell", style: count > 0 ? `background:${background}` : null }, element("span", { class: "unseen" }, grouped(count)));
  };
  const phaseTitle = (phase, index) => (phase.name ? `${index} ${phase.name}` : String(index));
  return element(
    "table",
    { class: "phasegrid" },
    element("caption", {}, `${plural(run.phases.length, "phase")} by ${plural(shown.length, area < 0 ? "area" : "stretch")}`),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "phase"),
        element("th", { scope: "col", class: "number" }, "from cycle"),
        shown.map((column) => element("th", { scope: "col", class: "cell", title: columnTitle(column) }, element("span", { class: "unseen" }, columnTitle(column)))),
      ),
    ),
    element(
      "tbody",
      {},
      run.phases.map((phase, index) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, phaseTitle(phase, index)),
          element("td", { class: "number" }, short(phase.begin)),
          shown.map((column) => cell(index, column)),
        ),
      ),
    ),
  );
}

// More areas than these make columns too narrow to be pointed at; they come with the most remote transactions first.
const MOST_PHASE_AREAS = 48;
