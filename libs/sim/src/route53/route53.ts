import { type Clock, type Rate, systemClock, TokenBucket } from "@evenkeel/runtime";
import { WireFaults } from "../loopback/wire-faults.ts";
import { type LoopbackAnswer, type LoopbackRequest, LoopbackServer } from "../loopback/loopback-server.ts";
import { readChanges } from "./change.ts";
import { type RecordSet, sortKey, writeRecordSet } from "./record-set.ts";
import { invalidInput, Route53Fault } from "./route53-fault.ts";
import { element, readXml, writeXml, type XmlElement } from "./xml.ts";
import { type Effect, Zone } from "./zone.ts";

export interface Route53Options {
  readonly clock?: Clock;
  /** On loopback; a free one unless told. */
  readonly port?: number;
  /** How long a change is PENDING before it is INSYNC, in milliseconds; 30 s unless told. Lists show it at once. */
  readonly propagation?: number;
  /**
   * How long a zone is busy with a change and answers the next with PriorRequestNotComplete, in milliseconds; never
   * unless told.
   */
  readonly busy?: number;
  /**
   * The root of the answer to a batch that is refused; `ErrorResponse`, as of every other error, unless told. The API
   * uses both: https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeResourceRecordSets.html
   */
  readonly refusal?: "ErrorResponse" | "InvalidChangeBatch";
  /** Requests that the account may make; beyond it they are answered with Throttling. No limit unless told. */
  readonly rate?: Rate;
}

/** One change of one record set, as it was made. */
export interface JournalEntry extends Effect {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The zone's id without a prefix. */
  readonly zone: string;
  /** Changes of one batch share it. */
  readonly change: string;
}

interface Submitted {
  /** Wall time, in milliseconds since the epoch. */
  readonly at: number;
  /** Monotonic time of the moment it is INSYNC. */
  readonly inSync: number;
}

/** The most record sets of a page, and how many there are unless the request tells. */
const PAGE = 300;

const VERSION = "/2013-04-01/";

/** Brings up a Route 53 API in this process, on loopback. */
export async function startRoute53(options: Route53Options = {}): Promise<Route53> {
  const route53 = new Route53(options);
  await route53.listen(options.port);
  return route53;
}

export class Route53 {
  /** Latency, hangs, resets and answers of proxies, to be added and taken back. */
  readonly faults: WireFaults;
  readonly #clock: Clock;
  readonly #propagation: number;
  readonly #refusal: "ErrorResponse" | "InvalidChangeBatch";
  readonly #zones = new Map<string, Zone>();
  readonly #changes = new Map<string, Submitted>();
  readonly #busyUntil = new Map<string, number>();
  readonly #journal: JournalEntry[] = [];
  #busy: number;
  #bucket: TokenBucket | undefined;
  #server: LoopbackServer | undefined;
  #requests = 0;

  constructor({
    clock = systemClock,
    propagation = 30_000,
    busy = 0,
    rate,
    refusal = "ErrorResponse",
  }: Route53Options) {
    this.#clock = clock;
    this.#propagation = propagation;
    this.#busy = busy;
    this.#refusal = refusal;
    this.faults = new WireFaults(clock);
    this.limit(rate);
  }

  async listen(port?: number): Promise<void> {
    this.#server = await LoopbackServer.start((request) => this.#answer(request), this.faults.hook, port);
  }

