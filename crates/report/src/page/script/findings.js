// What stands out, each with what to do; and the locks and first touches that explain it.

function patternSection() {
  if (runs.every((run) => run.patterns.length === 0)) return;
  section(
    "patterns",
    "What stands out",
    "Patterns that cost their threads at least half a percent of the time, the most costly first.",
    runs.map(
      (run) =>
        run.patterns.length > 0 && [
          isPair && element("h3", {}, runTitle(run)),
          element(
            "ul",
            { class: "patterns" },
            run.patterns.map((pattern) =>
              element(
                "li",
                {},
                element("strong", {}, `${pattern.pattern}: ${pattern.what}`),
                ` (${percent(pattern.share)} of its threads’ time). ${pattern.advice}.`,
              ),
            ),
          ),
        ],
    ),
  );
}

function lockSection() {
  if (runs.every((run) => run.locks.length === 0)) return;
  section(
    "locks",
    "Locks",
    "Locks that threads waited for, or that went from node to node: mutexes, and words that threads poll and take by an atomic operation.",
    runs.map(lockTable),
  );
}

function lockTable(run) {
  if (run.locks.length === 0) return null;
  const number = (title, unit, value) => ({ title, unit, isNumber: true, value, cell: (row) => grouped(value(row)) });
  return sortableTable({
    caption: isPair ? runTitle(run) : "Locks",
    what: "locks",
    sortBy: "cycles waited",
    rows: run.locks,
    columns: [
      { title: "lock", unit: "area + offset in bytes", class: "name", value: (lock) => lock.name },
      { title: "kind", value: (lock) => lock.kind },
      number("home", "node", (lock) => lock.home),
      number("taken", "times", (lock) => lock.acquisitions),
      number("waited", "times", (lock) => lock.contended),
      number("cycles waited", "all threads", (lock) => lock.wait_cycles),
      number("node to node", "times", (lock) => lock.transfers),
      { title: "taken by", unit: "node: times", value: (lock) => lock.by_node.map(([node, count]) => `${node}: ${short(count)}`).join(", ") },
    ],
  });
}

function touchSection() {
  if (runs.every((run) => run.touches.length === 0)) return;
  section(
    "touches",
    "First touch",
    "Who brought the pages of each area into memory: where nothing else is said, a page lives on the node of its first user.",
    runs.map(
      (run) =>
        run.touches.length > 0 &&
        sortableTable({
          caption: isPair ? runTitle(run) : "First touches",
          what: "first touches",
          sortBy: "pages",
          rows: run.touches,
          columns: [
            { title: "area", class: "name", value: (touch) => areaTitle(facts.areas[touch.area]) },
            { title: "thread", isNumber: true, value: (touch) => touch.thread, cell: (touch) => String(touch.thread) },
            { title: "pages", isNumber: true, value: (touch) => touch.pages, cell: (touch) => grouped(touch.pages) },
            { title: "in", value: (touch) => (touch.place ? place(touch.place) : "") },
          ],
        }),
    ),
  );
}
