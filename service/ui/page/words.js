// Formats numbers and foreign texts for people.

// Invisible characters: control bytes, those that turn or hide text, halves of characters, separators of lines.
const ODD = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;

export function isOdd(character) {
  return ODD.test(character) && character !== "\n" && character !== "\t";
}

export function codePoint(character) {
  return "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
}

// One line of at most this many characters.
export function shortened(text, most) {
  const shown = [...text].map((one) => (isOdd(one) || one === "\n" || one === "\t" ? codePoint(one) : one));
  return shown.length <= most ? shown.join("") : shown.slice(0, most - 1).join("") + "…";
}

// With separators of thousands.
export function whole(value) {
  return value.toLocaleString("en-US");
}

// Three significant digits, without an exponent if it reads well: "0.123", "12.3", "4510".
export function number(value) {
  const size = Math.abs(value);
  if (size < 1e-12) return "0";
  if (size >= 100 && size < 1e7) return value.toFixed(0);
  return short(value, 3);
}

// This many significant digits, without trailing zeros.
function short(value, digits) {
  const text = value.toPrecision(digits);
  if (!text.includes(".")) return text;
  const [mantissa, exponent] = text.split("e");
  const trimmed = mantissa.replace(/\.?0+$/, "");
  return exponent === undefined ? trimmed : trimmed + "e" + exponent;
}

export function counted(count, what) {
  return `${whole(count)} ${what}${count === 1 ? "" : "s"}`;
}

// ["2.41x", "[2.38, 2.44]"]; the interval is empty if it has no width.
export function measured(measurement) {
  const { median, low, high, unit } = measurement;
  const ratio = unit === "x";
  const written = (value) => {
    if (ratio && Math.abs(value) >= 0.095 && Math.abs(value) < 1000) return value.toFixed(2);
    return ratio || !unit ? short(value, 6) : number(value);
  };
  const behind = ratio || !unit ? unit : " " + unit;
  return [written(median) + behind, low < high ? `[${written(low)}, ${written(high)}]` : ""];
}

// As one text; a dash if there is none.
export function measuredText(measurement) {
  return measurement ? measured(measurement).join(" ").trim() : "–";
}

// "0:42", "12:05", "3:00:00".
export function clock(seconds) {
  const total = Math.round(Math.max(0, seconds));
  const two = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(total / 3600), minutes = Math.floor(total / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`;
}

// The label of an interval with its numbers in three digits; others, which are names, as they are.
export function rounded(label) {
  if (!/^(<|>=|\[)/.test(label)) return label;
  return label.replace(/\d+\.\d+(?:e[+-]?\d+)?/g, (found) => number(Number(found)));
}

export function usd(value) {
  return value === null ? "price unknown" : `${number(value)} USD`;
}
