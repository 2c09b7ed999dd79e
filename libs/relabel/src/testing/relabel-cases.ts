import type { Labels } from "../labels.ts";
import type { RelabelRule, ScrapeJob } from "../relabelling.ts";
import { Random } from "./random.ts";
import { randomRegex } from "./random-regex.ts";

/** A discovered target of a job, to be relabelled by us and by Prometheus. */
export interface RelabelCase {
  readonly job: ScrapeJob;
  readonly group: Labels;
  readonly target: Labels;
}

/** The same cases for the same seed, each possible in Prometheus, most of them with a job that it accepts. */
export function relabelCases(seed: number, count: number): RelabelCase[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => (random.chance(0.05) ? collidingCase(random) : mixedCase(random)));
}

const names = [
  "a",
  "b",
  "c",
  "a.b",
  "ab",
  "A",
  "é",
  "日本",
  "😀",
  "\uff5e",
  "__proto__",
  "constructor",
  "__tmp",
  "__meta_a",
  "__meta_b",
  "__meta_kubernetes_namespace",
  "__meta_kubernetes_pod_label_app",
  "__meta_kubernetes_pod_container_port_number",
];
const ownNames = [
  "job",
  "instance",
  "__address__",
  "__scheme__",
  "__metrics_path__",
  "__scrape_interval__",
  "__scrape_timeout__",
  "__param_module",
  "__convert_classic_histograms_to_nhcb__",
  "__always_scrape_classic_histograms__",
  "__scrape_native_histograms__",
];
const values = [
  "",
  "a",
  "b",
  "ab",
  "true",
  "aaaa",
  "a;b",
  "a:1",
  "a\nb",
  "a.b",
  "\n",
  "80",
  "10.0.0.1",
  "10.0.0.1:80",
  "[::1]:9100",
  "host/path",
  "Straße",
  "İstanbul ı",
  "ΑΣ ὀδός ᾳ",
  "ǆ ŉ ﬁ",
  "日本:1",
  "😀",
  "$1",
  "${1}",
  " ",
];
const durations = [
  "30s",
  "1m",
  "1m30s",
  "90s",
  "5m",
  "0",
  "0s",
  "1h",
  "1d",
  "2w",
  "1y",
  "100ms",
  "1m1h",
  "10",
  "s",
  "-1s",
  "",
  "999999999999y",
];
const flags = ["true", "false", "1", "T", "yes", "TRUE", "truE", "0"];
const templates = [
  "$1",
  "${1}",
  "$1",
  "$2",
  "x",
  "",
  "$0",
  "$1x",
  "${1}x",
  "$$",
  "$",
  "${",
  "${}",
  "$2:$1",
  "$name",
  "${name}_$rest",
  "$1é",
  "$01",
  "$999999999",
  "a b",
  "$1:$2",
  "x$",
  "${1",
  "$$1",
];
const nameTemplates = [
  "a",
  "b",
  "c",
  "new",
  "a.b",
  "__tmp",
  "__meta_new",
  "$1",
  "${1}_x",
  "x_$1",
  "$2",
  "1a",
  "$name",
  "a b",
  "a$",
  "$1.$2",
  "é",
  "__proto__",
  "job",
  "instance",
];
const actions = [
  "replace",
  "replace",
  "replace",
  "keep",
  "drop",
  "keepequal",
  "dropequal",
  "hashmod",
  "labelmap",
  "labeldrop",
  "labelkeep",
  "lowercase",
  "uppercase",
];
const separators = [";", "", ":", "-", "é", "$", "\n"];
const moduli = [1, 2, 3, 10, 1000, 4294967296, 9007199254740991, 18446744073709551615n, 9223372036854775808n];

function mixedCase(random: Random): RelabelCase {
  const scheme = random.chance(0.5) ? "utf8" : "legacy";
  const target = randomLabels(random, 5);
  if (random.chance(0.93))
    target.set(
      "__address__",
      random.pick(["10.0.0.1:80", "10.0.0.1:80", "host", "a:1", "日本:1", "日本:1", "http://a/"]),
    );
  return {
    job: { ...randomJob(random), names: scheme, rules: random.several(6, () => randomRule(random)) },
    group: randomLabels(random, 5),
    target,
  };
}

function randomJob(random: Random): Omit<ScrapeJob, "names" | "rules"> {
  const rare = random.chance(0.05);
  return {
    jobName: random.pick(["app", "a", "serviceMonitor/a/b/0"]),
    scheme: random.pick(["http", "https"]),
    metricsPath: random.pick(["/metrics", "/", "/probe"]),
    scrapeInterval: rare
      ? random.pick(durations.filter((text) => text !== "0" && text !== "0s"))
      : random.pick(["60s", "1m30s", "5m"]),
    scrapeTimeout: rare ? random.pick(["10s", "100ms", "10m"]) : "10s",
    params: new Map(
      random.several(2, () => [
        random.pick(["module", "a", "é", "target"]),
        random.several(2, () => random.pick(values)),
      ]),
    ),
    convertClassicHistograms: random.chance(0.5),
    alwaysScrapeClassicHistograms: random.chance(0.5),
    scrapeNativeHistograms: random.chance(0.5),
  };
}

function randomLabels(random: Random, most: number): Map<string, string> {
  return new Map(random.several(most, () => randomLabel(random)));
}

function randomLabel(random: Random): [string, string] {
  return random.chance(0.12) ? ownLabel(random) : [random.pick(names), random.pick(values)];
}

