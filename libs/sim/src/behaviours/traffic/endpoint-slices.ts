import type { Labels } from "@evenkeel/placement";
import { type Fields, fieldsOr, listOr, omit, textOr } from "../../json.ts";
import { keyOf, type StoredObject } from "../../object.ts";
import type { Change } from "../../storage/store.ts";
import type { Behaviour, World } from "../behaviour.ts";
import { ObjectIndex } from "../object-index.ts";
import { controlledBy, isGoing, isOver, isReady, specOf, statusOf, tables, typeOf } from "../object-state.ts";
import { PodsByLabel } from "../pods-by-label.ts";
import { Work } from "../work.ts";
import { type Endpoint, planSlices } from "./slice-plan.ts";

export const SERVICE_NAME = "kubernetes.io/service-name";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
const MANAGER = "endpointslice-controller.k8s.io";
const options = { manager: "kube-controller-manager" };

/**
 * Keeps the EndpointSlices of Services that have a selector: IPv4, 100 endpoints each. Slices of other managers are
 * left alone. Topology hints, host names of headless Services and the older Endpoints are not simulated.
 */
export const endpointSlices: Behaviour = (world) => {
  const controller = new Controller(world);
  const stop = world.store.listen((table, change) => {
    if (table.name === tables.services) controller.serviceChanged(change);
    if (table.name === tables.pods) controller.podChanged(change);
    if (table.name === tables.slices) controller.sliceChanged(change);
  });
  return () => {
    stop();
    controller.stop();
  };
};

class Controller {
  readonly #world: World;
  readonly #work: Work;
  readonly #pods: PodsByLabel;
  readonly #services = new ObjectIndex(({ metadata }) => [metadata.namespace ?? ""]);
  /** Our slices, by the key of their Service. */
  readonly #slices = new ObjectIndex((slice) => (isOurs(slice) ? [serviceOf(slice)] : []));

  constructor(world: World) {
    this.#world = world;
    this.#pods = new PodsByLabel(world.store);
    this.#work = new Work(world.clock, (key) => this.#sync(key));
  }

  serviceChanged(change: Change): void {
    this.#services.note(change);
    if (change.type !== "DELETED") this.#work.add(keyOf(change.object));
  }

  podChanged(change: Change): void {
    this.#pods.note(change);
    const { object, previous } = change;
    for (const key of this.#services.get(object.metadata.namespace ?? "")) {
      const selector = Object.entries(this.#selectorOf(key) ?? {});
      const chooses = (pod: StoredObject | undefined): boolean =>
        pod !== undefined && selector.every(([label, value]) => pod.metadata.labels?.[label] === value);
      if (selector.length > 0 && (chooses(object) || chooses(previous))) this.#work.add(key);
    }
  }

  sliceChanged(change: Change): void {
    this.#slices.note(change);
    for (const slice of [change.object, change.previous]) {
      if (slice !== undefined && isOurs(slice)) this.#work.add(serviceOf(slice));
    }
  }

  stop(): void {
    this.#work.stop();
  }

  #selectorOf(key: string): Labels | undefined {
    const service = this.#world.store.table(tables.services).get(key);
    const selector = service === undefined ? {} : fieldsOr(specOf(service)["selector"]);
    return Object.keys(selector).length === 0 ? undefined : (selector as Labels);
  }

