import { lookup as systemLookup } from "node:dns";
import type { Clock } from "@evenkeel/runtime";
import { Agent, type Dispatcher, request } from "undici";
import type { GroupSink } from "../target-group.ts";
import { readConfined } from "./confined-file.ts";
import type { HttpBlock, HttpTls, SecretText } from "./discovery-block.ts";
import { forbiddenMessage, guardedLookup, isForbidden, type Lookup } from "./forbidden-address.ts";
import { jsonGroups, LARGEST_DOCUMENT } from "./group-document.ts";
import { type Reading, RefreshedSource } from "./refreshed-source.ts";
import type { Discovery } from "./start-discovery.ts";

const CONTENT_TYPE = /^application\/json(?:;\s*charset=(?:"utf-8"|utf-8))?$/i;

export interface HttpParts {
  readonly clock: Clock;
  /** The folder below which files of credentials may be read. */
  readonly files?: string | undefined;
  readonly lookup?: Lookup | undefined;
  /** Whether it must not connect to an IP address; tests serve on their own machine. */
  readonly isForbidden?: ((address: string) => boolean) | undefined;
}

/**
 * Asks an HTTP server for target groups. Redirects are not followed, and this machine and link-local addresses are not
 * reached.
 */
export function httpDiscovery(block: HttpBlock, sink: GroupSink, parts: HttpParts): Discovery {
  const read = (signal: AbortSignal) => ask(block, parts, signal);
  return new RefreshedSource({ interval: block.refreshInterval, read, sink, clock: parts.clock });
}

/** A connection of its own for each request: they are rare, and credentials and certificates may change meanwhile. */
async function ask(block: HttpBlock, parts: HttpParts, signal: AbortSignal): Promise<Reading> {
  const { url, refreshInterval } = block;
  const { isForbidden: isBad = isForbidden, lookup = systemLookup } = parts;
  const { hostname } = new URL(url);
  if (isBad(hostname.replace(/^\[(.*)\]$/, "$1"))) throw new Error(forbiddenMessage(hostname));
  const read = (secret: SecretText) => readSecret(secret, parts.files);
  const headers = await headersOf(block, read);
  const connect = { ...(await tlsOf(block.tls, read)), lookup: guardedLookup(lookup, isBad) };
  // The signal ends a request that takes too long.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: refreshInterval };
  const dispatcher = new Agent({ connect, ...timeouts, maxResponseSize: LARGEST_DOCUMENT });
  try {
    const response = await request(url, { dispatcher, signal, headers });
    return { groups: jsonGroups(await bodyOf(response), url, "__meta_url") };
  } finally {
    await dispatcher.destroy();
  }
}

/** Messages name no content: it may come from a server that the author of the configuration cannot read. */
async function bodyOf({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<string> {
  if (statusCode !== 200) throw new Error(`the server answered with status ${statusCode}`);
  const type = String(headers["content-type"] ?? "").trim();
  if (!CONTENT_TYPE.test(type)) throw new Error("the server's answer does not have the content type application/json");
  const text = await body.text();
  try {
    JSON.parse(text);
  } catch {
    throw new Error("the server's answer is not JSON");
  }
  return text;
}

type Read = (secret: SecretText) => Promise<string>;

async function headersOf(block: HttpBlock, read: Read): Promise<Record<string, string[] | string>> {
  const { headers, basicAuth, authorization, refreshInterval } = block;
  const named: Record<string, string[] | string> = {};
  for (const { name, values } of headers) named[name.toLowerCase()] = await Promise.all(values.map(read));
  named["accept"] = "application/json";
  named["user-agent"] = "collector-scheduler";
  named["x-prometheus-refresh-interval-seconds"] = String(refreshInterval / 1000);
  if (basicAuth) {
    const [username, password] = await Promise.all([read(basicAuth.username), read(basicAuth.password)]);
    named["authorization"] = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  }
  if (authorization) named["authorization"] = `${authorization.type} ${await read(authorization.credentials)}`;
  return named;
}

async function tlsOf(tls: HttpTls, read: Read) {
  const text = async (secret: SecretText | undefined) => (secret ? await read(secret) : undefined);
  const [ca, cert, key] = await Promise.all([text(tls.ca), text(tls.cert), text(tls.key)]);
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
    ...(tls.minVersion !== undefined && { minVersion: tls.minVersion }),
    ...(tls.maxVersion !== undefined && { maxVersion: tls.maxVersion }),
    rejectUnauthorized: !tls.insecureSkipVerify,
  };
}

/** Files of secrets often end with a line break, which is no part of the secret. */
async function readSecret(secret: SecretText, folder: string | undefined): Promise<string> {
  return "text" in secret ? secret.text : (await readConfined(secret.file, folder)).trim();
}
