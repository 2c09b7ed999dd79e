import type { GroupSink, SourceHealth, TargetGroup } from "../src/observe/target-group.ts";

/** A sink that keeps what it was told. */
export class CollectedGroups implements GroupSink {
  readonly groups = new Map<string, TargetGroup>();
  readonly healths: SourceHealth[] = [];

  get last(): SourceHealth | undefined {
    return this.healths.at(-1);
  }

  update(groups: readonly TargetGroup[]): void {
    for (const group of groups) {
      if (group.targets.length === 0) this.groups.delete(group.source);
      else this.groups.set(group.source, group);
    }
  }

  health(health: SourceHealth): void {
    this.healths.push(health);
  }

  /** The addresses of all targets. */
  get addresses(): readonly string[] {
    return [...this.groups.values()]
      .flatMap(({ targets }) => targets.map((target) => target.get("__address__") ?? ""))
      .sort();
  }
}