  #sync(key: string): void {
    const service = this.#world.store.table(tables.services).get(key);
    const selector = this.#selectorOf(key);
    if (service === undefined || selector === undefined || isGoing(service)) return;
    const { namespace = "" } = service.metadata;
    const chosen = this.#pods.matching(namespace, { matchLabels: selector }).filter((pod) => !isOver(pod));
    const groups = new Map<string, { ports: readonly Fields[]; endpoints: Endpoint[]; slices: StoredObject[] }>();
    const group = (ports: readonly Fields[]): { endpoints: Endpoint[]; slices: StoredObject[] } => {
      const term = JSON.stringify(ports);
      const found = groups.get(term) ?? { ports, endpoints: [], slices: [] };
      groups.set(term, found);
      return found;
    };
    for (const pod of chosen) {
      const endpoint = endpointOf(service, pod);
      if (endpoint !== undefined) group(portsOf(service, pod)).endpoints.push(endpoint);
    }
    const none = groups.size === 0;
    for (const one of this.#slices.get(key)) {
      const slice = this.#world.store.table(tables.slices).get(one);
      if (slice !== undefined) group(listOr(slice["ports"]).map(fieldsOr)).slices.push(slice);
    }
    if (none) group([]);
    for (const { ports, endpoints, slices } of groups.values()) {
      this.#write(service, ports, endpoints, slices, none && ports.length === 0);
    }
  }

  #write(
    service: StoredObject,
    ports: readonly Fields[],
    endpoints: readonly Endpoint[],
    slices: readonly StoredObject[],
    keepOne: boolean,
  ): void {
    const { objects, types } = this.#world;
    const type = typeOf(types, tables.slices);
    const { name, namespace } = service.metadata;
    const present = slices.map((slice) => ({
      name: slice.metadata.name,
      endpoints: listOr(slice["endpoints"])
        .map(fieldsOr)
        .map((fields) => ({ pod: podOf(fields), fields })),
    }));
    const { updates, creates, deletes } = planSlices(present, endpoints, keepOne);
    for (const [slice, next] of updates) {
      const change = (old: StoredObject): Fields => ({ ...old, endpoints: next.map(({ fields }) => fields) });
      objects.update(type, { namespace, name: slice }, change, options);
    }
    for (const next of creates) {
      const metadata = {
        generateName: `${name}-`,
        labels: labelsOf(service),
        ownerReferences: [controlledBy(service)],
      };
      const body = { metadata, addressType: "IPv4", endpoints: next.map(({ fields }) => fields), ports };
      objects.create(type, namespace, body, options);
    }
    for (const slice of deletes) objects.delete(type, { namespace, name: slice });
  }
}

function isOurs({ metadata }: StoredObject): boolean {
  return metadata.labels?.[MANAGED_BY] === MANAGER;
}

/** The key of the Service that a slice is of. */
function serviceOf({ metadata: { namespace = "", labels = {} } }: StoredObject): string {
  return `${namespace}/${labels[SERVICE_NAME] ?? ""}`;
}

function podOf(endpoint: Fields): string {
  return textOr(fieldsOr(endpoint["targetRef"])["uid"]);
}

function labelsOf(service: StoredObject): Labels {
  const { name, labels = {} } = service.metadata;
  const headless = specOf(service)["clusterIP"] === "None" ? { "service.kubernetes.io/headless": "" } : {};
  return { ...labels, ...headless, [SERVICE_NAME]: name, [MANAGED_BY]: MANAGER };
}

/** The endpoint that a pod is; undefined while it has no address. */
function endpointOf(service: StoredObject, pod: StoredObject): Endpoint | undefined {
  const address = textOr(statusOf(pod)["podIP"]);
  if (address === "") return undefined;
  const { name, namespace, uid } = pod.metadata;
  const terminating = isGoing(pod);
  const anyway = specOf(service)["publishNotReadyAddresses"] === true;
  const serving = isReady(pod);
  const nodeName = specOf(pod)["nodeName"];
  return {
    pod: uid,
    fields: omit({
      ...{ addresses: [address], conditions: { ready: anyway || (serving && !terminating), serving, terminating } },
      ...{ nodeName, targetRef: { kind: "Pod", name, namespace, uid } },
    }),
  };
}

/** The Service's ports as the pod has them; a named one that the pod does not have is left out. */
function portsOf(service: StoredObject, pod: StoredObject): readonly Fields[] {
  return listOr(specOf(service)["ports"])
    .map(fieldsOr)
    .flatMap(({ name, port, targetPort = port, protocol = "TCP", appProtocol }) => {
      const number = typeof targetPort === "number" ? targetPort : containerPort(pod, targetPort, protocol);
      return number === undefined ? [] : [omit({ name: textOr(name), port: number, protocol, appProtocol })];
    });
}

function containerPort(pod: StoredObject, name: unknown, protocol: unknown): number | undefined {
  const ports = listOr(specOf(pod)["containers"]).flatMap((one) => listOr(fieldsOr(one)["ports"]).map(fieldsOr));
  const found = ports.find((port) => port["name"] === name && (port["protocol"] ?? "TCP") === protocol);
  return typeof found?.["containerPort"] === "number" ? found["containerPort"] : undefined;
}
