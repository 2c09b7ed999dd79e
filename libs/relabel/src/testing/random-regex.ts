import type { Random } from "./random.ts";

/** Regular expressions that configurations have, and some that RE2 refuses. */
const usual = [
  "(.*)",
  ".*",
  "(.+)",
  ".+",
  "",
  "a",
  "a|b",
  "(a|b)",
  "true",
  "(?:a|b);(.*)",
  "(a);true",
  "a;(.*)",
  "(.+);(.+)",
  "([^:]+)(?::\\d+)?;(\\d+)",
  "([^:]+)(?::\\d+)?",
  "(.*):\\d+",
  "__meta_(.+)",
  "__meta_.*",
  "__.*",
  "(?P<name>[a-z]+)(?P<rest>.*)",
  "(?<name>.)(.*)",
  "a\\.b",
  "\\Qa.b\\E",
  "\\d+",
  "10\\.0\\..*",
];

const refused = ["(?=a)", "a(?!b)", "(?<=a)b", "(a)\\1", "(", "a)", "[", "a**", "a{1001}", "\\8", "\\Qa"];

/** Balanced only inside the group that Prometheus puts around an expression, where they loosen its anchors. */
const unanchored = ["a)|(b", "a)|(?:b", "a)(?m", "a)|b|(c", ")|("];

const atoms = [
  "a",
  "b",
  "c",
  "1",
  ":",
  ";",
  "_",
  "é",
  "日",
  "😀",
  ".",
  "[a-c]",
  "[^a]",
  "[^:;]",
  "[[:alpha:]]",
  "[[:^digit:]]",
  "[\\d_]",
  "\\d",
  "\\D",
  "\\w",
  "\\W",
  "\\s",
  "\\S",
  "\\pL",
  "\\p{Greek}",
  "\\PL",
  "\\x61",
  "\\x{1F600}",
  "\\n",
  "\\.",
  "\\b",
  "\\B",
  "^",
  "$",
  "\\A",
  "\\z",
  "\\Qa.\\E",
];

const quantifiers = ["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{1,2}?"];
const openings = ["(", "(", "(?:", "(?P<", "(?<", "(?i:", "(?s:", "(?-s:", "(?U:", "(?m:", "(?im-s:"];

export function randomRegex(random: Random): string {
  if (random.chance(0.45)) return random.pick(usual);
  if (random.chance(0.03)) return random.pick(refused);
  if (random.chance(0.03)) return random.pick(unanchored);
  return (random.chance(0.05) ? random.pick(["(?i)", "(?U)", "(?m)", "(?-s)"]) : "") + alternation(random, 0);
}

function alternation(random: Random, depth: number): string {
  const branches = [sequence(random, depth)];
  while (random.chance(0.25)) branches.push(sequence(random, depth));
  return branches.join("|");
}

function sequence(random: Random, depth: number): string {
  return random.several(4, () => piece(random, depth)).join("");
}

function piece(random: Random, depth: number): string {
  const nested = depth < 3 && random.chance(0.3);
  const part = nested ? group(random, depth) : random.pick(atoms);
  return random.chance(0.35) ? part + random.pick(quantifiers) : part;
}

/** Names are random, so that hardly any expression has one twice: Prometheus takes that, and re2js does not. */
function group(random: Random, depth: number): string {
  const opening = random.pick(openings);
  const name = opening.endsWith("<") ? `${random.pick(["name", "rest"])}${depth}_${random.below(1e6)}>` : "";
  return `${opening}${name}${alternation(random, depth + 1)})`;
}
