// The controls around the heat map: what rows and counts it shows, where to go, and its scale.

const KEYS = [
  ["← →", "move the cursor"],
  ["↑ ↓", "choose a row"],
  ["+ −", "zoom at the cursor"],
  ["Page ↑ ↓", "move the window"],
  ["n p", "next or previous area"],
  ["0", "whole heap"],
];

function mapScale(map) {
  const { most, kinds } = map.state;
  const words = kinds.length === 1 ? "remote transactions" : "transactions, local and remote";
  map.scale.replaceChildren(
    ...[
      element(
        "span",
        {},
        `${words} per granule of ${size(facts.granule_bytes)} and accessor, mean of what a pixel covers:`,
      ),
      element(
        "span",
        { class: "rampscale" },
        element("span", {
          class: "ramp",
          role: "img",
          "aria-label": `from 0 to ${grouped(most)}`,
          style: `background:linear-gradient(to right,${rampSteps()})`,
        }),
        element(
          "span",
          { class: "ticks" },
          element("span", {}, "0"),
          element("span", {}, short(Math.round(Math.expm1(Math.log1p(most) / 2)))),
          element("span", {}, short(Math.round(most))),
        ),
      ),
      element("span", {}, "blank: none"),
      ...sharingClasses().map((name) =>
        element(
          "span",
          {},
          element("span", { class: "key", style: `background:var(--${name})` }),
          `contested, ${name} sharing`,
        ),
      ),
      sharingClasses().length > 0 &&
        element(
          "span",
          {},
          "a contested line seen close: ",
          element("span", { class: "key written" }),
          "bytes written ",
          element("span", { class: "key" }),
          "bytes read",
        ),
    ].filter(Boolean),
  );
}

// Classes of sharing that occur.
function sharingClasses() {
  return ["true", "false", "mixed", "migratory", "producer-consumer", "read-only"].filter((name) =>
    runs.some((run) => run.contested.lines.some((line) => line.sharing === name)),
  );
}

function mapControls(map) {
  const radio = (name, value, text, isChosen, choose) =>
    element(
      "label",
      {},
      element("input", { type: "radio", name, value, checked: isChosen, onchange: choose }),
      ` ${text}`,
    );
  const button = (text, label, act) =>
    element("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const areas = element(
    "select",
    {
      onchange: (event) => {
        map.showArea(Number(event.target.value));
        event.target.value = "";
      },
    },
    element("option", { value: "", disabled: true, selected: true }, "an area …"),
    facts.areas.map((area, index) => map.hasArea(index) && element("option", { value: index }, areaTitle(area))),
  );
  return element(
    "div",
    { class: "tools" },
    element(
      "fieldset",
      {},
      element("legend", {}, "Rows"),
      radio("rows", "node", "nodes", true, () => map.choose("node", map.state.kinds)),
      radio("rows", "thread", "threads", false, () => map.choose("thread", map.state.kinds)),
    ),
    element(
      "fieldset",
      {},
      element("legend", {}, "Count"),
      radio("count", "remote", "remote", map.state.kinds.length === 1, () => map.choose(map.state.mode, ["remote"])),
      radio("count", "all", "local and remote", map.state.kinds.length === 2, () =>
        map.choose(map.state.mode, ["local", "remote"]),
      ),
    ),
    element("label", {}, "Go to ", areas),
    element(
      "span",
      {},
      button("+", "Zoom in", () => map.zoom(1 / 2)),
      " ",
      button("−", "Zoom out", () => map.zoom(2)),
      " ",
      button("‹", "Previous area", () => map.nextArea(-1)),
      " ",
      button("›", "Next area", () => map.nextArea(1)),
      " ",
      button("whole heap", "Whole heap", () => map.whole()),
    ),
    map.span,
  );
}

function mapSection(map) {
  if (map.axis.pieces.length === 0) return;
  section(
    "map",
    "Heat map",
    "Who reached which address: from left to right the memory, area by area; from top to bottom the accessors. The strip above the rows shows on which node each granule lives, the strip below the contested lines.",
    mapControls(map),
    map.canvas,
    map.scale,
    element(
      "p",
      { class: "keys", id: "heat-keys" },
      KEYS.flatMap(([keys, what]) => [element("kbd", {}, keys), ` ${what}  `]),
      "Mouse: click points, drag zooms to what it spans, shift and drag moves, Ctrl and wheel zooms.",
    ),
    element("div", { id: "cursor" }, element("h3", {}, "At the cursor"), map.live, map.panel),
  );
  map.redraw();
}
