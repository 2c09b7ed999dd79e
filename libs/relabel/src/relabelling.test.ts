import { describe, expect, test } from "@jest/globals";

import fc from "fast-check";
import { relabelling, type RelabelRule, type ScrapeJob } from "./index.ts";

const job: ScrapeJob = {
  jobName: "app",
  scheme: "http",
  metricsPath: "/metrics",
  scrapeInterval: "60s",
  scrapeTimeout: "10s",
  params: new Map([["module", ["http_2xx", "ignored"]]]),
  convertClassicHistograms: false,
  alwaysScrapeClassicHistograms: false,
  scrapeNativeHistograms: true,
  names: "utf8",
  rules: [],
};

const seeds = {
  __address__: "10.0.0.1:80",
  __always_scrape_classic_histograms__: "false",
  __convert_classic_histograms_to_nhcb__: "false",
  __metrics_path__: "/metrics",
  __param_module: "http_2xx",
  __scheme__: "http",
  __scrape_interval__: "1m",
  __scrape_native_histograms__: "true",
  __scrape_timeout__: "10s",
  instance: "10.0.0.1:80",
  job: "app",
};

function compiled(rules: readonly RelabelRule[], changes: Partial<ScrapeJob> = {}) {
  const compilation = relabelling({ ...job, rules, ...changes });
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults));
  return compilation.relabelling;
}

function outcome(rules: readonly RelabelRule[], target: Record<string, string>, group: Record<string, string> = {}) {
  return compiled(rules).outcome(
    new Map(Object.entries(group)),
    new Map(Object.entries({ __address__: "10.0.0.1:80", ...target })),
  );
}

/** Labels after `rules` of a target with an address, without seeds; the kind or fault of one that is not kept. */
function after(rules: readonly RelabelRule[], target: Record<string, string> = {}, group: Record<string, string> = {}) {
  const result = outcome(rules, target, group);
  if (result.kind !== "kept") return result.kind === "invalid" ? result.fault : result.kind;
  const seedNames = new Set(Object.keys(seeds));
  return Object.fromEntries(
    [...result.labels].filter(
      ([name, value]) => !seedNames.has(name) || value !== new Map(Object.entries(seeds)).get(name),
    ),
  );
}

function refusedFields(rule: RelabelRule, names: ScrapeJob["names"] = "utf8") {
  const compilation = relabelling({ ...job, names, rules: [{ target_label: "fine" }, rule] });
  return compilation.ok ? [] : compilation.faults.map(({ field }) => field);
}

test("seeds a target with the labels of its job and sets instance", () => {
  const result = outcome([], { __meta_pod: "a" }, { __meta_namespace: "b" });
  expect(result.kind === "kept" && Object.fromEntries(result.labels)).toEqual(seeds);
});

test("names the rule that dropped a target", () => {
  const rules = [{ target_label: "x" }, { action: "keep", source_labels: ["__meta_ns"], regex: "shop" }];
  expect(outcome(rules, {}, { __meta_ns: "shop" }).kind).toBe("kept");
  expect(outcome(rules, {}, { __meta_ns: "shops" })).toEqual({ kind: "dropped", rule: 1 });
});

describe("labels that were found", () => {
  test("of the target win over those of its group", () => {
    expect(after([], { a: "target" }, { a: "group", b: "group" })).toEqual({ a: "target", b: "group" });
  });

  test("win over seeds", () => {
    expect(after([], { job: "own" }, { __scheme__: "https" })).toEqual({ job: "own", __scheme__: "https" });
  });

  test("that are empty are absent: they hide the group's, and the seed comes back", () => {
    expect(after([], { a: "", job: "" }, { a: "group", job: "group" })).toEqual({});
  });

  test("may have names of JavaScript's own", () => {
    const labels = new Map([
      ["__proto__", "a"],
      ["constructor", "b"],
      ["__address__", "x:1"],
    ]);
    const rules = [{ source_labels: ["__proto__", "constructor"], target_label: "joined" }];
    const result = compiled(rules).outcome(new Map(), labels);
    expect(result.kind === "kept" && [result.labels.get("joined"), result.labels.get("__proto__")]).toEqual([
      "a;b",
      "a",
    ]);
  });

  test("come out in the order of their UTF-8 bytes", () => {
    const result = outcome([], { "😀": "1", "\uff5e": "2", é: "3", z: "4" });
    expect(result.kind === "kept" && [...result.labels.keys()].slice(-4)).toEqual(["z", "é", "\uff5e", "😀"]);
  });
});

const from = (label: string, rule: RelabelRule) => [{ source_labels: [label], ...rule }];

