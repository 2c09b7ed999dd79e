/** A Service as far as its traffic goes. */
export interface TrafficService {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    /** `None` for a headless one, to which no packet goes. */
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
  };
}

/** An EndpointSlice of discovery.k8s.io/v1. */
export interface EndpointSlice {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly addressType: string;
  /** Null rather than empty. */
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[];
        readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
      }[]
    | null;
  readonly ports?: readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[] | null;
}

/** Where a packet can go. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** The address of a Service's port, and where its connections go. */
export interface ServicePort {
  /** As `default/web:80`. */
  readonly name: string;
  readonly clusterIP: string;
  readonly port: number;
  readonly endpoints: readonly Endpoint[];
}

/**
 * What kube-proxy makes of Services and their EndpointSlices, for TCP over IPv4: connections go to ready endpoints, and to
 * those that serve while they end only where none is ready (https://kep.k8s.io/1669). A port belongs to a slice's port of the same name.
 */
export function servicePorts(
  services: readonly TrafficService[],
  slices: readonly EndpointSlice[],
): readonly ServicePort[] {
  return services.flatMap(({ metadata: { namespace, name }, spec: { clusterIP = "", ports = [] } }) => {
    if (!/^\d+\.\d+\.\d+\.\d+$/.test(clusterIP)) return [];
    const own = slices.filter(
      ({ metadata, addressType }) =>
        addressType === "IPv4" &&
        metadata.namespace === namespace &&
        metadata.labels?.["kubernetes.io/service-name"] === name,
    );
    return ports.filter(isTcp).map(({ name: portName = "", port }) => ({
      ...{ name: `${namespace}/${name}:${port}`, clusterIP, port },
      endpoints: endpointsOf(own, portName),
    }));
  });
}

function endpointsOf(slices: readonly EndpointSlice[], portName: string): readonly Endpoint[] {
  const ready = new Map<string, Endpoint>();
  const ending = new Map<string, Endpoint>();
  for (const { endpoints, ports } of slices) {
    const targets = (ports ?? []).filter((one) => isTcp(one) && (one.name ?? "") === portName);
    for (const { addresses, conditions = {} } of endpoints ?? []) {
      const [address] = addresses;
      const { ready: isReady = true, serving = true, terminating = false } = conditions;
      const group = isReady ? ready : serving && terminating ? ending : undefined;
      for (const { port } of targets) {
        if (address !== undefined && port !== undefined) group?.set(`${address}:${port}`, { address, port });
      }
    }
  }
  return [...(ready.size > 0 ? ready : ending).values()];
}

function isTcp({ protocol = "TCP" }: { readonly protocol?: string }): boolean {
  return protocol === "TCP";
}
