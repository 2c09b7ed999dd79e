import type { CollectorLoadBalancerSpec } from "@evenkeel/api";
import type { AssignmentRecords } from "./act/assignment-records.ts";
import { explain } from "@evenkeel/runtime";
import { type CollectorConfiguration, readConfiguration } from "./config/collector-configuration.ts";
import type { CollectorJob } from "./config/collector-job.ts";
import { podEnvironment } from "./config/environment.ts";
import type { ConfigFault } from "./config/fault.ts";
import { servedText } from "./config/served-text.ts";
import type { Assignments } from "./decide/assignments.ts";
import { Owners } from "./decide/owners.ts";
import type { Catalogue } from "./observe/catalogue.ts";
import type { DiscoveryBlock } from "./observe/discovery/discovery-block.ts";
import type { DiscoveryLimits } from "./observe/discovery/discovery-limits.ts";
import { parseDiscovery } from "./observe/discovery/parse-discovery.ts";
import { Answers } from "./serve/answers.ts";
import { type Body, bodyOf } from "./serve/body.ts";
import { OwnerHistory } from "./serve/owner-history.ts";
import { Polls } from "./serve/polls.ts";
import { type AllocatorRequest, endpointPath, queryEscape } from "./serve/request-path.ts";
import { SecretMounts } from "./serve/secret-mounts.ts";
import type { AllocatorAnswer } from "./serve/target-allocator.ts";

export interface FleetOptions {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly catalogue: Catalogue;
  readonly records: AssignmentRecords;
  readonly limits: Omit<DiscoveryLimits, "namespace">;
  readonly now: () => number;
  /** Whether pods of its collectors are of an older template than their StatefulSet. */
  readonly isRollingOut: () => boolean;
}

interface Asked {
  readonly collector: string | undefined;
  readonly isPoll: boolean;
}

/** A configuration that is in force. */
interface InForce {
  readonly configuration: CollectorConfiguration;
  /** By `receiver/job`: those whose discovery can be run. */
  readonly jobs: ReadonlyMap<string, CollectorJob>;
  readonly faults: readonly ConfigFault[];
  /** Made when first asked for, by receiver. */
  readonly scrapeConfigs: Map<string, Body>;
  readonly jobLists: Map<string, Body>;
}

/**
 * What one replica knows of a CollectorLoadBalancer: its jobs, their targets and who owns them. Every replica has it,
 * and answers collectors from it.
 */
export class Fleet {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly catalogue: Catalogue;
  readonly records: AssignmentRecords;
  readonly polls = new Polls();
  readonly history = new OwnerHistory();
  /** When this replica began to follow it, in milliseconds. */
  readonly since: number;
  readonly #options: FleetOptions;
  readonly #answers = new Answers();
  readonly #mounts: SecretMounts;
  #inForce: InForce | undefined;
  #fault: string | undefined;
  #owners: Owners | undefined;
  #handingOver: readonly string[] = [];