  /** The endpoint for clients, such as `http://127.0.0.1:40123`. */
  get url(): string {
    if (this.#server === undefined) throw new Error("Route53 does not listen yet: use startRoute53");
    return this.#server.url;
  }

  /** Every change of a record set, the oldest first. What `addZone` put there is not among them. */
  get journal(): readonly JournalEntry[] {
    return this.#journal;
  }

  /** Throttles from now on, beginning with a full bucket; undefined ends it. */
  limit(rate: Rate | undefined): void {
    this.#bucket = rate && new TokenBucket(this.#clock, rate);
  }

  /** How long a zone is busy with each change from now on, in milliseconds. */
  keepBusy(milliseconds: number): void {
    this.#busy = milliseconds;
  }

  addZone(id: string, name: string, records: readonly RecordSet[] = []): void {
    const zone = new Zone(id, name);
    const body = records.map((record) => element("Change", [element("Action", "CREATE"), writeRecordSet(record)]));
    const batch = element("ChangeBatch", [element("Changes", body)]);
    if (records.length > 0) zone.apply(readChanges(element("ChangeResourceRecordSetsRequest", [batch])));
    this.#zones.set(id, zone);
  }

  /** The record sets of a zone in the order of lists. */
  records(id: string): readonly RecordSet[] {
    return this.#zone(id).records;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  #answer(request: LoopbackRequest): LoopbackAnswer {
    this.#requests += 1;
    const id = `request-${this.#requests}`;
    const xml = (code: number, root: XmlElement): LoopbackAnswer => ({
      ...{ code, contentType: "text/xml", body: writeXml(root) },
      headers: { "x-amzn-requestid": id },
    });
    try {
      return xml(200, this.#serve(request));
    } catch (error) {
      if (!(error instanceof Route53Fault)) throw error;
      if (error.code === this.#refusal) {
        const messages = element("Messages", [element("Message", error.message)]);
        return xml(error.status, element("InvalidChangeBatch", [messages, element("RequestId", id)]));
      }
      const parts = [element("Type", "Sender"), element("Code", error.code), element("Message", error.message)];
      return xml(error.status, element("ErrorResponse", [element("Error", parts), element("RequestId", id)]));
    }
  }

  #serve({ method, path, query, headers, body }: LoopbackRequest): XmlElement {
    if (headers.authorization === undefined)
      throw new Route53Fault("MissingAuthenticationToken", "Missing Authentication Token", 403);
    if (this.#bucket?.tryTake() === false) throw new Route53Fault("Throttling", "Rate exceeded");
    const { kind, id, records } = parsePath(path);
    if (kind === "change" && method === "GET") return this.#getChange(id);
    if (kind === "hostedzone" && records && method === "GET") return this.#list(this.#zone(id), query);
    if (kind === "hostedzone" && records && method === "POST") return this.#change(this.#zone(id), body);
    if (kind === "hostedzone" && !records && method === "GET") return getHostedZone(this.#zone(id));
    throw new Route53Fault("UnknownOperationException", `${method} ${path} is not simulated`, 404);
  }

  #zone(id: string): Zone {
    const zone = this.#zones.get(id);
    if (zone === undefined) throw new Route53Fault("NoSuchHostedZone", `No hosted zone found with ID: ${id}`, 404);
    return zone;
  }

  #list(zone: Zone, query: URLSearchParams): XmlElement {
    const [name, type, identifier] = ["name", "type", "identifier"].map((key) => query.get(key) || undefined);
    if ((type !== undefined && name === undefined) || (identifier !== undefined && type === undefined))
      throw invalidInput("The input is not valid");
    if (name !== undefined && /\.\.|^\../.test(name))
      throw invalidInput(`FATAL problem: DomainLabelEmpty (Domain label is empty) encountered with '${name}'`);
    const asked = query.get("maxitems") ?? String(PAGE);
    if (!/^[1-9]\d{0,8}$/.test(asked)) throw invalidInput(`maxitems must be a positive number, not '${asked}'`);
    const limit = Math.min(Number(asked), PAGE);
    const { records, next } = zone.page(name === undefined ? "" : sortKey(name, type, identifier), limit);
    return element("ListResourceRecordSetsResponse", [
      element("ResourceRecordSets", records.map(writeRecordSet)),
      element("IsTruncated", next !== undefined),
      ...(next ? [element("NextRecordName", next.name), element("NextRecordType", next.type)] : []),
      ...(next?.setIdentifier === undefined ? [] : [element("NextRecordIdentifier", next.setIdentifier)]),
      element("MaxItems", limit),
    ]);
  }

  #change(zone: Zone, body: string): XmlElement {
    const changes = readChanges(parse(body));
    const now = this.#clock.monotonic();
    if ((this.#busyUntil.get(zone.id) ?? -Infinity) > now) {
      const why = "The request was rejected because Route 53 was still processing a prior request.";
      throw new Route53Fault("PriorRequestNotComplete", why);
    }
    const effects = zone.apply(changes);
    const change = `C${String(this.#changes.size + 1).padStart(13, "0")}`;
    const at = this.#clock.now();
    this.#busyUntil.set(zone.id, now + this.#busy);
    this.#changes.set(change, { at, inSync: now + this.#propagation });
    for (const effect of effects) this.#journal.push({ at, zone: zone.id, change, ...effect });
    return element("ChangeResourceRecordSetsResponse", [this.#changeInfo(change)]);
  }

  #getChange(id: string): XmlElement {
    return element("GetChangeResponse", [this.#changeInfo(id)]);
  }

  #changeInfo(id: string): XmlElement {
    const submitted = this.#changes.get(id);
    if (submitted === undefined) throw new Route53Fault("NoSuchChange", `Could not find resource with ID: ${id}`, 404);
    return element("ChangeInfo", [
      element("Id", `/change/${id}`),
      element("Status", this.#clock.monotonic() >= submitted.inSync ? "INSYNC" : "PENDING"),
      element("SubmittedAt", new Date(submitted.at).toISOString()),
    ]);
  }
}

function getHostedZone({ id, name, records }: Zone): XmlElement {
  const nameServers = records.find((record) => record.name === name && record.type === "NS")?.values ?? [];
  const zone = [
    element("Id", `/hostedzone/${id}`),
    element("Name", name),
    element("CallerReference", id),
    element("Config", [element("PrivateZone", false)]),
    element("ResourceRecordSetCount", records.length),
  ];
  const servers = nameServers.map((server) => element("NameServer", server.replace(/\.$/, "")));
  const delegation = element("DelegationSet", [element("NameServers", servers)]);
  return element("GetHostedZoneResponse", [element("HostedZone", zone), delegation]);
}

/** What a path asks for. The id may come as `X`, or encoded or plain as `/hostedzone/X` and `hostedzone/X`. */
function parsePath(path: string): { kind: string | undefined; id: string; records: boolean } {
  const parts = path.startsWith(VERSION) ? decoded(path.slice(VERSION.length)).split("/").filter(Boolean) : [];
  const [kind, ...rest] = parts[0] === parts[1] ? parts.slice(1) : parts;
  const records = rest[1] === "rrset" && rest.length === 2;
  return { kind: records || rest.length === 1 ? kind : undefined, id: rest[0] ?? "", records };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parse(body: string): XmlElement {
  try {
    return readXml(body);
  } catch (error) {
    throw invalidInput(`Invalid XML ; ${error instanceof Error ? error.message : "not readable"}`);
  }
}
