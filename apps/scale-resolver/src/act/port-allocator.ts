import { keyOf, type ReadStore, type Service } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";
import type { PortRecord, StoredElastiService } from "../elasti-service-resource.ts";
import { assignPorts, type PortRange } from "./port-range.ts";

/** How long a port that was given back rests, in milliseconds. */
const QUARANTINE = 60_000;

/** Gives each port of each Service a port of the resolver, and never the same to two. */
export class PortAllocator {
  readonly #store: Pick<ReadStore<StoredElastiService>, "values">;
  readonly #range: PortRange;
  readonly #clock: Clock;
  /** What was given and may not be on record yet, by object and port. */
  readonly #given = new Map<string, number>();

  constructor(store: Pick<ReadStore<StoredElastiService>, "values">, range: PortRange, clock: Clock) {
    this.#clock = clock;
    this.#store = store;
    this.#range = range;
  }

  /** The ports of an object's Service, each with the same number as before where it had one. */
  allocate(object: StoredElastiService, service: Service): readonly PortRecord[] {
    const key = keyOf(object);
    const names = (service.spec?.ports ?? [])
      .filter(({ protocol = "TCP" }) => protocol === "TCP")
      .map(({ name = "" }) => name);
    const wanted = names.map((name) => `${key}/${name}`);
    const ports = assignPorts(this.#range, this.#taken(), wanted);
    for (const [of, port] of ports) this.#given.set(of, port);
    return names.map((name) => ({ name, port: ports.get(`${key}/${name}`) ?? 0 }));
  }

  /** An object is gone, or has another Service. Its ports are given to nobody until every node has forgotten where they led. */
  forget(key: string): void {
    for (const [of, port] of [...this.#given]) {
      if (!of.startsWith(`${key}/`)) continue;
      const resting = `resting ${port}`;
      this.#given.delete(of);
      this.#given.set(resting, port);
      this.#clock.schedule(QUARANTINE, () => this.#given.delete(resting));
    }
  }

  #taken(): ReadonlyMap<string, number> {
    const age = ({ metadata }: StoredElastiService) => metadata.creationTimestamp ?? "";
    const oldestFirst = [...this.#store.values()].sort((a, b) => (age(a) < age(b) ? -1 : 1));
    const recorded = oldestFirst.flatMap((object) =>
      (object.status?.ports ?? []).map(({ name, port }) => [`${keyOf(object)}/${name}`, port] as const),
    );
    return new Map([...recorded, ...this.#given]);
  }
}
