import { BlockList, isIP, isIPv6 } from "node:net";
import type { Environment } from "./settings/index.ts";

/**
 * The proxy for requests to `server`, if any: HTTPS_PROXY or HTTP_PROXY by the server's scheme, less what NO_PROXY
 * names. As in Go, NO_PROXY holds names (with their subdomains), `.suffixes`, addresses, CIDR ranges and `*`, each but
 * the last with a port if need be, and loopback is never proxied.
 */
export function proxyFor(server: URL, env: Environment): string | undefined {
  const variable = server.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = env[variable] ?? env[variable.toLowerCase()];
  if (!proxy || isExempt(server, env["NO_PROXY"] ?? env["no_proxy"] ?? "")) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function isExempt(server: URL, noProxy: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = server.port || (server.protocol === "https:" ? "443" : "80");
  if (host === "localhost" || inRange(host, "127.0.0.0/8") || host === "::1") return true;
  return noProxy
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== "" && covers(entry, host, port));
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return inRange(host, entry);
  const [, name = entry, onlyPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(isIPv6(entry) ? `[${entry}]` : entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (isIP(name) !== 0) return host === name;
  const suffix = name.replace(/^\*?\.?/, "");
  return host.endsWith(`.${suffix}`) || (host === suffix && !name.startsWith("."));
}

function inRange(host: string, range: string): boolean {
  const [address = "", prefix = ""] = range.split("/");
  const family = isIP(host);
  if (family === 0 || isIP(address) !== family || !/^\d{1,3}$/.test(prefix)) return false;
  if (Number(prefix) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  const type = family === 4 ? "ipv4" : "ipv6";
  list.addSubnet(address, Number(prefix), type);
  return list.check(host, type);
}
