import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  bindPortKind,
  booleanKind,
  bytesKind,
  choiceKind,
  durationKind,
  integerKind,
  type Kind,
  listKind,
  portKind,
  textKind,
  urlKind,
} from "./kinds.ts";
import { durationText } from "./show.ts";

/** What every object has, and a text must not be taken for. */
const inherited = ["constructor", "__proto__", "toString", "valueOf", "hasOwnProperty"];

const cases: readonly {
  readonly kind: Kind<unknown>;
  readonly takes: Readonly<Record<string, unknown>>;
  readonly refuses: readonly string[];
}[] = [
  { kind: textKind, takes: { a: "a", " ": " ", "a\nb": "a\nb" }, refuses: [""] },
  {
    kind: booleanKind,
    takes: { true: true, false: false, TRUE: true, False: false, "1": true, "0": false },
    refuses: ["", "yes", "on", "2", " true", "truee", ...inherited],
  },
  {
    kind: choiceKind(["info", "warn"]),
    takes: { info: "info", warn: "warn" },
    refuses: ["", "Info", "inf", ...inherited],
  },
  {
    kind: integerKind(-5, 100),
    takes: { "0": 0, "100": 100, "-5": -5, "007": 7 },
    refuses: ["", "101", "-6", "1.5", "1e1", "0x10", "+1", " 1", "1 ", "NaN", "Infinity", "9".repeat(16)],
  },
  {
    kind: bindPortKind,
    takes: { "8080": 8080, ":8080": 8080, "0.0.0.0:8080": 8080, "[::]:8080": 8080 },
    refuses: ["127.0.0.1:8080", "localhost:8080", ":", ":http", ":65536"],
  },
  { kind: portKind, takes: { "0": 0, "8080": 8080, "65535": 65_535 }, refuses: ["65536", "-1", "http", ":80"] },
  {
    kind: durationKind,
    takes: {
      "0": 0,
      "0s": 0,
      "250ms": 250,
      "30s": 30_000,
      "1.5s": 1500,
      "2m": 120_000,
      "1h30m": 5_400_000,
      "1h1h": 7_200_000,
      "7d": 604_800_000,
    },
    refuses: ["", "1", "30", "s", "-1s", "1 s", "1S", ".5s", "1.s", "1us", "1e3s", "1s ", "1h30", "NaNs", "Infinitys"],
  },
  {
    kind: bytesKind,
    takes: {
      "0": 0,
      "65536": 65_536,
      "64Mi": 67_108_864,
      "1.5Gi": 1_610_612_736,
      "500k": 500_000,
      "16.1k": 16_100,
      "1.1M": 1_100_000,
      "0.5": 1,
      "1Ti": 1_099_511_627_776,
      "999999999999999": 999_999_999_999_999,
    },
    refuses: ["", "-1", "1 Mi", "64mi", "64MB", "Mi", "1e3", "0x10", "9".repeat(16), "999999999999999Ti"],
  },
  {
    kind: urlKind,
    takes: { "http://a": new URL("http://a/"), "https://u:p@b:1/c?d": new URL("https://u:p@b:1/c?d") },
    refuses: [
      "",
      "a",
      "a:9090",
      "//a",
      "ftp://a",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "http://",
      "http://a b",
    ],
  },
  {
    kind: listKind,
    takes: { "": [], a: ["a"], "a,b": ["a", "b"], " a , ,b,": ["a", "b"], "a b": ["a b"] },
    refuses: [],
  },
];

describe.each(cases.map(({ kind, ...rest }) => ({ name: kind.name, kind, ...rest })))("a $name", (row) => {
  const { kind, takes, refuses } = row;
  test.each(Object.entries(takes))("takes %j", (text, value) => {
    expect(kind.parse(text)).toEqual(value);
  });

  if (refuses.length > 0) {
    test.each(refuses)("refuses %j", (text) => {
      expect(kind.parse(text)).toBeUndefined();
    });
  }

  test("never throws, and what it takes is never NaN or infinite", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.stringMatching(/^[-+\d.eE]{0,12}(ms|s|m|h|d|k|Ki|Mi|Ti)?$/),
    );
    fc.assert(
      fc.property(text, (given) => {
        const value = kind.parse(given);
        if (typeof value === "number") expect(Number.isFinite(value)).toBe(true);
      }),
    );
  });
});

test("a duration of whole milliseconds comes back from its text", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000 * 366 * 86_400_000 }), (milliseconds) => {
      expect(durationKind.parse(durationText(milliseconds))).toBe(milliseconds);
    }),
  );
});

test("a duration with a fraction comes back from its text to the nanosecond", () => {
  const amount = fc.tuple(fc.nat(999_999), fc.nat(999_999)).map(([whole, part]) => `${whole}.${part}`);
  fc.assert(
    fc.property(amount, fc.constantFrom("ms", "s", "m"), (number, unit) => {
      const milliseconds = durationKind.parse(number + unit) ?? NaN;
      const again = durationKind.parse(durationText(milliseconds)) ?? NaN;
      expect(Math.abs(again - milliseconds)).toBeLessThanOrEqual(1e-6 + milliseconds * Number.EPSILON * 2);
    }),
  );
});

test("a size is exact in every unit, rounded up to whole bytes", () => {
  const units = { k: 1000n, M: 1000n ** 2n, G: 1000n ** 3n, Ki: 1024n, Mi: 1024n ** 2n, Gi: 1024n ** 3n } as const;
  fc.assert(
    fc.property(
      fc.nat(999),
      fc.nat(999_999_999),
      fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])),
      (whole, fraction, unit) => {
        const billionths = (BigInt(whole) * 1_000_000_000n + BigInt(fraction)) * units[unit];
        const exact = (billionths + 999_999_999n) / 1_000_000_000n;
        const text = `${whole}.${String(fraction).padStart(9, "0")}${unit}`;
        expect(bytesKind.parse(text)).toBe(Number(exact));
      },
    ),
  );
});

test("a size comes back from its number", () => {
  fc.assert(
    fc.property(
      fc.maxSafeNat().filter((bytes) => bytes < 1e15),
      (bytes) => {
        expect(bytesKind.parse(String(bytes))).toBe(bytes);
      },
    ),
  );
});
