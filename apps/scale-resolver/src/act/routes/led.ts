/** Where requests are led instead of their Service. */
export interface Detour {
  /** The Service that is stood in for. */
  readonly namespace: string;
  readonly service: string;
  /** The resolver's own Service. */
  readonly resolver: { readonly namespace: string; readonly name: string; readonly port: number };
}

/** What a place of a route led to before, so that it can be put back. */
export interface Was {
  /** The indexes that lead to it: of the rule, and of the destination within it. */
  readonly at: readonly [rule: number, destination: number];
  readonly was: unknown;
}

/** A part of a route, with what it led to before. */
export interface Led<Rules> {
  readonly rules: Rules;
  readonly was: readonly Was[];
}

/** Tells the resolver which Service a request is for, whatever host it was sent to. */
export const SERVICE_HEADER = "x-evenkeel-service";

/** The value of that header: `checkout.shop`, with the port if it is known. */
export function headerValue({ namespace, service }: Detour, port: number | undefined): string {
  return `${service}.${namespace}${port === undefined ? "" : `:${port}`}`;
}
