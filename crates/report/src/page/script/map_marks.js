// Contested lines on the heat map: a mark below the rows for each, and its bytes once it is seen close.

// A contested line is drawn byte by byte once it is so wide, in pixels.
const BYTES_FROM = 24;

// Contested lines with their places on the axis; those told in full come with their facts.
function contestedMarks(run, axis) {
  const told = run.contested.lines.map((line) => ({
    area: line.area,
    offset: line.offset,
    bytes: line.bytes,
    transfers: line.transfers,
    sharing: line.sharing,
    line,
  }));
  const others = run.contested.marks.map(([area, offset, bytes, transfers, sharing]) => ({
    area,
    offset,
    bytes,
    transfers,
    sharing,
  }));
  return [...told, ...others]
    .map((mark) => ({ ...mark, place: mark.area === null ? null : axis.placeOf(mark.area, mark.offset) }))
    .filter((mark) => mark.place !== null);
}

// Masks have 64 bits: a longer line is told by groups of bytes.
function byteGroups(bytes) {
  const each = Math.max(Math.floor(bytes / 64), 1);
  return { bytes: each, count: Math.min(Math.ceil(bytes / each), 64) };
}

function drawContested(painter, index, panel) {
  const { context, plot } = painter;
  const marks = painter.marks[index];
  const { view } = painter.state;
  painter.label("contested", plot.left - 8, panel.contested + 13, MAP.gutter - 12, "right", painter.soft);
  const most = marks.reduce((most, mark) => Math.max(most, mark.transfers), 1);
  for (const mark of marks) {
    if (mark.place + mark.bytes < view.from || mark.place > view.to) continue;
    const [left, right] = [
      Math.max(painter.x(mark.place), plot.left),
      Math.min(painter.x(mark.place + mark.bytes), plot.left + plot.width),
    ];
    const tall = 3 + (MAP.contested - 4) * onRamp(mark.transfers, most);
    context.fillStyle = styled(`--${mark.sharing}`) || painter.soft;
    context.fillRect(left, panel.contested + MAP.contested - tall, Math.max(right - left - 0.5, 1), tall);
    if (mark.line && mark.bytes / painter.bytesPerPixel() >= BYTES_FROM) drawBytes(painter, index, panel, mark);
  }
}

// Which bytes of a line each accessor reads (an empty box) and writes (a full one).
function drawBytes(painter, index, panel, mark) {
  const { context, layout } = painter;
  const { rows } = painter.state;
  const groups = byteGroups(mark.line.bytes);
  const isHit = (mask, group) => (mask >> BigInt(group)) & 1n;
  rows.forEach((row, number) => {
    for (const by of mark.line.by.filter((by) => row.holds(by.thread, index))) {
      const [read, written] = [by.read_mask, by.write_mask].map((mask) => BigInt(`0x${mask}`));
      for (let group = 0; group < groups.count; group++) {
        const x = painter.x(mark.place + group * groups.bytes);
        const wide = Math.max(groups.bytes / painter.bytesPerPixel() - 1, 1);
        const y = panel.rows + number * layout.rowHeight;
        if (x < painter.plot.left || x > painter.plot.left + painter.plot.width) continue;
        const isWritten = isHit(written, group);
        if (!isWritten && !isHit(read, group)) continue;
        context.fillStyle = isWritten ? painter.ink : styled("--card");
        context.strokeStyle = painter.ink;
        context.lineWidth = 1;
        context.fillRect(x, y + layout.rowHeight * 0.2, wide, layout.rowHeight * 0.6);
        context.strokeRect(
          x + 0.5,
          y + layout.rowHeight * 0.2 + 0.5,
          Math.max(wide - 1, 0.5),
          layout.rowHeight * 0.6 - 1,
        );
      }
    }
  });
}
