/** Another service that the dashboard shows. */
export interface PeerAddress {
  readonly name: string;
  /** Base URL of its admin port, without a slash at the end. */
  readonly url: string;
  /** Where a browser finds its dashboard. */
  readonly dashboard: string;
}

export interface PeerList {
  readonly peers: readonly PeerAddress[];
  /** Entries that cannot be meant, one line each. */
  readonly faults: readonly string[];
}

/** Each open page causes one request to each of them. */
const MOST_PEERS = 50;

/** Reads `name=url` entries of `--dashboard-peers` and `--dashboard-links`. */
export function parsePeers(entries: readonly string[], links: readonly string[]): PeerList {
  const faults: string[] = [];
  const urls = read("--dashboard-peers", entries, faults);
  const pages = read("--dashboard-links", links, faults);
  for (const name of pages.keys()) {
    if (!urls.has(name)) faults.push(`--dashboard-links names ${name}, which is not in --dashboard-peers`);
  }
  if (urls.size > MOST_PEERS) faults.push(`--dashboard-peers accepts at most ${MOST_PEERS} peers`);
  const peers = [...urls].map(([name, url]) => ({
    name,
    url,
    dashboard: pages.get(name) ?? `${url}/dashboard/`,
  }));
  return { peers, faults };
}

function read(flag: string, entries: readonly string[], faults: string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of entries) {
    const [, name, text] = /^([a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?)=(.+)$/.exec(entry) ?? [];
    const url = text === undefined ? null : URL.parse(text);
    if (name === undefined || !url || !["http:", "https:"].includes(url.protocol)) {
      faults.push(`${flag} must be name=url, such as planner=http://planner:8080; an entry is not`);
    } else if (url.username || url.password || url.search || url.hash) {
      faults.push(`${flag} must be a URL without a user, a query or a fragment; that of ${name} has one`);
    } else if (found.has(name)) {
      faults.push(`${flag} names ${name} twice`);
    } else {
      found.set(name, flag === "--dashboard-peers" ? url.href.replace(/\/+$/, "") : url.href);
    }
  }
  return found;
}
