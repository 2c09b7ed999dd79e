/** Where requests are led instead of their Service. */
export interface Redirection {
  /** The Service that is stood in for. */
  readonly namespace: string;
  readonly service: string;
  /** The resolver's own Service. */
  readonly resolver: { readonly namespace: string; readonly name: string; readonly port: number };
}

/** What a place of a route led to before, so that it can be put back. */
export interface Was {
  /** The Service that it led to: others may sleep behind the same route. */
  readonly service: string;
  /** The indexes that lead to it: of the rule, and of the destination within it. */
  readonly at: At;
  readonly was: unknown;
}

export type At = readonly [rule: number, destination: number];

/** A part of a route, with what it led to before. */
export interface Redirected<Rules> {
  readonly rules: Rules;
  readonly was: readonly Was[];
}

/** Tells the resolver which Service a request is for, whatever host it was sent to. */
export const SERVICE_HEADER = "x-evenkeel-service";

/** The value of that header: `checkout.shop`, with the port if it is known. */
export function headerValue({ namespace, service }: Redirection, port: number | undefined): string {
  return `${service}.${namespace}${port === undefined ? "" : `:${port}`}`;
}

/** The port that such a value names, if it names the Service at all. */
export function namedPort(
  value: string | undefined,
  redirection: Redirection,
): { readonly port: number | undefined } | undefined {
  const name = headerValue(redirection, undefined);
  if (value === name) return { port: undefined };
  const port = value?.startsWith(`${name}:`) ? Number(value.slice(name.length + 1)) : NaN;
  return Number.isInteger(port) ? { port } : undefined;
}

/**
 * What was at a place before it was led away to what is there now, as far as `away` can tell: at the same place if somebody has not moved
 * it, else at any.
 */
export function before<Entry>(
  was: readonly Was[],
  at: At,
  entry: Entry,
  redirection: Redirection,
  away: (entry: Entry) => Entry,
): Entry | undefined {
  const own = was.filter(({ service }) => service === redirection.service);
  const same = own.filter((one) => canonical(away(one.was as Entry)) === canonical(entry));
  const found = same.find((one) => one.at[0] === at[0] && one.at[1] === at[1]) ?? same[0];
  return found?.was as Entry | undefined;
}

/** Equal for values that differ in the order of their fields only. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

/** An object without some of its fields. */
export function without<T extends object, Name extends keyof T>(value: T, ...names: readonly Name[]): Omit<T, Name> {
  const entries = Object.entries(value).filter(([name]) => !(names as readonly string[]).includes(name));
  return Object.fromEntries(entries) as Omit<T, Name>;
}
