import { isAbsolute, normalize, resolve, sep } from "node:path";

/**
 * How far discovery may reach for a CollectorLoadBalancer. It runs with the service's rights, not with its author's.
 */
export interface DiscoveryLimits {
  /** Of the CollectorLoadBalancer. */
  readonly namespace: string;
  /** `own`: nothing outside its namespace. */
  readonly scope: "own" | "all";
  /** The namespaces in which the service may look; all if absent or empty. */
  readonly watched?: readonly string[] | undefined;
  /** The folder below which files may be read; without it none may. */
  readonly files?: string | undefined;
}

/** The absolute path of a file that may be read, or undefined. Relative paths start at the folder. */
export function allowedPath(path: string, { files }: Pick<DiscoveryLimits, "files">): string | undefined {
  if (files === undefined) return undefined;
  const folder = resolve(files);
  const absolute = isAbsolute(path) ? normalize(path) : resolve(folder, path);
  return absolute.startsWith(folder + sep) ? absolute : undefined;
}
