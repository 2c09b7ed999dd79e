import type { Clock, Logger } from "@evenkeel/runtime";
import { Forbidden } from "../errors.ts";
import { keyOf } from "../objects/object-key.ts";
import type { Resource } from "../objects/resource.ts";
import type { Lease } from "../objects/resource-types.ts";

export interface ForeignLeaseOptions {
  /** Only `pages` is called, with a selector by name: the verb list with resourceNames is enough. */
  readonly leases: Pick<Resource<Lease>, "pages">;
  /** Of the Lease by which the other controller leads, in whatever namespace it was installed. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds between two looks. */
const PERIOD = 10_000;
/** Milliseconds for one look. */
const DEADLINE = 10_000;
/** Milliseconds that a lease lasts which does not say so: client-go's default. */
const DURATION = 15_000;
/** Milliseconds without renewal, by its own stamp, from which a lease that is first seen is a leftover: no clock is so wrong. */
const LEFTOVER = 24 * 3_600_000;

/**
 * Tells whether another controller runs in this cluster, by its Lease. It is live while its Lease is seen to change: the
 * stamp in it comes from another host's clock, so what counts is that it stayed the same for as long as it says it lasts, on the
 * monotonic clock of this process. A Lease that is first seen gets that time too, unless its stamp is a day old.
 *
 * Without the right to list Leases nothing can be told. The answer is then that none is live, with one warning in the log:
 * a service that was installed without that right is meant to work.
 */
export class ForeignLease {
  readonly #options: ForeignLeaseOptions;
  #seen: ReadonlyMap<string, Sighting> = new Map();
  #looking: Promise<string | null> | undefined;
  #looked: { readonly at: number; readonly live: string | null } | undefined;
  #warned = false;

  constructor(options: ForeignLeaseOptions) {
    this.#options = options;
  }

  /**
   * Who holds a live Lease, as `pod (Lease namespace/name)`; null if nobody does. Looks at most every ten seconds,
   * however often it is asked. While the API server does not answer, the last answer stays; without one it rejects with what the
   * client threw, since acting beside the other would be worse than waiting.
   */
  live(): Promise<string | null> {
    const { clock } = this.#options;
    if (this.#looked !== undefined && clock.monotonic() - this.#looked.at < PERIOD)
      return Promise.resolve(this.#looked.live);
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<string | null> {
    const { clock, log, name } = this.#options;
    const at = clock.monotonic();
    let live: string | null;
    try {
      live = this.#judge(await this.#list());
    } catch (error) {
      if (error instanceof Forbidden) {
        if (!this.#warned)
          log.warn({ error, lease: name }, "cannot tell whether another controller runs: Leases may not be listed");
        this.#warned = true;
        live = null;
      } else {
        if (this.#looked === undefined) throw error;
        log.warn(
          { error, lease: name },
          "the Lease of another controller could not be looked at; what was last seen stays",
        );
        live = this.#looked.live;
      }
    }
    this.#looked = { at, live };
    return live;
  }

  async #list(): Promise<readonly Lease[]> {
    const { leases, name } = this.#options;
    const found: Lease[] = [];
    for await (const page of leases.pages({ fieldSelector: `metadata.name=${name}`, deadline: DEADLINE }))
      found.push(...page.items);
    return found;
  }

  #judge(leases: readonly Lease[]): string | null {
    const now = this.#options.clock.monotonic();
    const sightings = leases.map((lease) => [keyOf(lease), this.#sight(lease, now)] as const);
    this.#seen = new Map(sightings);
    const live = sightings.find(([, { holder, changedAt, lasts }]) => holder !== "" && now - changedAt < lasts);
    return live === undefined ? null : `${live[1].holder} (Lease ${live[0]})`;
  }

  #sight({ metadata, spec = {} }: Lease, now: number): Sighting {
    const { holderIdentity: holder = "", leaseDurationSeconds: seconds = 0, renewTime = "" } = spec;
    const lasts = seconds > 0 ? seconds * 1000 : DURATION;
    const version = JSON.stringify([metadata.uid, metadata.resourceVersion, renewTime]);
    const before = this.#seen.get(keyOf({ metadata }));
    if (before !== undefined)
      return { holder, lasts, version, changedAt: before.version === version ? before.changedAt : now };
    const isLeftover = this.#options.clock.now() - Date.parse(renewTime) > LEFTOVER + lasts;
    return { holder, lasts, version, changedAt: isLeftover ? -Infinity : now };
  }
}

interface Sighting {
  readonly holder: string;
  /** Milliseconds. */
  readonly lasts: number;
  /** Differs whenever someone wrote the Lease. */
  readonly version: string;
  /** When this process saw it change, or first saw it, on its monotonic clock. */
  readonly changedAt: number;
}
