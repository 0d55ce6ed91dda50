// The head of the page and the run in figures.

function head() {
  const first = runs[0];
  const parts = document.getElementById("head");
  const others = runs.filter(({ row }) => row.evidence !== first.row.evidence);
  parts.append(
    element("h1", {}, facts.command),
    element(
      "div",
      { class: "where" },
      `on ${facts.machine} ${facts.configuration}, ${plural(first.threads.length, "thread")}, ${isPair ? "" : `${first.row.placement}, `}seed ${facts.seed}`,
    ),
    element(
      "div",
      { class: "evidence" },
      element("span", { class: "badge", id: "evidence" }, first.row.evidence),
      element(
        "p",
        { class: "soft small" },
        EVIDENCE[first.row.evidence] ?? "",
        others.map(({ label, row }) => ` The run ${label} is ${row.evidence}.`),
      ),
    ),
  );
  for (const run of runs) {
    const which = isPair ? `The run ${run.label}` : "The run";
    if (!run.row.complete)
      parts.append(
        element(
          "p",
          { class: "notice" },
          `${which} was cut short (exit code ${run.row.exit_code}): this is what was counted until then.`,
        ),
      );
    else if (run.row.exit_code !== 0)
      parts.append(element("p", { class: "notice" }, `${which} ended with exit code ${run.row.exit_code}.`));
  }
  if (isTuning) parts.append(verdict());
}

function verdict() {
  const { word, because, is_tuned } = facts.verdict;
  if (!is_tuned) return element("p", { class: "verdict", id: "verdict" }, `${word}: ${because}`);
  const [before, after] = runs.map((run) => run.row);
  return element(
    "p",
    { class: "verdict good", id: "verdict" },
    `${word}: ${factor(before.seconds / after.seconds)} times faster, network packets ${change(packets(before), packets(after))}`,
  );
}

const packets = (row) => row.request_packets + row.response_packets;
const transactions = (row) => row.l2_misses + row.upgrades + row.write_backs;
const megabytesPerSecond = (row) => row.network_bytes / row.seconds / 1e6;

function figures() {
  const rows = runs.map((run) => run.row);
  const secondsName = rows[0].evidence === "simulated" ? "simulated seconds" : "seconds";
  const tile = (name, value, show, note) =>
    element(
      "div",
      { class: "tile" },
      element("div", { class: "name" }, name),
      element("div", { class: "value" }, isPair ? changeCell(value(rows[0]), value(rows[1])) : show(rows[0])),
      element("div", { class: "note" }, isPair ? `${show(rows[0])} → ${show(rows[1])}` : note(rows[0])),
    );
  const tiles = element(
    "div",
    { class: "tiles" },
    tile(
      secondsName,
      (row) => row.seconds,
      (row) => measure(row.seconds),
      (row) => `${grouped(row.accesses)} accesses`,
    ),
    tile(
      "remote transactions",
      (row) => row.remote_transactions,
      (row) => grouped(row.remote_transactions),
      (row) => `${percent(row.remote_transactions / transactions(row))} of all transactions`,
    ),
    tile(
      "network packets",
      packets,
      (row) => grouped(packets(row)),
      (row) => `${grouped(row.request_packets)} requests, ${grouped(row.response_packets)} responses`,
    ),
    tile(
      "MB/s on the links",
      megabytesPerSecond,
      (row) => measure(megabytesPerSecond(row)),
      (row) => `${grouped(row.network_bytes)} bytes in all`,
    ),
  );
  section("figures", "In figures", null, tiles, figureTable(rows, secondsName));
}

function figureTable(rows, secondsName) {
  const single = facts.verdict?.single_seconds;
  const count = (field) => [(row) => row[field], (row) => grouped(row[field])];
  const busiest = (name) => [
    (row) => row[`${name}_utilisation`],
    (row) => (row[name] ? `${row[name]}, ${percent(row[`${name}_utilisation`])} busy` : "-"),
  ];
  const lines = [
    [secondsName, "s", (row) => row.seconds, (row) => measure(row.seconds)],
    single && [
      "speed-up over one processor",
      "×",
      (row) => single / row.seconds,
      (row) => factor(single / row.seconds),
    ],
    ["accesses", "loads and stores", ...count("accesses")],
    ["TLB misses", "", ...count("tlb_misses")],
    ["L1 misses", "", ...count("l1_misses")],
    ["L2 misses", "lines fetched", ...count("l2_misses")],
    ["upgrades", "permissions to write", ...count("upgrades")],
    ["write-backs", "lines put back", ...count("write_backs")],
    ["remote transactions", "home is another node", ...count("remote_transactions")],
    ["request packets", "", ...count("request_packets")],
    ["response packets", "", ...count("response_packets")],
    ["network bytes", "bytes", ...count("network_bytes")],
    ["rate on the links", "MB/s", megabytesPerSecond, (row) => measure(megabytesPerSecond(row))],
    ["busiest bus", "share of the time", ...busiest("busiest_bus")],
    ["busiest coherence unit", "share of the time", ...busiest("busiest_unit")],
    ["busiest link", "share of the time", ...busiest("busiest_link")],
  ].filter(Boolean);
  const heads = [
    ["figure"],
    ["unit"],
    ...runs.map((run) => [isPair ? run.label : "run", run.row.placement, true]),
    ...(isPair ? [["change", "", true]] : []),
  ];
  // A bus is busier when the same work takes less time, and accesses include waiting: no verdict on these.
  const costs = [secondsName, "remote transactions", "request packets", "response packets", "network bytes"];
  const body = lines.map(([name, unit, value, show]) => [
    name,
    element("span", { class: "soft" }, unit),
    ...rows.map(show),
    ...(isPair ? [changeCell(value(rows[0]), value(rows[1]), costs.includes(name))] : []),
  ]);
  return plainTable(
    { class: "narrow", id: "figure-table" },
    isPair ? "Before and after" : "The whole machine",
    heads,
    body,
  );
}

function foot() {
  const definition = (name, text) => [element("dt", {}, name), element("dd", {}, text)];
  document.getElementById("foot").append(
    element(
      "details",
      { open: true },
      element("summary", {}, "What the numbers count"),
      element(
        "dl",
        {},
        definition(
          "transaction",
          "What leaves the second-level cache: a line fetched to read or to write, a permission to write a line already held (an upgrade), a line written back.",
        ),
        definition(
          "remote",
          "The accessor's node is not the home of the granule, the node where its memory lives. All else is local.",
        ),
        definition(
          "granule",
          `The unit that transactions are counted by: ${size(facts.granule_bytes)} in this profile.`,
        ),
        definition(
          "contested line",
          "A cache line that moved between caches because threads write it. True sharing: they use the same words; false sharing: different words, so padding ends it; mixed: both.",
        ),
        definition("evidence", `${runs[0].row.evidence}: ${EVIDENCE[runs[0].row.evidence] ?? ""}`),
        runs.map((run) =>
          definition(
            isPair ? `digest ${run.label}` : "digest",
            element("span", { class: "mono" }, `${run.row.digest} (equal runs have equal digests)`),
          ),
        ),
      ),
    ),
    element("p", {}, `Made by Olifant ${facts.version}. The page is one file and asks no network.`),
  );
  if (facts.verdict?.plan) {
    document
      .getElementById("foot")
      .append(
        element(
          "details",
          {},
          element("summary", {}, "The plan that was applied, as TOML"),
          element("pre", { tabindex: "0" }, facts.verdict.plan),
        ),
      );
  }
}