test.each<[string, RelabelRule[], unknown]>([
  ["replace copies by default", from("a", { target_label: "b" }), { a: "x:1", b: "x:1" }],
  ["replace without sources sets a constant", [{ target_label: "b", replacement: "c" }], { a: "x:1", b: "c" }],
  ["an empty replacement removes the label", [{ target_label: "a", replacement: "" }], {}],
  [
    "replace without a match does nothing",
    from("a", { regex: "y", target_label: "a", replacement: "z" }),
    { a: "x:1" },
  ],
  [
    "an empty regex matches only the empty value",
    from("a", { regex: "", target_label: "a", replacement: "z" }),
    { a: "x:1" },
  ],
  ["a regex is anchored at both ends", from("a", { regex: "x", target_label: "b" }), { a: "x:1" }],
  [
    "$1x is a group of that name",
    from("a", { regex: "(.):1", target_label: "b", replacement: "-$1x" }),
    { a: "x:1", b: "-" },
  ],
  [
    "${1}x is the group and x",
    from("a", { regex: "(.):1", target_label: "b", replacement: "${1}x" }),
    { a: "x:1", b: "xx" },
  ],
  [
    "a target label may hold groups",
    from("a", { regex: "(.):(.)", target_label: "n_$1", replacement: "$2" }),
    { a: "x:1", n_x: "1" },
  ],
  [
    "an invalid name after expansion does nothing",
    from("a", { regex: "(y?).*", target_label: "$1", replacement: "z" }),
    { a: "x:1" },
  ],
  ["keep keeps", from("a", { action: "keep", regex: "x:\\d" }), { a: "x:1" }],
  ["the name of an action has any case", from("a", { action: "DROP", regex: "x.*" }), "dropped"],
  ["keepequal compares", from("a", { action: "keepequal", target_label: "b" }), "dropped"],
  ["dropequal compares", from("a", { action: "dropequal", target_label: "a" }), "dropped"],
  ["two absent labels are equal", from("b", { action: "keepequal", target_label: "c" }), { a: "x:1" }],
  ["uppercase maps code points", from("a", { action: "uppercase", target_label: "b" }), { a: "x:1", b: "X:1" }],
  [
    "hashmod takes the last eight bytes",
    from("a", { action: "hashmod", modulus: 1000, target_label: "b" }),
    { a: "x:1", b: "362" },
  ],
  ["labelmap copies", [{ action: "labelmap", regex: "(a)", replacement: "$1$1" }], { a: "x:1", aa: "x:1" }],
  [
    "labelmap makes a label without a name",
    [{ action: "labelmap", regex: "a", replacement: "$1" }],
    { a: "x:1", "": "x:1" },
  ],
  ["labeldrop removes", [{ action: "labeldrop", regex: "a|b" }], {}],
  ["labelkeep removes the others", [{ action: "labelkeep", regex: "a|__.*" }], { a: "x:1" }],
  ["labels that are removed may be needed", [{ action: "labelkeep", regex: "a" }], "NoAddress"],
  [
    "separators join",
    [{ source_labels: ["a", "b", "a"], separator: "-", target_label: "b" }],
    { a: "x:1", b: "x:1--x:1" },
  ],
])("%s", (_, rules, expected) => {
  expect(after(rules, { a: "x:1" })).toEqual(expected);
});

test("the last of several labels that labelmap copies to one name wins: target, group, seeds, rules", () => {
  const map = { action: "labelmap", regex: "x.", replacement: "y" };
  expect(after([map], { x9: "target" }, { x1: "group" })).toMatchObject({ y: "group" });
  expect(after([map], { x2: "b", x1: "a" })).toMatchObject({ y: "b" });
  expect(after([{ target_label: "x0", replacement: "rule" }, map], { x9: "target" })).toMatchObject({ y: "rule" });
  const again = [{ target_label: "x9", replacement: "" }, { target_label: "x9", replacement: "again" }, map];
  expect(after(again, { x9: "target" }, { x1: "group" })).toMatchObject({ y: "again" });
});

test.each<[string, Record<string, string>]>([
  ["NoAddress", { __address__: "" }],
  ["BadAddress", { __address__: "http://a", __scrape_interval__: "x" }],
  ["BadInterval", { __scrape_interval__: "x", __scrape_timeout__: "y" }],
  ["BadInterval", { __scrape_interval__: "0" }],
  ["BadTimeout", { __scrape_timeout__: "0s" }],
  ["TimeoutAboveInterval", { __scrape_timeout__: "2m", __scrape_native_histograms__: "maybe" }],
  ["BadHistogramFlag", { __scrape_native_histograms__: "yes" }],
  ["BadLabelValue", { a: "\ud800" }],
])("a target has the fault %s with %j", (fault, target) => {
  expect(after([], target)).toBe(fault);
});

test("a meta label may have a value that is not valid UTF-8", () => {
  expect(after([], { __meta_a: "\ud800" })).toEqual({});
});

