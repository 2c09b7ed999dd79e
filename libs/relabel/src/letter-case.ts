/**
 * Letters that Unicode gained after version 15, which is the version that Go 1.26 knows. JavaScript's engine is newer
 * and would change their case.
 */
const newerLetters: readonly (readonly [number, number])[] = [
  [0x1c89, 0x1c8a],
  [0xa7cb, 0xa7cf],
  [0xa7d2, 0xa7d2],
  [0xa7d4, 0xa7d4],
  [0xa7da, 0xa7dc],
  [0x10d50, 0x10d85],
  [0x16ea0, 0x16ed3],
];

const ascii = /^[\0-\x7f]*$/;

/** Upper case as Go has it: each code point becomes exactly one, so that "ß" stays. */
export function upperCase(text: string): string {
  return ascii.test(text) ? text.toUpperCase() : mapped(text, upperLetter);
}

/** Lower case as Go has it: each code point becomes exactly one, whatever stands beside it. */
export function lowerCase(text: string): string {
  return ascii.test(text) ? text.toLowerCase() : mapped(text, lowerLetter);
}

function mapped(text: string, map: (letter: string) => string): string {
  let result = "";
  for (const letter of text) result += map(letter);
  return result;
}

function upperLetter(letter: string): string {
  const upper = letter.toUpperCase();
  if (upper.length > letter.length) return String.fromCodePoint(shortUpper(letter.codePointAt(0) ?? 0));
  return isNewer(letter) || isNewer(upper) ? letter : upper;
}

/**
 * Upper case of a letter whose full upper case is several letters. Only Greek ones with iota subscript have a short
 * one.
 */
function shortUpper(letter: number): number {
  if (letter >= 0x1f80 && letter <= 0x1faf) return letter | 8;
  if (letter === 0x1fb3 || letter === 0x1fc3 || letter === 0x1ff3) return letter + 9;
  return letter;
}

function lowerLetter(letter: string): string {
  if (letter === "\u0130") return "i";
  const lower = letter.toLowerCase();
  return isNewer(letter) || isNewer(lower) ? letter : lower;
}

function isNewer(letter: string): boolean {
  const point = letter.codePointAt(0) ?? 0;
  return newerLetters.some(([first, last]) => point >= first && point <= last);
}
