// Contested lines: where they lie, who uses which of their bytes, and where in the program.

function contestedSection(map) {
  if (runs.every((run) => run.contested.count === 0)) return;
  const counts = runs.map(
    (run) =>
      `${isPair ? `${run.label} ` : ""}${plural(run.contested.count, "line")} moved ${grouped(run.contested.transfers)} times`,
  );
  section(
    "contested",
    "Contested lines",
    `Cache lines that moved between caches because threads write them: ${counts.join("; ")}.`,
    runs.map((run) => contestedTable(run, map)),
  );
}

function contestedTable(run, map) {
  const { contested } = run;
  if (contested.count === 0) return null;
  const threads = (line, what) => ranges(line.by.filter((by) => by[what] > 0).map(({ thread }) => thread));
  const columns = [
    { title: "line", unit: "area + offset in bytes", class: "name", value: (line) => lineTitle(line) },
    {
      title: "transfers",
      unit: "times it moved",
      isNumber: true,
      value: (line) => line.transfers,
      cell: (line) => grouped(line.transfers),
    },
    { title: "sharing", value: (line) => line.sharing, cell: (line) => sharingChip(line.sharing) },
    { title: "written by", unit: "threads", value: (line) => threads(line, "writes") },
    { title: "read by", unit: "threads", value: (line) => threads(line, "reads") },
    {
      title: "bytes",
      unit: "read and written, any thread",
      cell: (line) => bytesDrawing(line.bytes, union(line, "read_mask"), union(line, "write_mask")),
    },
    { title: "for example in", cell: (line) => example(line, contested) },
    {
      title: "map",
      class: "controls",
      cell: (line) =>
        line.area !== null &&
        map.hasArea(line.area) &&
        element(
          "button",
          {
            type: "button",
            class: "go",
            "aria-label": `Show ${lineTitle(line)} in the heat map`,
            onclick: () => map.showLine(line),
          },
          "show",
        ),
    },
  ];
  const left = contested.count - contested.lines.length;
  const caption = `${isPair ? `${run.label}: ` : ""}${left > 0 ? `the ${grouped(contested.lines.length)} most contested of ${grouped(contested.count)} lines` : "all contested lines"}`;
  return sortableTable({
    caption,
    columns,
    rows: contested.lines,
    sortBy: "transfers",
    limit: 10,
    what: "lines",
    filter: (line) => line.area_name,
    under: (line) => accessorDetails(line, contested),
  });
}

function lineTitle(line) {
  const name = line.area === null ? line.area_name : areaTitle(facts.areas[line.area]);
  return `${name} ${line.offset < 0 ? "−" : "+"}${grouped(Math.abs(line.offset))}`;
}

function sharingChip(sharing) {
  return element(
    "span",
    { class: `chip ${["true", "false", "mixed"].includes(sharing) ? sharing : "other"}` },
    sharing,
  );
}

const union = (line, mask) => line.by.reduce((all, by) => all | BigInt(`0x${by[mask]}`), 0n);

// Where the thread that wrote most did so.
function example(line, contested) {
  const known = line.by.filter((by) => by.place !== null);
  if (known.length === 0) return line.by.length > 0 ? code(line.by[0]) : "";
  const busiest = known.reduce((most, by) =>
    by.writes > most.writes || (by.writes === most.writes && by.reads > most.reads) ? by : most,
  );
  return place(contested.places[busiest.place]);
}

// An address without a place in the source; 0 stands for none.
function code(by) {
  return by.code === "0x0" ? "-" : element("span", { class: "mono" }, by.code);
}

// 0-7,16-23
function byteRanges(bytes, mask) {
  const groups = byteGroups(bytes);
  const hit = [];
  for (let group = 0; group < groups.count; group++) {
    if ((mask >> BigInt(group)) & 1n)
      for (let byte = 0; byte < groups.bytes; byte++) hit.push(group * groups.bytes + byte);
  }
  return ranges(hit) || "none";
}

// A line byte by byte: written full, read half.
function bytesDrawing(bytes, read, written) {
  const groups = byteGroups(bytes);
  const label = `written: ${byteRanges(bytes, written)}; read: ${byteRanges(bytes, read)}`;
  const wide = 128 / groups.count;
  const cells = [];
  for (let group = 0; group < groups.count; group++) {
    const bit = 1n << BigInt(group);
    const tall = written & bit ? 12 : read & bit ? 5 : 0;
    if (tall)
      cells.push(
        drawn("rect", {
          x: group * wide,
          y: 13 - tall,
          width: wide - 0.4,
          height: tall,
          style: `fill:var(${written & bit ? "--remote" : "--accent"})`,
        }),
      );
  }
  return drawn(
    "svg",
    { class: "bytes", width: 130, height: 15, role: "img", "aria-label": label },
    drawn("title", {}, label),
    drawn("rect", { x: 0, y: 0.5, width: 128, height: 13, style: "fill:none;stroke:var(--line-strong)" }),
    cells,
  );
}

function accessorDetails(line, contested) {
  const heads = [
    ["thread"],
    ["reads", "transactions", true],
    ["writes", "transactions", true],
    ["bytes", "of the line"],
    ["bytes read"],
    ["bytes written"],
    ["for example in"],
  ];
  return element(
    "details",
    {},
    element("summary", {}, plural(line.by.length + line.more, "thread")),
    plainTable(
      {},
      `Bytes 0 to ${line.bytes - 1} of the line`,
      heads,
      line.by.map((by) => {
        const [read, written] = [by.read_mask, by.write_mask].map((mask) => BigInt(`0x${mask}`));
        return [
          `thread ${by.thread}`,
          grouped(by.reads),
          grouped(by.writes),
          bytesDrawing(line.bytes, read, written),
          byteRanges(line.bytes, read),
          byteRanges(line.bytes, written),
          by.place === null ? code(by) : place(contested.places[by.place]),
        ];
      }),
    ),
    line.more > 0 && element("p", {}, `and ${plural(line.more, "more thread")} with fewer transactions`),
  );
}
