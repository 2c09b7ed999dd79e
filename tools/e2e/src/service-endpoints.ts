/** The fields of a Service that concern its traffic. */
export interface TrafficService {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    /** `None` for a headless Service, which gets no packets. */
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
  /** Null instead of empty. */
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[];
        readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
      }[]
    | null;
  readonly ports?: readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[] | null;
}

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** The address of a Service's port, and its endpoints. */
export interface ServicePort {
  /** Such as `default/web:80`. */
  readonly name: string;
  readonly clusterIP: string;
  readonly port: number;
  readonly endpoints: readonly Endpoint[];
}

/**
 * The ports of Services with their endpoints, as in kube-proxy for TCP over IPv4: connections go to ready endpoints,
 * and to terminating ones that serve only if none is ready (https://kep.k8s.io/1669). A port uses a slice's port of the
 * same name.
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
