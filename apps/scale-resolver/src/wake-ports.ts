import type { Service } from "@evenkeel/kube";

type ServicePort = NonNullable<NonNullable<Service["spec"]>["ports"]>[number];

/** `spec.wakePorts`: ports by number or name; empty: all ports. */
type WakePorts = readonly (string | number)[];

/** The TCP ports of a Service. The others are never redirected. */
export function tcpPorts({ spec }: Service): readonly ServicePort[] {
  return (spec?.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
}

/**
 * The ports at which requests wake a Service. If no entry of `wakePorts` is a port of the Service, all are: a mistake
 * must not make the Service unreachable.
 */
export function wakingPorts(wakePorts: WakePorts, service: Service): readonly ServicePort[] {
  const ports = tcpPorts(service);
  const waking = ports.filter((port) => wakePorts.some((wanted) => isPort(wanted, port)));
  return waking.length > 0 ? waking : ports;
}

/** The entries of `wakePorts` that are not a port of the Service. */
export function unknownWakePorts(wakePorts: WakePorts, service: Service): WakePorts {
  return wakePorts.filter((wanted) => !tcpPorts(service).some((port) => isPort(wanted, port)));
}

function isPort(wanted: string | number, { name, port }: ServicePort): boolean {
  return wanted === port || wanted === name;
}
