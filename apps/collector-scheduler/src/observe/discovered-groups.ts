import type { Labels } from "@evenkeel/relabel";
import type { DiscoveryBlock } from "./discovery/discovery-block.ts";
import { GateIndex } from "./gate-index.ts";
import type { RunningJob } from "./catalogue-job.ts";
import type { Discovery } from "./discovery/start-discovery.ts";
import type { SourceHealth, TargetGroup } from "./target-group.ts";

/** The groups that one discovery block has found. Jobs with equal blocks share it. */
export class DiscoveredGroups {
  readonly block: DiscoveryBlock;
  readonly groups = new Map<string, TargetGroup>();
  /** Of groups that changed and were not relabelled since. */
  readonly changed = new Set<string>();
  /** Which of its jobs a group concerns. */
  readonly gates = new GateIndex<RunningJob>();
  health: SourceHealth = { answered: false };
  discovery: Discovery | undefined;

  constructor(block: DiscoveryBlock) {
    this.block = block;
  }

  /** Takes groups that a source told of. Those that are as they were are ignored. */
  update(groups: readonly TargetGroup[]): void {
    for (const group of groups) {
      const { source } = group;
      const before = this.groups.get(source);
      if (group.targets.length === 0) {
        if (before === undefined) continue;
        this.groups.delete(source);
      } else {
        if (before !== undefined && isSameGroup(before, group)) continue;
        this.groups.set(source, group);
      }
      this.changed.add(source);
    }
  }
}

function isSameGroup(one: TargetGroup, other: TargetGroup): boolean {
  return (
    one.targets.length === other.targets.length &&
    isSame(one.labels, other.labels) &&
    one.targets.every((target, index) => isSame(target, other.targets[index] ?? new Map<string, string>()))
  );
}

function isSame(one: Labels, other: Labels): boolean {
  if (one.size !== other.size) return false;
  for (const [name, value] of one) if (other.get(name) !== value) return false;
  return true;
}
