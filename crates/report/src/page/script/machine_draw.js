// The drawing of a machine: nodes with their transactions and how busy bus and unit were, links as wide as the bytes that
// crossed them.

// Few nodes have room for all their figures, more for the main ones, and yet more are discs shaded by their remote share.
// What a drawing leaves out stands in its titles and in the tables.
const NODE_FORMS = [
  { most: 4, width: 164, height: 112, draw: nodeBox },
  { most: 12, width: 88, height: 46, draw: nodeCard },
  { most: Infinity, width: 28, height: 28, draw: nodeDisc },
];
const nodeForm = (run) => NODE_FORMS.find(({ most }) => run.nodes.length <= most);

function machineDrawing(run, most) {
  const form = nodeForm(run);
  const { places, routers } = vertexPlaces(
    run.links,
    run.nodes.map(({ node }) => node),
    form,
  );
  const label = `Machine with ${plural(run.nodes.length, "node")} and ${plural(run.links.length, "link")}; the tables below hold the numbers`;
  return drawn(
    "svg",
    { class: "machine", viewBox: `0 0 ${DRAWING.width} ${DRAWING.height}`, role: "img", "aria-label": label },
    run.links.map((link) => linkLine(link, run, places, most)),
    routers.map((name) => routerMark(name, places.get(name), routers.length)),
    run.nodes.map((node) => form.draw(node, places.get(`node${node.node}`), form, run)),
    form === NODE_FORMS[0] && run.links.map((link) => linkLabel(link, run, places)),
  );
}

// Each direction is drawn to the right of the middle, as traffic drives.
function linkEnds(link, places) {
  const [from, to] = [places.get(link.from), places.get(link.to)];
  if (!from || !to) return null;
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const aside = { x: (-(to.y - from.y) / length) * 7, y: ((to.x - from.x) / length) * 7 };
  return { from: { x: from.x + aside.x, y: from.y + aside.y }, to: { x: to.x + aside.x, y: to.y + aside.y }, aside };
}

function linkTitle(link, run) {
  return `${link.from} → ${link.to}: ${grouped(link.packets)} packets, ${grouped(link.bytes)} bytes, ${measure(link.bytes / run.row.seconds / 1e6)} MB/s, ${percent(link.utilisation)} busy`;
}

function linkLine(link, run, places, most) {
  const ends = linkEnds(link, places);
  if (!ends) return null;
  const width = 1 + 11 * (link.bytes / run.row.seconds / most);
  const { background } = rampColour(link.utilisation ?? 0);
  return drawn(
    "line",
    {
      class: "link",
      x1: ends.from.x,
      y1: ends.from.y,
      x2: ends.to.x,
      y2: ends.to.y,
      style: `stroke:${background};stroke-width:${width}px`,
    },
    drawn("title", {}, linkTitle(link, run)),
  );
}

function linkLabel(link, run, places) {
  const ends = linkEnds(link, places);
  if (!ends || link.bytes === 0) return null;
  const isOut = link.from.startsWith("node");
  // Nearer to the node than to the router, where several labels would meet.
  const part = link.from.startsWith("node") === link.to.startsWith("node") ? 0.5 : isOut ? 0.62 : 0.38;
  const x = ends.from.x + (ends.to.x - ends.from.x) * part + ends.aside.x * 3.2;
  const y = ends.from.y + (ends.to.y - ends.from.y) * part + ends.aside.y * 1.6 + 4;
  return drawn(
    "text",
    { class: "halo", x, y, "text-anchor": "middle" },
    `${measure(link.bytes / run.row.seconds / 1e6)} MB/s`,
  );
}

function routerMark(name, { x, y }, count) {
  const isOnly = count === 1;
  return drawn(
    "g",
    {},
    drawn("circle", { class: "box", cx: x, cy: y, r: isOnly ? 29 : 10 }),
    drawn(
      "text",
      { x, y: y + 4, "text-anchor": "middle", class: "soft" },
      isOnly ? name.replace(/^router/, "router ") : name.replace(/^router/, ""),
    ),
    drawn("title", {}, name),
  );
}

