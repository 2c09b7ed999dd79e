const SUFFIXES: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** A Kubernetes quantity as a number of its unit: cores, bytes, pieces. NaN if it is none, which is more than any room. */
export function quantity(value: unknown): number {
  if (typeof value === "number") return value;
  const [, digits = "", suffix = ""] =
    /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([A-Za-z]{0,2})$/.exec(typeof value === "string" ? value : "") ?? [];
  return digits === "" ? Number.NaN : Number(digits) * (SUFFIXES[suffix] ?? Number.NaN);
}
