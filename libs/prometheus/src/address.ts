import type { Credentials } from "./credentials.ts";

/** Where a server is, taken apart so that nothing secret is left in what people see. */
export interface ServerAddress {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Where its queries go, below the prefix that the address has. */
  readonly path: string;
  /** What the address asks for besides, such as `tenant=a`; without a question mark. */
  readonly parameters: string;
  /** User and password of the address, if it has them. */
  readonly user: Credentials | undefined;
  /** For names and messages: without credentials and parameters. */
  readonly shown: string;
}

/** Characters that an address may have. */
const LONGEST = 2048;

/** Nothing for what is no http or https URL, or none that anybody would write. */
export function parseAddress(address: string): ServerAddress | undefined {
  if (address.length > LONGEST) return undefined;
  const url = URL.parse(address.trim());
  if (url === null || !["http:", "https:"].includes(url.protocol)) return undefined;
  const prefix = url.pathname.replace(/\/+$/, "");
  return {
    origin: url.origin,
    path: `${prefix}/api/v1/query`,
    parameters: url.search.slice(1),
    user:
      url.username === "" && url.password === ""
        ? undefined
        : { name: decoded(url.username), password: decoded(url.password) },
    shown: url.origin + prefix,
  };
}

/** A percent sign that begins no escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