/** One of the labels that Prometheus reads, often with a value that it accepts. */
function ownLabel(random: Random): [string, string] {
  const name = random.pick(ownNames);
  if (random.chance(0.1)) return [name, random.pick(values)];
  if (name.endsWith("interval__") || name.endsWith("timeout__")) return [name, random.pick(durations)];
  return [name, random.pick(name.includes("histograms") ? flags : values)];
}

function randomRule(random: Random): RelabelRule {
  const action = random.pick(actions);
  switch (action) {
    case "labelmap":
      return labelMapRule(random);
    case "labeldrop":
    case "labelkeep":
      return { action: spelled(random, action), regex: nameRegex(random, action), ...oddity(random) };
    case "keepequal":
    case "dropequal":
      return {
        action: spelled(random, action),
        ...sources(random),
        target_label: randomName(random),
        ...oddity(random),
      };
    case "replace":
      return random.chance(0.2) ? ownRule(random) : replaceRule(random, action);
    default:
      return replaceRule(random, action);
  }
}

function replaceRule(random: Random, action: string): RelabelRule {
  const takesTarget = !["keep", "drop"].includes(action);
  const takesTemplate = action === "replace";
  return {
    ...(action === "replace" && random.chance(0.5) ? {} : { action: spelled(random, action) }),
    ...(random.chance(0.9) ? sources(random) : {}),
    ...(random.chance(0.2) ? { separator: random.pick(separators) } : {}),
    ...(random.chance(0.8) ? { regex: randomRegex(random) } : {}),
    ...(action === "hashmod" ? { modulus: random.pick(moduli) } : {}),
    ...(takesTarget ? { target_label: takesTemplate ? random.pick(nameTemplates) : randomName(random) } : {}),
    ...(takesTemplate && random.chance(0.8) ? { replacement: random.pick(templates) } : {}),
    ...oddity(random),
  };
}

/** Sets a label that Prometheus reads. */
function ownRule(random: Random): RelabelRule {
  const [target_label, replacement] = ownLabel(random);
  return { target_label, replacement };
}

/** Gives each label a name of its own: which of two labels with the same new name wins is random in Prometheus. */
function labelMapRule(random: Random): RelabelRule {
  const [regex, replacement] = random.pick([
    ["__meta_(.+)", "$1"],
    ["__meta_kubernetes_(.+)", "k8s_$1"],
    ["(.+)", "x_$1"],
    ["(.*)", "$1.x"],
    ["(.)(.*)", "$2$1"],
    ["a(.*)", "${1}"],
    ["(?P<name>.+)", "${name}_y"],
    [undefined, "$1"],
    [undefined, "$0$$"],
    [randomRegex(random), "p_$0"],
    [randomRegex(random), "${0}q"],
  ]);
  return {
    action: spelled(random, "labelmap"),
    ...(regex === undefined ? {} : { regex }),
    ...(replacement === "$1" && random.chance(0.3) ? {} : { replacement }),
    ...(random.chance(0.05) ? { replacement: random.pick(["1-$0", "a b$0"]) } : {}),
    ...(random.chance(0.05) ? { source_labels: ["a"], separator: "-", target_label: "1", modulus: 3 } : {}),
  };
}

/** Expressions that leave most targets their address. */
function nameRegex(random: Random, action: string): string {
  if (random.chance(0.3)) return randomRegex(random);
  return action === "labelkeep"
    ? random.pick(["__(address|scheme|metrics_path|scrape_.*)__|a.*", "[^m]*", "__.*__|job", "(?i)[a_].*"])
    : random.pick(["a", "__meta_.*", "[a-z]", "\\pL+", "job|instance", "__param_.*", "(?i)A"]);
}

function sources(random: Random): RelabelRule {
  return { source_labels: random.several(3, () => randomName(random)) };
}

function randomName(random: Random): string {
  return random.chance(0.2) ? random.pick(ownNames) : random.pick(names);
}

function spelled(random: Random, action: string): string {
  return random.chance(0.1) ? action.toUpperCase() : action;
}

/** Now and then a field that the action refuses or does not read. */
function oddity(random: Random): RelabelRule {
  if (random.chance(0.97)) return {};
  return random.pick<RelabelRule>([
    { separator: "-" },
    { separator: ";" },
    { regex: "(.*)" },
    { regex: "" },
    { modulus: 5 },
    { replacement: "$1" },
    { replacement: "y" },
    { target_label: "" },
    { target_label: "a-b" },
    { source_labels: [] },
    { source_labels: [""] },
    { action: "keepme" },
    { action: "" },
  ]);
}

/** Labels of different origin that a rule maps to the same name: here Prometheus has an order. */
function collidingCase(random: Random): RelabelCase {
  const digits = [0, 1, 2, 3, 4, 5].sort(() => random.next() - 0.5);
  const [ofTarget, ofGroup, ofSeed, ofRule, ofNextRule] = digits.map((digit) => `x${digit}`);
  const changes = random.several(4, () => ({
    target_label: random.pick([ofTarget, ofGroup, ofRule, ofNextRule, `__param_${ofSeed}`]) ?? "",
    replacement: random.pick(["", "changed", "again"]),
  }));
  return {
    job: {
      ...randomJob(random),
      params: new Map([[ofSeed ?? "", ["seed"]]]),
      names: "utf8",
      rules: [...changes, { action: "labelmap", regex: "(?:__param_)?x\\d", replacement: "winner" }],
    },
    group: new Map([[ofGroup ?? "", "group"]]),
    target: new Map([
      ["__address__", "a:1"],
      [ofTarget ?? "", "target"],
    ]),
  };
}