function nodeTitle(node) {
  return `node ${node.node}: ${grouped(node.transactions)} transactions, ${grouped(node.remote_transactions)} remote; bus ${percent(node.bus_utilisation)}, coherence unit ${percent(node.unit_utilisation)} busy; ${plural(node.pages, "page")}`;
}

const remoteShare = (node) => (node.transactions > 0 ? node.remote_transactions / node.transactions : 0);

function nodeDisc(node, { x, y }) {
  const { background, ink } =
    node.transactions > 0 ? rampColour(remoteShare(node)) : { background: "var(--card)", ink: "var(--ink-soft)" };
  return drawn(
    "g",
    {},
    drawn("circle", { class: "box", cx: x, cy: y, r: 13, style: `fill:${background}` }),
    drawn("text", { x, y: y + 4, "text-anchor": "middle", style: `fill:${ink}` }, String(node.node)),
    drawn("title", {}, nodeTitle(node)),
  );
}

// Local and remote transactions side by side, as long as their share of the busiest node's.
function trafficBar(node, run, x, y, width, height) {
  const most = Math.max(...run.nodes.map(({ transactions }) => transactions), 1);
  const local = ((node.transactions - node.remote_transactions) / most) * width;
  const remote = (node.remote_transactions / most) * width;
  return [
    drawn("rect", { class: "local", x, y, width: local, height }),
    drawn("rect", { class: "remote", x: x + local, y, width: remote, height }),
  ];
}

function nodeCard(node, place, form, run) {
  const [x, y] = [place.x - form.width / 2, place.y - form.height / 2];
  return drawn(
    "g",
    {},
    drawn("rect", { class: "box", x, y, width: form.width, height: form.height, rx: 6 }),
    drawn("text", { class: "title", x: x + 7, y: y + 15 }, `node ${node.node}`),
    trafficBar(node, run, x + 7, y + 20, form.width - 14, 8),
    drawn(
      "text",
      { class: "soft", x: x + 7, y: y + 40 },
      node.transactions > 0 ? `${percent(remoteShare(node))} remote` : "idle",
    ),
    drawn("title", {}, nodeTitle(node)),
  );
}

function nodeBox(node, place, form, run) {
  const [x, y] = [place.x - form.width / 2, place.y - form.height / 2];
  const right = x + form.width - 10;
  const cpus = ranges(run.cpus.filter((cpu) => cpu.node === node.node).map(({ cpu }) => cpu));
  const busy = (name, share, line) => [
    drawn("text", { x: x + 10, y: y + line, class: "soft" }, name),
    drawn("rect", { class: "track", x: x + 44, y: y + line - 9, width: 70, height: 9 }),
    drawn("rect", { class: "fill", x: x + 44, y: y + line - 9, width: 70 * Math.min(share ?? 0, 1), height: 9 }),
    drawn("text", { x: right, y: y + line, "text-anchor": "end" }, percent(share)),
  ];
  return drawn(
    "g",
    {},
    drawn("rect", { class: "box", x, y, width: form.width, height: form.height, rx: 7 }),
    drawn("text", { class: "title", x: x + 10, y: y + 18 }, `node ${node.node}`),
    drawn("text", { class: "soft", x: right, y: y + 18, "text-anchor": "end" }, cpus ? `cpus ${cpus}` : ""),
    trafficBar(node, run, x + 10, y + 28, form.width - 20, 13),
    drawn("text", { x: x + 10, y: y + 57 }, `${short(node.transactions)} transactions`),
    drawn(
      "text",
      { x: x + 10, y: y + 72, class: "soft" },
      `${percent(remoteShare(node))} remote, ${plural(node.pages, "page")}`,
    ),
    busy("bus", node.bus_utilisation, 89),
    busy("unit", node.unit_utilisation, 104),
    drawn("title", {}, nodeTitle(node)),
  );
}
