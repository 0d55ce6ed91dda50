// What the page is about, and the words for it.

const facts = JSON.parse(document.getElementById("facts").textContent);
const runs = facts.runs;
const isTuning = facts.verdict !== null;
// Two runs stand side by side; of one, no run is named.
const isPair = runs.length === 2;

const EVIDENCE = {
  simulated: "Every access was seen by a simulated machine: counts are exact for it, times are those of its model.",
  exact: "Every access was seen on the real machine.",
  sampled: "Samples stand for the accesses: each count is an estimate.",
};

// By name of an area how many there are of each size: one statement may allocate several.
const sizesByName = new Map();
for (const { name, bytes } of facts.areas) {
  if (!sizesByName.has(name)) sizesByName.set(name, new Map());
  const sizes = sizesByName.get(name);
  sizes.set(bytes, (sizes.get(bytes) ?? 0) + 1);
}

// An area's name; where several have the same, with what tells them apart: size, ordinal, or both.
function areaTitle({ name, bytes, ordinal }) {
  const sizes = sizesByName.get(name);
  return name + (sizes.size > 1 ? `, ${size(bytes)}` : "") + (sizes.get(bytes) > 1 ? ` #${ordinal}` : "");
}

const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);

// file:line; a line of 0 is not known.
function fileLine(frame) {
  return frame.line > 0 ? `${baseName(frame.file)}:${frame.line}` : baseName(frame.file);
}

// function (file:line)
function place(frame) {
  return frame.file ? `${frame.function} (${fileLine(frame)})` : frame.function;
}

function runTitle(run) {
  return isPair ? `${run.label}: ${run.row.placement}` : run.row.placement;
}

// 0-3,8
function ranges(numbers) {
  const parts = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last && last[1] + 1 === number) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