  constructor(options: FleetOptions) {
    const { namespace, name, uid, catalogue, records } = options;
    this.namespace = namespace;
    this.name = name;
    this.uid = uid;
    this.catalogue = catalogue;
    this.records = records;
    this.since = options.now();
    this.#options = options;
    this.#mounts = new SecretMounts(options.isRollingOut);
    catalogue.onChange((changes) => this.#answers.update(changes));
  }

  /** The configuration that is in force: the last one that could be read. Undefined before there was one. */
  get configuration(): CollectorConfiguration | undefined {
    return this.#inForce?.configuration;
  }

  /** Jobs that are served. */
  get jobs(): readonly CollectorJob[] {
    return [...(this.#inForce?.jobs.values() ?? [])];
  }

  /** Why the configuration as it is written now cannot be read at all. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Jobs and fields that cannot be used; the others go on. */
  get faults(): readonly ConfigFault[] {
    return this.#inForce?.faults ?? [];
  }

  /** Undefined until the state has answered once. */
  get owners(): Owners | undefined {
    return this.#owners;
  }

  /** Takes the collectors' configuration. One that cannot be read leaves the one before in force. */
  configure({
    collectorConfig = "",
    podTemplate,
  }: Pick<CollectorLoadBalancerSpec, "collectorConfig" | "podTemplate">): void {
    try {
      this.#use(readConfiguration(collectorConfig, podEnvironment(podTemplate)));
      this.#fault = undefined;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.#fault = explain(error);
    }
  }

  /** Takes the assignments that are in force. */
  assign(assignments: Assignments): void {
    if (this.#owners?.assignments.at === assignments.at) return;
    this.history.note(this.#owners?.assignments, assignments);
    this.#owners = new Owners(assignments, this.#owners);
    this.#answers.assign(this.#owners);
    this.#handingOver = this.#jobsHandingOver(assignments);
    this.polls.keepOnly(new Set(assignments.members.map(({ name }) => name)));
  }

  /** Jobs with targets that change their collector. */
  handingOver(): readonly string[] {
    return this.#handingOver;
  }

  /** `isPoll`: a collector asks by itself, so that it now knows what it is told. */
  answer({ receiver, asks }: AllocatorRequest, isPoll: boolean): AllocatorAnswer {
    const inForce = this.#inForce;
    if (inForce === undefined) {
      const why = this.#fault ?? "it is not known yet";
      return { status: 503, sentence: `The configuration of ${this.#title} cannot be served: ${why}` };
    }
    const name = this.#receiverName(receiver, inForce.configuration.receivers);
    if (name === undefined) return { status: 404, sentence: `${this.#title} has no such receiver` };
    if (asks.for === "targets")
      return this.#targets(`${name}/${asks.job}`, { collector: asks.collector, isPoll }, inForce);
    const known = (asks.for === "jobs" ? inForce.jobLists : inForce.scrapeConfigs).get(name);
    if (known !== undefined) return { body: known };
    const own = [...inForce.jobs.values()].filter((job) => job.receiver === name);
    // An empty map tells collectors to stop all jobs. Only a receiver that names none gets it: it waits for an answer.
    if (own.length === 0 && (inForce.configuration.jobCounts.get(name) ?? 0) > 0) {
      return { status: 503, sentence: `No job of ${this.#title} can be used: see its condition ConfigValid` };
    }
    if (asks.for === "jobs") return { body: this.#jobList(name, own, inForce) };
    const body = this.#scrapeConfigs(name, own, inForce);
    if (body !== undefined) return { body };
    return { status: 503, sentence: "The jobs name files of a Secret that pods may not have yet: ask again later" };
  }

  stop(): void {
    this.catalogue.stop();
  }

  #jobsHandingOver({ exceptions }: Assignments): readonly string[] {
    const moving = [...exceptions].flatMap(([key, { from }]) => (from === undefined ? [] : [key]));
    if (moving.length === 0) return [];
    // The key of a target begins with its job.
    return this.jobs.map(({ key }) => key).filter((job) => moving.some((key) => key.startsWith(`${job} `)));
  }

  get #title(): string {
    return `CollectorLoadBalancer ${this.namespace}/${this.name}`;
  }

  #use(configuration: CollectorConfiguration): void {
    const { namespace, limits } = this.#options;
    const faults = [...configuration.faults];
    const jobs = new Map<string, CollectorJob>();
    const blocks = new Map<string, readonly DiscoveryBlock[]>();
    for (const job of configuration.jobs) {
      const parsed = parseDiscovery(job.discovery, { namespace, ...limits });
      if (parsed.faults) {
        faults.push(...parsed.faults.map((fault) => ({ ...fault, job: job.key })));
        continue;
      }
      jobs.set(job.key, job);
      blocks.set(job.key, parsed.blocks);
    }
    this.#inForce = { configuration, jobs, faults, scrapeConfigs: new Map(), jobLists: new Map() };
    this.#mounts.update([...jobs.values()], this.#options.now());
    this.catalogue.setJobs(
      Array.from(jobs.values(), ({ key, scrape, relabelling }) => {
        return { job: key, scrape, relabelling, discovery: blocks.get(key) ?? [] };
      }),
    );
  }

  /** At the bare paths, a lone receiver needs no name. */
  #receiverName(suffix: string | undefined, receivers: readonly string[]): string | undefined {
    if (suffix === undefined && receivers.length === 1) return receivers[0];
    const name = suffix === undefined ? "prometheus" : `prometheus/${suffix}`;
    return receivers.includes(name) ? name : undefined;
  }

  #targets(key: string, { collector, isPoll }: Asked, { jobs }: InForce): AllocatorAnswer {
    const job = jobs.get(key);
    if (job === undefined) return { status: 404, sentence: `${this.#title} has no job ${key}, or it cannot be used` };
    if (this.#owners === undefined) {
      return {
        status: 503,
        sentence: "It is not known yet which collector owns which target: the state has not answered",
      };
    }
    const { at, members } = this.#owners.assignments;
    const now = this.#options.now();
    const isMember = isPoll && members.some(({ name }) => name === collector);
    if (isMember && collector !== undefined) this.polls.asked(collector, now);
    if (!this.catalogue.hasAnswered(key)) {
      return { status: 503, sentence: `Not every source of job ${key} has answered yet` };
    }
    // Without its zone a target is hashed among all members, so that most would change their collector.
    if (this.#owners.assignments.pool === "zone" && !this.catalogue.hasZones) {
      return { status: 503, sentence: "The zones of nodes are not known yet: the API server has not listed them" };
    }
    if (collector === undefined) return { body: this.#answers.overview(job, this.#base(job.receiver)) };
    // An empty list would make collectors stop, and with no members nobody is known to take over.
    if (members.length === 0) return { status: 503, sentence: `${this.#title} has no ready collector on record yet` };
    const body = this.#answers.targetsOf(key, collector);
    if (isMember) this.polls.note(collector, key, at, now);
    return { body };
  }

  #base(receiver: string): string {
    return endpointPath(this.namespace, this.name, receiver);
  }

  #jobList(receiver: string, jobs: readonly CollectorJob[], { jobLists }: InForce): Body {
    const base = this.#base(receiver);
    const entries = jobs.map(({ name }) => [name, { _link: `${base}/jobs/${queryEscape(name)}/targets` }]);
    const made = bodyOf(JSON.stringify(Object.fromEntries(entries)));
    jobLists.set(receiver, made);
    return made;
  }

  /** Undefined if there are jobs and none is to be served yet: collectors would take an empty answer for no jobs. */
  #scrapeConfigs(receiver: string, jobs: readonly CollectorJob[], { scrapeConfigs }: InForce): Body | undefined {
    const now = this.#options.now();
    const entries = jobs.flatMap((job) => {
      const served = this.#mounts.servedNow(job, now);
      return served === undefined ? [] : [[job.name, served] as const];
    });
    if (entries.length === 0 && jobs.length > 0) return undefined;
    const made = bodyOf(servedText(Object.fromEntries(entries)));
    if (!this.#mounts.isPending(now)) scrapeConfigs.set(receiver, made);
    return made;
  }
}
