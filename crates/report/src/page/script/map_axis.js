// The axis below the heat map: bands with the names of the areas, and offsets where there is room.

function drawAreas(painter) {
  const { context, layout, plot, state } = painter;
  const top = layout.axis;
  let number = 0;
  for (const [area, { start, bytes, pieces }] of painter.axis.ofArea) {
    number += 1;
    if (start + bytes < state.view.from || start > state.view.to) continue;
    const [left, right] = [painter.within(start), painter.within(start + bytes)];
    if (right - left < 1.5) continue;
    context.fillStyle = styled(number % 2 === 0 ? "--line" : "--line-strong");
    context.fillRect(left, top, right - left - 0.5, 17);
    if (right - left > 24) painter.label(areaTitle(facts.areas[area]), left + 4, top + 13, right - left - 8);
    for (const piece of pieces) drawOffsets(painter, piece, top + 17);
  }
  painter.label("area, offset", plot.left - 8, top + 13, MAP.gutter - 12, "right", painter.soft);
}

function drawOffsets(painter, piece, top) {
  const { context } = painter;
  const [left, right] = [painter.within(piece.start), painter.within(piece.start + piece.bytes)];
  if (right - left < 160) return;
  const step = 2 ** Math.max(Math.ceil(Math.log2(painter.bytesPerPixel() * 80)), 0);
  const offset = (x) => piece.from + painter.place(x) - piece.start;
  context.strokeStyle = painter.soft;
  context.lineWidth = 1;
  for (let at = Math.ceil(offset(left) / step - 1e-6) * step; at <= offset(right); at += step) {
    const x = painter.x(piece.start + at - piece.from);
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, top + 5);
    context.stroke();
    if (x + 60 < right) painter.label(offsetText(at), x + 2, top + 17, 78, "left", painter.soft);
  }
}

// An offset in the largest unit that divides it.
function offsetText(bytes) {
  if (bytes !== 0 && bytes % 2 ** 20 === 0) return `${grouped(bytes / 2 ** 20)} MiB`;
  if (bytes !== 0 && bytes % 2 ** 10 === 0) return `${grouped(bytes / 2 ** 10)} KiB`;
  return `${grouped(bytes)} B`;
}
