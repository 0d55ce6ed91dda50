// Where the vertices of a network stand in a drawing: nodes around an oval in their order, routers on ovals inside, one for
// each step away from the nodes, near what they join.

const DRAWING = { width: 560, height: 400 };

// Places by name; `form` says how much room a node takes.
function vertexPlaces(links, nodes, form) {
  const nodeNames = nodes.map((node) => `node${node}`);
  const levels = routerLevels(links, nodeNames);
  const isHub = links.every(({ from, to }) => !nodeNames.includes(from) || !nodeNames.includes(to));
  // From -1 to 1 both ways.
  const spots = new Map(nodeNames.map((name, index) => [name, nodeSpot(index, nodeNames.length, isHub)]));
  levels.forEach((routers, level) => placeRouters(routers, 1 - (level + 1) / (levels.length + 1), links, spots));
  const [x, y] = [DRAWING.width / 2, DRAWING.height / 2];
  const places = new Map(
    [...spots].map(([name, spot]) => [
      name,
      { x: x + spot.x * (x - form.width / 2 - 4), y: y + spot.y * (y - form.height / 2 - 4) },
    ]),
  );
  return { places, routers: levels.flat() };
}

// Routers by their steps from the nearest node: those next to a node first.
function routerLevels(links, nodeNames) {
  const levels = [];
  const seen = new Set(nodeNames);
  for (let edge = nodeNames; ;) {
    edge = [...new Set(links.filter(({ from, to }) => edge.includes(from) && !seen.has(to)).map(({ to }) => to))];
    if (edge.length === 0) return levels;
    edge.forEach((name) => seen.add(name));
    levels.push(edge);
  }
}

// Routers of one level stand evenly around, in the order of the directions in which their neighbours lie.
function placeRouters(routers, radius, links, spots) {
  if (routers.length === 1) {
    spots.set(routers[0], { x: 0, y: 0 });
    return;
  }
  const direction = (name) => {
    const around = links.filter(({ from, to }) => from === name && spots.has(to)).map(({ to }) => spots.get(to));
    return Math.atan2(sum(around.map(({ y }) => y)), sum(around.map(({ x }) => x)));
  };
  const ordered = routers.map((name) => ({ name, angle: direction(name) })).sort((a, b) => a.angle - b.angle);
  ordered.forEach(({ name }, index) => {
    const angle = ordered[0].angle + (2 * Math.PI * index) / ordered.length;
    spots.set(name, { x: Math.cos(angle) * radius, y: Math.sin(angle) * radius });
  });
}

// Few nodes fill the corners, in reading order where none are joined directly and else around, so that neighbours of a
// ring stand side by side.
function nodeSpot(index, count, isHub) {
  if (count === 1) return { x: 0, y: 0 };
  if (count === 2) return { x: index * 2 - 1, y: 0 };
  if (count === 4) {
    const corners = isHub
      ? [
          [-1, -1],
          [1, -1],
          [-1, 1],
          [1, 1],
        ]
      : [
          [-1, -1],
          [1, -1],
          [1, 1],
          [-1, 1],
        ];
    return { x: corners[index][0], y: corners[index][1] };
  }
  const angle = 2 * Math.PI * (index / count) - 0.75 * Math.PI;
  return { x: Math.cos(angle), y: Math.sin(angle) };
}
