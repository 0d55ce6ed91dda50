// The threads: where they ran and how much of what they reached was far.

function threadSection() {
  if (runs.every((run) => run.threads.length === 0)) return;
  section("threads", "Threads", null, runs.map(threadTable));
}

function threadTable(run) {
  const number = (title, unit, value, cell) => ({
    title,
    unit,
    isNumber: true,
    value,
    cell: cell ?? ((row) => grouped(value(row))),
  });
  const share = ({ thread }) =>
    thread.local + thread.remote > 0 ? thread.remote / (thread.local + thread.remote) : null;
  const name = ({ thread, id }) => thread.name || (id === 0 ? "main" : "");
  return sortableTable({
    caption: isPair ? runTitle(run) : "Threads",
    what: "threads",
    limit: 16,
    sortBy: "remote",
    rows: run.threads.map((thread, id) => ({ thread, id })),
    columns: [
      number(
        "thread",
        "",
        ({ id }) => id,
        ({ id }) => String(id),
      ),
      { title: "name", value: name },
      number(
        "cpu",
        "the last",
        ({ thread }) => thread.cpu,
        ({ thread }) => String(thread.cpu),
      ),
      number(
        "node",
        "the last",
        ({ thread }) => thread.node,
        ({ thread }) => String(thread.node),
      ),
      number("remote", "transactions", ({ thread }) => thread.remote),
      number("local", "transactions", ({ thread }) => thread.local),
      number("share", "remote of all", share, (row) => percent(share(row))),
      number("lifetime", "cycles", ({ thread }) => Math.max(thread.ended - thread.started, 0)),
      { title: "start routine", value: ({ thread }) => (thread.routine ? place(thread.routine) : "") },
    ],
  });
}
