import { readFile } from "node:fs/promises";

/** How names are looked up: what `/etc/resolv.conf` says. */
export interface NameServers {
  /** Addresses, with a port if it is not 53. */
  readonly servers: readonly string[];
  /** Domains that are appended to names. */
  readonly search: readonly string[];
  /** A name with fewer dots is tried with the search domains first. */
  readonly ndots: number;
}

export async function readNameServers(path = "/etc/resolv.conf"): Promise<NameServers> {
  const lines = (await readFile(path, "utf8")).split("\n").map((line) =>
    line
      .replace(/[#;].*$/, "")
      .trim()
      .split(/\s+/),
  );
  const valuesOf = (keyword: string) => lines.filter(([first]) => first === keyword).map(([, ...values]) => values);
  const ndots = valuesOf("options")
    .flat()
    .findLast((option) => option.startsWith("ndots:"));
  return {
    servers: valuesOf("nameserver").flatMap(([server]) => (server === undefined ? [] : [server])),
    search: [...valuesOf("search"), ...valuesOf("domain")].at(0) ?? [],
    ndots: ndots === undefined ? 1 : Math.min(15, Number.parseInt(ndots.slice("ndots:".length), 10) || 0),
  };
}

/** The full names that a name can mean, in the order in which they are asked for. */
export function fullNames(name: string, { search, ndots }: NameServers): readonly string[] {
  if (name.endsWith(".")) return [name.slice(0, -1)];
  const searched = search.map((domain) => `${name}.${domain.replace(/\.$/, "")}`.replace(/\.$/, ""));
  const dots = name.split(".").length - 1;
  return dots >= ndots ? [name, ...searched] : [...searched, name];
}
