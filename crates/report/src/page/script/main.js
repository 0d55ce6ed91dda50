// Puts the page together; the heat map comes last in time, as its numbers must be unpacked first.

async function main() {
  head();
  figures();
  patternSection();
  machineSection();
  const heats = await readHeats();
  const map = new HeatMap(heats);
  areaSection(map);
  mapSection(map);
  phaseSection();
  contestedSection(map);
  lockSection();
  touchSection();
  sourceSection();
  threadSection();
  foot();
  const redraw = () => map.redraw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // On paper dark would cost ink and be hard to read.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    map.paint();
  });
  addEventListener("afterprint", () => {
    delete document.documentElement.dataset.theme;
    map.paint();
  });
}

main().then(
  () => {
    document.documentElement.dataset.state = "ready";
  },
  (error) => {
    document.documentElement.dataset.state = "failed";
    document
      .getElementById("main")
      .append(
        element(
          "p",
          { class: "notice", role: "alert" },
          `The page could not be drawn whole: ${error.message}. It needs a browser of 2023 or later (Chromium 103, Firefox 113, Safari 16.4).`,
        ),
      );
    throw error;
  },
);
