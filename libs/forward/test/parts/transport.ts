import type { OriginTls } from "../../src/index.ts";
import { Authority, type Pair } from "./authority.ts";

/** How an upstream of a test is reached. */
export interface Transport {
  /** The upstream's certificate; none in plain text. */
  readonly server?: Pair;
  /** What the forwarder needs to reach it. */
  readonly tls?: OriginTls;
}

/** In plain text, and over TLS with a client certificate. */
export function transports(): readonly [name: string, transport: Transport][] {
  using authority = new Authority();
  const tls = { id: "test", ca: authority.cert, ...authority.issue("forwarder") };
  return [
    ["in plain text", {}],
    ["over TLS", { server: authority.issue(), tls }],
  ];
}
