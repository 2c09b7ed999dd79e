import type { Relabelling, ScrapeJob } from "@evenkeel/relabel";
import type { DiscoveredGroups } from "./discovered-groups.ts";
import type { DiscoveryBlock } from "./discovery/discovery-block.ts";
import { gateOf, type GroupGate } from "./group-gate.ts";
import type { Target } from "./target.ts";

/** A scrape job, as a catalogue is given it. */
export interface CatalogueJob {
  /** `receiver/job`, unique in the catalogue. */
  readonly job: string;
  readonly scrape: ScrapeJob;
  /** The rules of `scrape`, compiled. */
  readonly relabelling: Relabelling;
  readonly discovery: readonly DiscoveryBlock[];
}

/** A job while a catalogue has it. */
export class RunningJob {
  readonly job: string;
  readonly scrape: ScrapeJob;
  readonly relabelling: Relabelling;
  readonly gate: GroupGate | undefined;
  /** What its blocks have found, by the text of the block. */
  readonly sources = new Map<string, DiscoveredGroups>();
  /** Sources of which the groups found before the job came are not relabelled yet. */
  readonly unread = new Set<DiscoveredGroups>();
  /** The targets of each group that has any, by source and group. */
  readonly made = new Map<DiscoveredGroups, Map<string, readonly Target[]>>();
  /** Groups that were held back since the catalogue is full. */
  readonly heldBack = new Map<DiscoveredGroups, Set<string>>();

  /** Why groups could not be relabelled, by source and group: what they gave before stays in force. */
  readonly faults = new Map<DiscoveredGroups, Map<string, string>>();

  constructor({ job, scrape, relabelling }: CatalogueJob) {
    this.job = job;
    this.scrape = scrape;
    this.relabelling = relabelling;
    this.gate = gateOf(scrape.rules);
  }

  targetsOf(source: DiscoveredGroups, group: string): readonly Target[] {
    return this.made.get(source)?.get(group) ?? [];
  }

  setTargets(source: DiscoveredGroups, group: string, targets: readonly Target[]): void {
    const made = this.made.get(source);
    if (targets.length === 0) made?.delete(group);
    else if (made) made.set(group, targets);
    else this.made.set(source, new Map([[group, targets]]));
  }

  /** Undefined: the group was relabelled. */
  setFault(source: DiscoveredGroups, group: string, fault: string | undefined): void {
    const faults = this.faults.get(source);
    if (fault === undefined) faults?.delete(group);
    else if (faults) faults.set(group, fault);
    else this.faults.set(source, new Map([[group, fault]]));
  }

  holdBack(source: DiscoveredGroups, group: string, isHeld: boolean): void {
    const held = this.heldBack.get(source);
    if (!isHeld) held?.delete(group);
    else if (held) held.add(group);
    else this.heldBack.set(source, new Set([group]));
  }
}

/** The text that is equal for equal scrape jobs and blocks. */
export function fingerprint(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (each instanceof Map) return [...(each as ReadonlyMap<unknown, unknown>)];
    return typeof each === "bigint" ? String(each) : each;
  });
}
