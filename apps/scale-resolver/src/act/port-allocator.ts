import { keyOf, type ReadStore, type Service } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";
import type { PortRecord, StoredElastiService } from "../elasti-service-resource.ts";
import { assignPorts, type PortRange } from "./port-range.ts";

/** Milliseconds for which a released port is not assigned again. */
const QUARANTINE = 60_000;

/** Assigns each port of each Service a port of the resolver, never the same to two. */
export class PortAllocator {
  readonly #store: Pick<ReadStore<StoredElastiService>, "values">;
  readonly #range: PortRange;
  readonly #clock: Clock;
  /** Ports assigned in this term, which may not be in the cached statuses yet, by object and port. */
  readonly #assigned = new Map<string, number>();
  /** Ports that were released a moment ago. */
  readonly #resting = new Set<number>();

  constructor(store: Pick<ReadStore<StoredElastiService>, "values">, range: PortRange, clock: Clock) {
    this.#clock = clock;
    this.#store = store;
    this.#range = range;
  }

  /** The resolver ports of an object's Service. A port keeps the number that it has. */
  allocate(object: StoredElastiService, service: Service): readonly PortRecord[] {
    const key = keyOf(object);
    const names = (service.spec?.ports ?? [])
      .filter(({ protocol = "TCP" }) => protocol === "TCP")
      .map(({ name = "" }) => name);
    const wanted = names.map((name) => `${key}/${name}`);
    const ports = assignPorts(this.#range, this.#taken(), wanted);
    for (const [of, port] of ports) this.#assigned.set(of, port);
    return names.map((name) => ({ name, port: ports.get(`${key}/${name}`) ?? 0 }));
  }

  /**
   * Releases the ports of an object that was deleted or has another Service. They are not assigned again until every
   * node has removed the old endpoints.
   */
  forget(key: string): void {
    for (const [of, port] of [...this.#assigned]) {
      if (!of.startsWith(`${key}/`)) continue;
      this.#assigned.delete(of);
      this.#resting.add(port);
      this.#clock.schedule(QUARANTINE, () => this.#resting.delete(port));
    }
  }

  /** For the end of a term: another leader assigns ports, and then only the statuses are right. */
  endTerm(): void {
    this.#assigned.clear();
  }

  #taken(): ReadonlyMap<string, number> {
    const age = ({ metadata }: StoredElastiService) => metadata.creationTimestamp ?? "";
    const oldestFirst = [...this.#store.values()].sort((a, b) => (age(a) < age(b) ? -1 : 1));
    const recorded = oldestFirst.flatMap((object) =>
      (object.status?.ports ?? []).map(({ name, port }) => [`${keyOf(object)}/${name}`, port] as const),
    );
    const resting = [...this.#resting].map((port) => [`resting ${port}`, port] as const);
    return new Map([...recorded, ...this.#assigned, ...resting]);
  }
}
