/** Redirects requests for a Service to the resolver. */
export interface Redirection {
  /** The Service that is redirected. */
  readonly namespace: string;
  readonly service: string;
  /** The resolver's own Service. */
  readonly resolver: { readonly namespace: string; readonly name: string; readonly port: number };
}

/** A destination of a route before the redirect, as the record for its restore. */
export interface FormerDestination {
  /** The redirected Service: the same route may have others. */
  readonly service: string;
  /** The index of the rule, and of the destination within it. */
  readonly at: At;
  readonly was: unknown;
}

export type At = readonly [rule: number, destination: number];

/** Part of a route after a redirect, with the destinations before it. */
export interface Redirected<Rules> {
  readonly rules: Rules;
  readonly was: readonly FormerDestination[];
}

/** Tells the resolver which Service a request is for, whatever its host. */
export const SERVICE_HEADER = "x-evenkeel-service";

/** The value of that header: `checkout.shop`, with the port if it is known. */
export function headerValue({ namespace, service }: Redirection, port: number | undefined): string {
  return `${service}.${namespace}${port === undefined ? "" : `:${port}`}`;
}

/** The port in such a value, if the value names the Service. */
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
 * The recorded destination for one that was redirected: the record at the same position if it matches, else at any
 * position.
 */
export function formerDestination<Entry>(
  was: readonly FormerDestination[],
  at: At,
  entry: Entry,
  redirection: Redirection,
  redirect: (entry: Entry) => Entry,
): Entry | undefined {
  const own = was.filter(({ service }) => service === redirection.service);
  const same = own.filter((one) => canonical(redirect(one.was as Entry)) === canonical(entry));
  const found = same.find((one) => one.at[0] === at[0] && one.at[1] === at[1]) ?? same[0];
  return found?.was as Entry | undefined;
}

/** Equal for values that differ only in the order of their fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

export function without<T extends object, Name extends keyof T>(value: T, ...names: readonly Name[]): Omit<T, Name> {
  const entries = Object.entries(value).filter(([name]) => !(names as readonly string[]).includes(name));
  return Object.fromEntries(entries) as Omit<T, Name>;
}
