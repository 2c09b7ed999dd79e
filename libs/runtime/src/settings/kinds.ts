/** How the text of a setting becomes a value. */
export interface Kind<T> {
  /** What stands for the value in help: `--interval <duration>`. */
  readonly name: string;
  /** What the text must look like, as a fault says it: "… is not " + `takes`. */
  readonly takes: string;
  /** The value, or nothing when the text is not of this kind. */
  parse(text: string): T | undefined;
}

/** Text that is not empty. */
export const textKind: Kind<string> = { name: "text", takes: "a text", parse: (text) => text || undefined };

export function choiceKind<const Choice extends string>(choices: readonly Choice[]): Kind<Choice> {
  return {
    name: choices.join("|"),
    takes: `one of ${choices.join(", ")}`,
    parse: (text) => choices.find((choice) => choice === text),
  };
}

export const booleanKind: Kind<boolean> = {
  name: "boolean",
  takes: "true or false",
  parse: (text) => {
    const lower = text.toLowerCase();
    if (lower === "true" || lower === "1") return true;
    return lower === "false" || lower === "0" ? false : undefined;
  },
};

export function integerKind(least: number, most: number): Kind<number> {
  return {
    name: "integer",
    takes: `a whole number from ${least} to ${most}`,
    parse: (text) =>
      /^-?\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined,
  };
}

/** A TCP port. 0 asks the system for a free one. */
export const portKind: Kind<number> = { ...integerKind(0, 65_535), name: "port", takes: "a port from 0 to 65535" };

/**
 * The port of a bind address in Go's notation, on all addresses: `:8080`, `0.0.0.0:8080`, `[::]:8080`. A port alone
 * works too.
 */
export const bindPortKind: Kind<number> = {
  name: "port",
  takes: "a port such as 8080 or :8080 (--listen-host sets the address)",
  parse: (text) => portKind.parse(text.replace(/^(0\.0\.0\.0|\[::\])?:/, "")),
};

const millisecondsIn: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A span of time in Go's notation ("1h30m", "250ms"), in milliseconds. */
export const durationKind: Kind<number> = {
  name: "duration",
  takes: "a duration such as 250ms, 30s or 1h30m",
  parse: (text) => {
    if (text === "0") return 0;
    if (!/^(\d{1,9}(\.\d{1,9})?(ms|s|m|h|d))+$/.test(text)) return undefined;
    let total = 0;
    for (const [, amount, unit] of text.matchAll(/([\d.]+)([a-z]+)/g))
      total += Number(amount) * (millisecondsIn[unit ?? ""] ?? NaN);
    return total;
  },
};

/** A duration above 0. A number without a unit is in seconds, as some originals write their intervals. */
export const intervalKind: Kind<number> = {
  name: "duration",
  takes: "a duration above 0 such as 250ms, 30s or 1h30m, or a number of seconds",
  parse: (text) => {
    const milliseconds = durationKind.parse(/^\d+$/.test(text) ? `${text}s` : text);
    return milliseconds === 0 ? undefined : milliseconds;
  },
};

const bytesIn: Readonly<Record<string, bigint>> = {
  k: 10n ** 3n,
  M: 10n ** 6n,
  G: 10n ** 9n,
  T: 10n ** 12n,
  Ki: 2n ** 10n,
  Mi: 2n ** 20n,
  Gi: 2n ** 30n,
  Ti: 2n ** 40n,
};

/** A size in Kubernetes' notation ("64Mi", "1.5Gi", "500k"), in whole bytes, rounded up. */
export const bytesKind: Kind<number> = {
  name: "bytes",
  takes: "a size such as 65536, 64Mi or 1.5Gi",
  parse: (text) => {
    const [, whole, fraction = "", unit = ""] = /^(\d{1,15})(?:\.(\d{1,9}))?(k|M|G|T|Ki|Mi|Gi|Ti)?$/.exec(text) ?? [];
    if (whole === undefined) return undefined;
    // Exact, as Kubernetes counts: in binary fractions 16.1k would be a byte more than 16100.
    const scale = 10n ** BigInt(fraction.length);
    const bytes = Number((BigInt(whole + fraction) * (bytesIn[unit] ?? 1n) + scale - 1n) / scale);
    return Number.isSafeInteger(bytes) ? bytes : undefined;
  },
};

/** An absolute http or https URL. */
export const urlKind: Kind<URL> = {
  name: "url",
  takes: "an http:// or https:// URL",
  parse: (text) => {
    const url = URL.parse(text);
    return url && ["http:", "https:"].includes(url.protocol) ? url : undefined;
  },
};

/** Comma-separated texts; empty ones are left out. */
export const listKind: Kind<readonly string[]> = {
  name: "list",
  takes: "a list such as a,b,c",
  parse: (text) =>
    text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== ""),
};
