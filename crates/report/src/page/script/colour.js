// The style sheet's colours for what is drawn rather than styled. What stands in the document refers to the variables
// themselves and so follows a change from light to dark; the canvas reads them and is drawn anew.

const RAMP_STEPS = 7;
const NODE_COLOURS = 8;

function styled(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// A colour as a canvas holds its pixels: one 32-bit word, little-endian ABGR.
function pixel([red, green, blue]) {
  return ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0;
}

// The ramp as 256 pixels.
function rampPixels() {
  const steps = Array.from({ length: RAMP_STEPS }, (_, step) => channels(styled(`--ramp-${step}`)));
  return Uint32Array.from({ length: 256 }, (_, index) => {
    const place = (index / 255) * (RAMP_STEPS - 1);
    const step = Math.min(Math.floor(place), RAMP_STEPS - 2);
    return pixel(steps[step].map((value, channel) => value + (steps[step + 1][channel] - value) * (place - step)));
  });
}

// Where a count stands on the ramp, 0 to 1: by its logarithm, as counts of granules spread over decades.
function onRamp(value, most) {
  return Math.min(Math.log1p(value) / Math.log1p(Math.max(most, 1)), 1);
}

// A colour of the ramp for a style, and the ink that can be read on it.
function rampColour(share) {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP_STEPS - 1);
  const step = Math.min(Math.floor(place), RAMP_STEPS - 2);
  const background = `color-mix(in srgb, var(--ramp-${step + 1}) ${Math.round((place - step) * 100)}%, var(--ramp-${step}))`;
  return { background, ink: share > 0.5 ? "var(--ink-high)" : "var(--ink-low)" };
}

// The ramp's steps for a gradient.
function rampSteps() {
  return Array.from({ length: RAMP_STEPS }, (_, step) => `var(--ramp-${step})`).join(",");
}

// The variable of a node's colour; where a machine has more nodes than colours, their numbers tell them apart.
function nodeVariable(index) {
  return `--node-${index % NODE_COLOURS}`;
}
