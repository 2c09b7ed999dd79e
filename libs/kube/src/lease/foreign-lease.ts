import type { Clock, Logger } from "@evenkeel/runtime";
import { Forbidden } from "../errors.ts";
import { keyOf } from "../objects/object-key.ts";
import type { Resource } from "../objects/resource.ts";
import type { Lease } from "../objects/resource-types.ts";

export interface ForeignLeaseOptions {
  /** Only `pages` is called, with a selector by name, so the verb list with resourceNames is enough. */
  readonly leases: Pick<Resource<Lease>, "pages">;
  /** Name of the other controller's Lease, in any namespace; `namespace/name` is the Lease of that one alone. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds between two reads. */
const PERIOD = 10_000;
/** Milliseconds that one read may take. */
const DEADLINE = 10_000;
/** Milliseconds for a Lease that does not state its duration: client-go's default. */
const DURATION = 15_000;
/**
 * Milliseconds that a Lease lasts at most without a renewal: its duration is what anybody wrote who may create Leases.
 */
const LONGEST = 120_000;
/** Milliseconds since its renewTime after which a Lease that is first seen is not live: no clock is off by so much. */
const LEFTOVER = 24 * 3_600_000;

/**
 * Detects whether another controller runs in this cluster, by its Lease. A Lease is live until it has not changed for
 * its whole duration (at most two minutes), on the monotonic clock of this process, because its renewTime comes from
 * another host's clock. A Lease that is first seen counts as live for that time too, unless its renewTime is a day old.
 *
 * Without the right to list Leases no Lease counts as live, and one warning is logged: a service that was installed
 * without that right must work.
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
   * The holder of a live Lease, as `pod (Lease namespace/name)`; null if there is none. Reads at most every ten
   * seconds. While the API server does not respond, the last result stays. Without one it rejects with the client's
   * error, because two active controllers would be worse than waiting.
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
          log.warn(
            { error, lease: name },
            "cannot detect whether another controller runs: grant the verb list on Leases",
          );
        this.#warned = true;
        live = null;
      } else {
        if (this.#looked === undefined) throw error;
        log.warn({ error, lease: name }, "the Lease of another controller could not be read; the last result stays");
        live = this.#looked.live;
      }
    }
    this.#looked = { at, live };
    return live;
  }

  async #list(): Promise<readonly Lease[]> {
    const { leases } = this.#options;
    const [name, namespace] = this.#options.name.split("/").reverse();
    const found: Lease[] = [];
    for await (const page of leases.pages({ fieldSelector: `metadata.name=${name}`, deadline: DEADLINE }))
      found.push(...page.items);
    return namespace === undefined ? found : found.filter(({ metadata }) => metadata.namespace === namespace);
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
    const lasts = seconds > 0 ? Math.min(seconds * 1000, LONGEST) : DURATION;
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
  /** Changes with every write of the Lease. */
  readonly version: string;
  /** When this process last saw it change, or first saw it, on its monotonic clock. */
  readonly changedAt: number;
}