test.each<[string, RelabelRule, string[]]>([
  ["an unknown action", { action: "keepme" }, ["action"]],
  ["hashmod without a modulus", { action: "hashmod", target_label: "a" }, ["modulus"]],
  ["a negative modulus", { action: "hashmod", target_label: "a", modulus: -1 }, ["modulus"]],
  ["replace without a target", { regex: "a" }, ["target_label"]],
  ["lowercase to a template", { action: "lowercase", target_label: "" }, ["target_label"]],
  ["lowercase with a replacement", { action: "lowercase", target_label: "a", replacement: "b" }, ["replacement"]],
  ["keepequal with a regex, be it the default", { action: "keepequal", target_label: "a", regex: "(.*)" }, ["regex"]],
  ["labeldrop with sources", { action: "labeldrop", regex: "a", source_labels: [] }, ["source_labels"]],
  ["a lookahead", { target_label: "a", regex: "(?=a)" }, ["regex"]],
  ["a backreference", { target_label: "a", regex: "(a)\\1" }, ["regex"]],
  ["a source without a name", { target_label: "a", source_labels: [""] }, ["source_labels"]],
])("refuses %s", (_, rule, fields) => {
  expect(refusedFields(rule)).toEqual(fields.map((field) => `relabel_configs[1].${field}`));
});

test("names a.b only in the scheme utf8", () => {
  expect(refusedFields({ target_label: "a.b" })).toEqual([]);
  expect(refusedFields({ target_label: "a.b" }, "legacy")).toEqual(["relabel_configs[1].target_label"]);
  expect(refusedFields({ target_label: "a_${1}$2" }, "legacy")).toEqual([]);
  expect(refusedFields({ target_label: "1$2" }, "legacy")).toEqual(["relabel_configs[1].target_label"]);
});

test("refuses durations of a job that Prometheus refuses", () => {
  const compilation = relabelling({ ...job, scrapeInterval: "1", scrapeTimeout: "x" });
  expect(!compilation.ok && compilation.faults.map(({ field }) => field)).toEqual([
    "scrape_interval",
    "scrape_timeout",
  ]);
});

test("has the labels after each rule up to the one that drops", () => {
  const rules = [
    { source_labels: ["__meta_a"], target_label: "a" },
    { action: "drop", source_labels: ["a"], regex: "x" },
    { target_label: "b" },
  ];
  const steps = compiled(rules).steps(new Map([["__meta_a", "x"]]), new Map([["__address__", "y:1"]]));
  expect(steps.map(({ rule, labels }) => [rule, labels?.get("a"), labels?.get("__meta_a")])).toEqual([
    [rules[0], "x", "x"],
    [rules[1], undefined, undefined],
  ]);
});

test("what a target becomes does not depend on the targets before it", () => {
  const rules = [
    { action: "keep", source_labels: ["g"], regex: "a|b" },
    { source_labels: ["g", "t"], regex: "(.);(.+)", target_label: "$1", replacement: "$2" },
    { action: "labelmap", regex: "(t)", replacement: "copy_$1" },
    { action: "labeldrop", regex: "a" },
  ];
  const label = fc.constantFrom("a", "b", "");
  const labels = fc
    .record({ g: label, t: label })
    .map((record) => new Map([...Object.entries(record), ["__address__", "x:1"]]));
  const shared = compiled(rules);
  fc.assert(
    fc.property(labels, labels, (group, target) => {
      expect(shared.outcome(group, target)).toEqual(compiled(rules).outcome(group, target));
    }),
  );
});

describe("rules that make long labels", () => {
  const doubling = (label: string) => ({ source_labels: [label], target_label: label, replacement: "$1$1" });

  test("make a target invalid, and the next one is relabelled as always", () => {
    const rules = Array.from({ length: 32 }, () => doubling("long"));
    expect(after(rules, { long: "abcd" })).toBe("LabelsTooLong");
    const both = compiled(rules);
    const target = (value: string) =>
      new Map([
        ["__address__", "a:1"],
        ["long", value],
      ]);
    expect(both.outcome(new Map(), target("abcd"))).toMatchObject({ fault: "LabelsTooLong" });
    expect(both.outcome(new Map(), target("")).kind).toBe("kept");
    expect(both.steps(new Map(), target("abcd")).at(-1)?.labels).toBeUndefined();
  });

  test.each([
    ["one replacement", [{ source_labels: ["long"], target_label: "x", replacement: "$1".repeat(100_000) }]],
    ["many sources", [{ source_labels: new Array<string>(100_000).fill("long"), action: "keep", regex: ".*" }]],
    ["many labels", Array.from({ length: 200 }, (_, index) => ({ ...doubling("long"), target_label: `x${index}` }))],
    [
      "a name",
      [
        { source_labels: ["long"], target_label: "$1", replacement: "x" },
        { action: "labelmap", regex: "(a+)", replacement: "$1".repeat(100_000) },
      ],
    ],
  ])("by %s make a target invalid", (_by, rules: readonly RelabelRule[]) => {
    expect(after(rules, { long: "a".repeat(5000) })).toBe("LabelsTooLong");
  });
});
