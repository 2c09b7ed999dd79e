import { explain } from "@evenkeel/runtime";
import { faultLine, NothingReached } from "../errors.ts";
import type { MissedService, ReachedService, Services } from "../reach/reach.ts";
import type { Screen } from "./screen.ts";

/** Notes each installed service that does not answer. */
export function noteMissed(screen: Screen, missed: readonly MissedService[]): void {
  for (const { name, error, installed } of missed) {
    if (installed) screen.note(`${name}: ${faultLine(error, explain(error))}`);
  }
}

/** The services that respond. If none does, notes the reason of each and fails. */
export function someReached(screen: Screen, { reached, missed }: Services): readonly ReachedService[] {
  if (reached.length > 0) return reached;
  for (const { name, error } of missed) screen.note(`${name}: ${faultLine(error, explain(error))}`);
  throw new NothingReached({});
}
