// Numbers for a reader, as the terminal tables have them (number.rs): grouped, shortened, as shares, sizes and changes.

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

// 12,345,678
function grouped(number) {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

// Like toFixed, but halves go to the even neighbour, as everywhere else in Olifant.
function fixed(value, digits) {
  const scaled = value * 10 ** digits;
  const isHalf = scaled % 1 === 0.5 && Math.floor(scaled) % 2 === 0;
  return (isHalf ? Math.floor(scaled) / 10 ** digits : value).toFixed(digits);
}

// Three significant digits of a number below 1,000.
function threeDigits(value) {
  return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

// 999, 12.3 k, 1.23 M
function short(number) {
  if (number < 1000) return String(number);
  const factors = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  const [factor, letter] = factors.find(([factor]) => number >= factor * 0.9995);
  return `${threeDigits(number / factor)} ${letter}`;
}

// 64 B, 4.00 KiB, 12.5 MiB
function size(bytes) {
  const factors = [
    [2 ** 40, "TiB"],
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ];
  const found = factors.find(([factor]) => bytes >= factor);
  return found ? `${threeDigits(bytes / found[0])} ${found[1]}` : `${bytes} B`;
}

// A share of 1: 97 %, 4.5 %
function percent(share) {
  if (!isNumber(share)) return "-";
  const value = share * 100;
  return `${fixed(value, value > 0 && value < 9.95 ? 1 : 0)} %`;
}

// Seconds and other measures with at least four digits: 123.4, 1.234, 0.001234
function measure(value) {
  if (!isNumber(value)) return "-";
  const before = value === 0 ? 1 : Math.floor(Math.log10(Math.abs(value))) + 1;
  const [whole, part] = fixed(value, Math.min(Math.max(4 - before, 1), 12)).split(".");
  return `${grouped(Number(whole))}.${part}`;
}

// A factor: 2.31, 12.3, 1,234
function factor(value) {
  return value < 999.5 ? threeDigits(value) : grouped(value);
}

// 12.3× less, 1.05× more, same
function change(before, after) {
  if (!isNumber(before) || !isNumber(after)) return "-";
  if (before === after) return "same";
  if (after === 0) return "none left";
  if (before === 0) return "new";
  const times = before > after ? before / after : after / before;
  return times < 1.005 ? "same" : `${factor(times)}× ${before > after ? "less" : "more"}`;
}

function plural(count, one, many = `${one}s`) {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
