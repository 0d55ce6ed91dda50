// The machine drawn with its traffic: nodes with their transactions and how busy bus and unit were, links as wide as the
// bytes that crossed them; then tables of both, and which node reached which.

// The most nodes whose matrix has its numbers written out.
const MOST_WRITTEN = 8;
// The most nodes that have a matrix at all.
const MOST_SHADED = 64;

function machineSection() {
  if (runs[0].nodes.length === 0) return;
  const most = Math.max(...runs.flatMap((run) => run.links.map((link) => link.bytes / run.row.seconds)), 1);
  section(
    "machine",
    "Machine",
    "Links are as wide as their rate; the shade tells how busy they were. A node's bar parts its transactions into local and remote ones.",
    element(
      "div",
      { class: "pair" },
      runs.map((run) =>
        element(
          "div",
          { class: "card" },
          element("h3", {}, isPair ? runTitle(run) : `${facts.machine} ${facts.configuration}`),
          machineDrawing(run, most),
        ),
      ),
      !isPair && runs.map(matrixTable),
    ),
    element(
      "div",
      { class: "legend" },
      element("span", {}, element("span", { class: "key", style: "background:var(--local)" }), "local"),
      element("span", {}, element("span", { class: "key", style: "background:var(--remote)" }), "remote"),
      element("span", {}, `widest link: ${measure(most / 1e6)} MB/s`),
      element(
        "span",
        {},
        "shade of a link: 0 ",
        element("span", { class: "key", style: `width:6rem;background:linear-gradient(to right,${rampSteps()})` }),
        "100 % busy",
      ),
    ),
    isPair && element("div", { class: "pair" }, runs.map(matrixTable)),
    element(
      "details",
      {},
      element("summary", {}, "Nodes and links as tables"),
      runs.map(nodeTable),
      runs.map(linkTable),
    ),
  );
}

// Numbers are written into the cells of small machines; larger ones show shades with titles.
function matrixTable(run) {
  const { nodes, transactions } = run.matrix;
  if (nodes.length > MOST_SHADED) {
    return element(
      "p",
      { class: "soft" },
      `Which of ${nodes.length} nodes reached which is too much for a page: the profile's view node_traffic holds it.`,
    );
  }
  const most = Math.max(...transactions.flat(), 1);
  const isSmall = nodes.length <= MOST_WRITTEN;
  const cell = (count, row, column) => {
    const { background, ink } = rampColour(count / most);
    const text = isSmall ? short(count) : "";
    const label = `node ${nodes[row]} with memory of node ${nodes[column]}: ${grouped(count)} transactions`;
    const style = count === 0 ? null : `background:${background};color:${ink}`;
    return element("td", { style, title: label, "aria-label": label, class: row === column ? "home" : null }, text);
  };
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      { class: `matrix narrow${isSmall ? (nodes.length > 4 ? " dense" : "") : " shades"}` },
      element("caption", {}, `${isPair ? `${run.label}: ` : ""}who reached whose memory (transactions; dashed: local)`),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th", { scope: "col" }, "from \\ home"),
          nodes.map((node) => element("th", { scope: "col", class: "number" }, isSmall ? `node ${node}` : node)),
        ),
      ),
      element(
        "tbody",
        {},
        transactions.map((counts, row) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, `node ${nodes[row]}`),
            counts.map((count, column) => cell(count, row, column)),
          ),
        ),
      ),
    ),
  );
}

function nodeTable(run) {
  const number = (title, unit, value, cell) => ({
    title,
    unit,
    isNumber: true,
    value,
    cell: cell ?? ((node) => grouped(value(node))),
  });
  return sortableTable({
    caption: `Nodes${isPair ? ` ${run.label}` : ""}`,
    what: "nodes",
    rows: run.nodes,
    sortBy: "remote",
    columns: [
      number(
        "node",
        "",
        (node) => node.node,
        (node) => String(node.node),
      ),
      number("transactions", "", (node) => node.transactions),
      number("remote", "transactions", (node) => node.remote_transactions),
      number("requests out", "packets", (node) => node.requests_out),
      number("requests in", "packets", (node) => node.requests_in),
      number("responses out", "packets", (node) => node.responses_out),
      number("responses in", "packets", (node) => node.responses_in),
      number(
        "bus",
        "busy",
        (node) => node.bus_utilisation,
        (node) => meter(node.bus_utilisation, "bus"),
      ),
      number(
        "unit",
        "busy",
        (node) => node.unit_utilisation,
        (node) => meter(node.unit_utilisation, "unit"),
      ),
      number("pages", "", (node) => node.pages),
    ],
  });
}

function linkTable(run) {
  const number = (title, unit, value, cell) => ({
    title,
    unit,
    isNumber: true,
    value,
    cell: cell ?? ((link) => grouped(value(link))),
  });
  return sortableTable({
    caption: `Links${isPair ? ` ${run.label}` : ""}; each direction is a link`,
    what: "links",
    rows: run.links,
    sortBy: "bytes",
    limit: 16,
    columns: [
      { title: "link", value: (link) => `${link.from}→${link.to}` },
      number("packets", "", (link) => link.packets),
      number("bytes", "", (link) => link.bytes),
      number(
        "rate",
        "MB/s",
        (link) => link.bytes / run.row.seconds,
        (link) => measure(link.bytes / run.row.seconds / 1e6),
      ),
      number(
        "busy",
        "share of the time",
        (link) => link.utilisation,
        (link) => meter(link.utilisation, "link"),
      ),
    ],
  });
}
