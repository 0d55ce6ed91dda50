// Tables whose headers sort. A column: title, unit (shown under it), value (what it sorts by), cell (what it shows, the
// value unless told), isNumber. Long tables begin with their first rows and a button for the rest.

const classes = (column) => [column.isNumber && "number", column.class].filter(Boolean).join(" ") || null;

function sortableTable({ caption, columns, rows, sortBy, limit = 25, under, filter, what }) {
  let sort = { column: sortBy, isDescending: true };
  let isWhole = false;
  let wanted = "";
  const body = element("tbody");
  const heads = columns.map((column) =>
    element(
      "th",
      { scope: "col", class: classes(column), "data-title": column.value ? column.title : null },
      column.value
        ? element("button", { class: "sort", type: "button", onclick: () => choose(column) }, column.title)
        : column.title,
      column.unit && element("small", {}, column.unit),
    ),
  );
  const all = element("button", {
    type: "button",
    class: "all",
    onclick: () => {
      isWhole = true;
      draw();
    },
  });
  const count = element("span", { class: "soft small", role: "status" });

  function choose(column) {
    const isSame = sort.column === column.title;
    sort = { column: column.title, isDescending: isSame ? !sort.isDescending : Boolean(column.isNumber) };
    draw();
  }

  function ordered() {
    const column = columns.find(({ title }) => title === sort.column);
    const found = filter && wanted ? rows.filter((row) => filter(row).toLowerCase().includes(wanted)) : rows;
    const compare = (a, b) => (column.isNumber ? (a ?? -1) - (b ?? -1) : String(a).localeCompare(String(b)));
    const sign = sort.isDescending ? -1 : 1;
    return found
      .map((row, index) => ({ row, index, key: column.value(row) }))
      .sort((a, b) => sign * compare(a.key, b.key) || a.index - b.index)
      .map(({ row }) => row);
  }

  function draw() {
    columns.forEach((column, index) => {
      if (!column.value) return;
      const order = column.title !== sort.column ? "none" : sort.isDescending ? "descending" : "ascending";
      heads[index].setAttribute("aria-sort", order);
    });
    const found = ordered();
    const shown = isWhole ? found : found.slice(0, limit);
    body.replaceChildren(
      ...shown.flatMap((row) => {
        const cells = columns.map((column, index) => {
          const content = column.cell ? column.cell(row) : column.value(row);
          const attributes = { class: classes(column) };
          return index === 0
            ? element("th", { scope: "row", ...attributes }, content)
            : element("td", attributes, content);
        });
        const below = under && under(row);
        const line = element("tr", {}, cells);
        return below
          ? [line, element("tr", { class: "under" }, element("td", { colspan: columns.length }, below))]
          : [line];
      }),
    );
    all.hidden = shown.length === found.length;
    all.textContent = `Show all ${grouped(found.length)} ${what}`;
    count.textContent = wanted ? `${grouped(found.length)} of ${grouped(rows.length)} ${what}` : "";
  }

  const search =
    filter &&
    rows.length > 8 &&
    element(
      "label",
      {},
      `Only ${what} named `,
      element("input", {
        type: "search",
        oninput: (event) => {
          wanted = event.target.value.trim().toLowerCase();
          draw();
        },
      }),
    );
  draw();
  return element(
    "div",
    {},
    search && element("div", { class: "tools" }, search, count),
    element(
      "div",
      { class: "scroll" },
      element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, heads)), body),
    ),
    all,
  );
}

// A table of a few fixed rows.
function plainTable(attributes, caption, heads, rows) {
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      attributes,
      element("caption", {}, caption),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          heads.map(([title, unit, isNumber]) =>
            element(
              "th",
              { scope: "col", class: isNumber ? "number" : null },
              title,
              unit && element("small", {}, unit),
            ),
          ),
        ),
      ),
      element(
        "tbody",
        {},
        rows.map((cells) =>
          element(
            "tr",
            {},
            cells.map((cell, index) => {
              const attributes = { class: heads[index][2] ? "number" : null };
              return index === 0
                ? element("th", { scope: "row", ...attributes }, cell)
                : element("td", attributes, cell);
            }),
          ),
        ),
      ),
    ),
  );
}

// Shares of a whole by node as a bar; the numbers are in its label and on its wider parts.
function nodeBar(counts, nodes, what) {
  const whole = sum(counts);
  if (whole === 0) return "-";
  const shares = counts.map((count) => count / whole);
  const label = shares
    .map((share, index) => [share, nodes[index]])
    .filter(([share]) => share > 0)
    .map(([share, node]) => `node ${node} ${percent(share)}`)
    .join(", ");
  return element(
    "span",
    { class: "bar", role: "img", "aria-label": `${what}: ${label}`, title: label },
    shares.map(
      (share, index) =>
        share > 0 &&
        element(
          "span",
          { style: `width:${share * 100}%;background:var(${nodeVariable(index)})` },
          share >= 0.18 ? String(nodes[index]) : "",
        ),
    ),
  );
}

// A share as a meter with its number.
function meter(share, what) {
  if (!isNumber(share)) return "-";
  return element(
    "span",
    {},
    element(
      "span",
      { class: "meter", role: "img", "aria-label": what },
      element("span", { style: `width:${Math.min(share, 1) * 100}%` }),
    ),
    percent(share),
  );
}

// How many times less or more; coloured where less is the aim.
function changeCell(before, after, isCost = true) {
  const text = change(before, after);
  const kind = !isCost
    ? null
    : text.endsWith("less") || text === "none left"
      ? "less"
      : text.endsWith("more") || text === "new"
        ? "more"
        : null;
  return element("span", { class: kind }, text);
}
