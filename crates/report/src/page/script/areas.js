// The areas: who uses them, where they live, and what a plan did with them.

function areaSection(map) {
  const rows = facts.areas.map((area, index) => ({ area, index }));
  const traffic = (row, run) => row.area.runs[run];
  const count = (row, run, field) => traffic(row, run)?.[field] ?? null;
  const show = (value) => (value === null ? "-" : grouped(value));
  const numeric = (title, unit, value, cell) => ({
    title,
    unit,
    isNumber: true,
    value,
    cell: cell ?? ((row) => show(value(row))),
  });
  const bars = (title, unit, run, field) => ({
    title,
    unit,
    cell: (row) => (traffic(row, run) ? nodeBar(traffic(row, run)[field], runs[run].matrix.nodes, title) : "-"),
  });
  const share = (row, run) => {
    const found = traffic(row, run);
    return found && found.local + found.remote > 0 ? found.remote / (found.local + found.remote) : null;
  };
  const ofOne = () => [
    numeric("remote", "transactions", (row) => count(row, 0, "remote")),
    numeric("local", "transactions", (row) => count(row, 0, "local")),
    numeric(
      "share",
      "remote of all",
      (row) => share(row, 0),
      (row) => percent(share(row, 0)),
    ),
    bars("used by", "transactions by node", 0, "by_node"),
    bars("lives on", "granules by node", 0, "homes"),
  ];
  const ofTwo = () => [
    numeric("before", "remote transactions", (row) => count(row, 0, "remote")),
    numeric("after", "remote transactions", (row) => count(row, 1, "remote")),
    { title: "change", cell: (row) => changeCell(count(row, 0, "remote"), count(row, 1, "remote")) },
    bars("used by", "transactions before, by node", 0, "by_node"),
    bars("lived on", "granules before", 0, "homes"),
    bars("lives on", "granules after", 1, "homes"),
  ];
  const columns = [
    { title: "area", class: "name", value: (row) => areaTitle(row.area), cell: (row) => areaName(row.area) },
    numeric(
      "size",
      "",
      (row) => row.area.bytes,
      (row) => size(row.area.bytes),
    ),
    ...(isPair ? ofTwo() : ofOne()),
    {
      title: "map",
      class: "controls",
      cell: (row) =>
        map.hasArea(row.index) &&
        element(
          "button",
          {
            type: "button",
            class: "go",
            "aria-label": `Show ${areaTitle(row.area)} in the heat map`,
            onclick: () => map.showArea(row.index),
          },
          "show",
        ),
    },
  ];
  const { rest } = facts;
  section(
    "areas",
    "Areas",
    "Named runs of addresses: allocations by their statement, global arrays by their symbol, stacks.",
    nodeLegend(),
    sortableTable({
      caption: isTuning ? "Areas, what was done with each, and why" : "Areas with transactions",
      columns,
      rows,
      sortBy: isPair ? "before" : "remote",
      limit: 20,
      what: "areas",
      filter: (row) => `${areaTitle(row.area)} ${row.area.frames.map(place).join(" ")}`,
      under: (row) => areaNote(row.area),
    }),
    rest &&
      element(
        "p",
        {},
        `And ${plural(rest.areas, "more area")} with ${rest.remote.map(grouped).join(" and ")} remote transactions, left out to keep the page small.`,
      ),
  );
}

function areaName(area) {
  const isAllocated = area.kind === "heap" || area.kind === "mapping";
  const life = [
    area.kind,
    isAllocated && `of thread ${area.thread}`,
    area.freed !== null && `freed at cycle ${grouped(area.freed)}`,
  ];
  return [
    element("span", {}, areaTitle(area)),
    element("span", { class: "soft small" }, ` ${life.filter(Boolean).join(", ")}`),
    callPath(area.frames),
  ];
}

// Who called the statement that allocated, the nearest first.
function callPath(frames) {
  const callers = frames.slice(1).map(place);
  if (callers.length === 0) return null;
  if (callers.length === 1) return element("span", { class: "soft small" }, `, called from ${callers[0]}`);
  return element(
    "details",
    { class: "small" },
    element("summary", {}, `called from ${callers[0]} …`),
    element(
      "ol",
      { class: "path" },
      callers.map((caller) => element("li", {}, caller)),
    ),
  );
}

// The statement that allocated it, and what a plan did with it.
function areaNote(area) {
  const snippet = area.frames.length > 0 && snippetOf(area.frames[0]);
  const done = !isTuning
    ? null
    : !area.decision
      ? element("span", { class: "small" }, "left alone")
      : element(
          "span",
          { class: "small" },
          element("span", { class: "decision" }, `→ ${area.decision.what}`),
          area.decision.reason ? `: ${area.decision.reason}` : "",
        );
  if (!snippet && !done) return null;
  return [snippet && element("code", { class: "statement one" }, numbered(snippet, snippet.line)), done];
}

function nodeLegend() {
  const nodes = runs[0].matrix.nodes;
  if (nodes.length > NODE_COLOURS) return null;
  return element(
    "div",
    { class: "legend" },
    nodes.map((node, index) =>
      element(
        "span",
        {},
        element("span", { class: "key", style: `background:var(${nodeVariable(index)})` }),
        `node ${node}`,
      ),
    ),
  );
}
