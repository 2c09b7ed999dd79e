import { useEffect, useState } from "preact/hooks";

/**
 * Where in the dashboard the reader is: `#/decisions?reason=Low`. After the hash, so that any path in front of the page
 * works.
 */
export interface Route {
  readonly page: string;
  readonly query: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?");
  return { page: path, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** The link to a place; what is empty is left out. */
export function routeLink(page: string, query: Readonly<Record<string, string>> = {}): string {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
  return `#/${page}${parameters.size > 0 ? `?${parameters.toString()}` : ""}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

/** Changes the query of this place without a step in the history for each key. */
export function replaceQuery(page: string, query: Readonly<Record<string, string>>): void {
  history.replaceState(null, "", routeLink(page, query));
  dispatchEvent(new HashChangeEvent("hashchange"));
}
