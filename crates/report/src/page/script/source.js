// Lines of source: what each allocated, and what fought over lines there.

const snippets = new Map(facts.sources.map((snippet) => [`${snippet.file}:${snippet.line}`, snippet]));

// The lines around a statement, if its file could be read.
const snippetOf = (frame) => snippets.get(`${frame.file}:${frame.line}`);

function numbered(snippet, line) {
  return [element("span", { class: "number" }, String(line)), snippet.text[line - snippet.first]];
}

// The line itself, and the lines around it on demand.
function snippetBlock(snippet) {
  return element(
    "details",
    {},
    element("summary", { class: "statement" }, element("code", {}, numbered(snippet, snippet.line))),
    element(
      "code",
      {
        class: "source",
        tabindex: "0",
        role: "group",
        "aria-label": `${baseName(snippet.file)} around line ${snippet.line}`,
      },
      snippet.text.map((_, index) =>
        element(
          "span",
          { class: snippet.first + index === snippet.line ? "meant" : null },
          numbered(snippet, snippet.first + index),
        ),
      ),
    ),
  );
}

// Statements of the program with their areas and contested accesses, summed up by run.
function statements() {
  const found = new Map();
  const of = (frame) => {
    const key = `${frame.file}:${frame.line}:${frame.file ? "" : frame.function}`;
    if (!found.has(key)) {
      found.set(key, {
        frame,
        areas: 0,
        bytes: 0,
        local: runs.map(() => 0),
        remote: runs.map(() => 0),
        contested: runs.map(() => 0),
      });
    }
    return found.get(key);
  };
  for (const area of facts.areas.filter(({ frames }) => frames.length > 0)) {
    const statement = of(area.frames[0]);
    statement.areas += 1;
    statement.bytes += area.bytes;
    area.runs.forEach((traffic, run) => {
      statement.local[run] += traffic?.local ?? 0;
      statement.remote[run] += traffic?.remote ?? 0;
    });
  }
  runs.forEach(({ contested }, run) => {
    for (const accessor of contested.lines.flatMap((line) => line.by).filter((by) => by.place !== null)) {
      of(contested.places[accessor.place]).contested[run] += accessor.reads + accessor.writes;
    }
  });
  return [...found.values()];
}

function sourceSection() {
  const rows = statements();
  if (rows.length === 0) return;
  const columns = [
    {
      title: "statement",
      class: "name",
      value: (row) => place(row.frame),
      cell: (row) => [
        element("span", { title: row.frame.file }, row.frame.file ? fileLine(row.frame) : row.frame.function),
        row.frame.file && element("span", { class: "soft" }, ` in ${row.frame.function}`),
      ],
    },
    {
      title: "areas",
      unit: "allocated here",
      isNumber: true,
      value: (row) => row.areas,
      cell: (row) => (row.areas ? grouped(row.areas) : ""),
    },
    {
      title: "size",
      unit: "together",
      isNumber: true,
      value: (row) => row.bytes,
      cell: (row) => (row.areas ? size(row.bytes) : ""),
    },
    ...runs.map((run, index) => ({
      title: isPair ? `remote ${run.label}` : "remote",
      unit: "transactions with these areas",
      isNumber: true,
      value: (row) => row.remote[index],
      cell: (row) => (row.areas ? grouped(row.remote[index]) : ""),
    })),
    ...runs.map((run, index) => ({
      title: isPair ? `contested ${run.label}` : "contested",
      unit: "transactions from here",
      isNumber: true,
      value: (row) => row.contested[index],
      cell: (row) => (row.contested[index] ? grouped(row.contested[index]) : ""),
    })),
  ];
  section(
    "source",
    "Source lines",
    "Statements that allocated areas, and statements that used contested lines (of each thread and line one example is known, so the last columns show where to look rather than a full account).",
    sortableTable({
      caption: "Statements",
      columns,
      rows,
      sortBy: columns[3].title,
      limit: 12,
      what: "statements",
      filter: (row) => place(row.frame),
      under: (row) => {
        const snippet = snippetOf(row.frame);
        return snippet && snippetBlock(snippet);
      },
    }),
  );
}
