import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { ControlPlaneError } from "../errors.ts";
import { NODE_LINK, type NodePlaces } from "./places.ts";

const run = promisify(execFile);

/** Addresses of one real node. The machine has a route to its pods, and none to its Services. */
export interface NodeNetwork {
  /** The machine's end of the link, where kube-apiserver listens. */
  readonly hostAddress: string;
  readonly nodeAddress: string;
  readonly podCidr: string;
}

/** Maximum number of nodes on one machine. */
const NETWORKS = 256;

function networkNumber(number: number): NodeNetwork {
  const link = `10.211.${number}`;
  return { hostAddress: `${link}.1`, nodeAddress: `${link}.2`, podCidr: `10.210.${number}.0/24` };
}

/**
 * The first network, starting with a random one, to which the machine has no route. `routes` is the output of `ip -4
 * route`.
 */
export function chooseNetwork(routes: string, random: () => number = Math.random): NodeNetwork {
  const first = Math.floor(random() * NETWORKS);
  for (let tried = 0; tried < NETWORKS; tried += 1) {
    const number = (first + tried) % NETWORKS;
    if (!routes.includes(`10.211.${number}.`) && !routes.includes(`10.210.${number}.`)) return networkNumber(number);
  }
  throw new ControlPlaneError(
    "EK_CLUSTER_REAL_NODE",
    "this machine has routes to all of 10.210.0.0/16; stop a cluster",
  );
}

/**
 * Creates a network namespace, a link to it, and a route to its pods. kube-proxy's rules and the pods' bridge stay in
 * it, so that the machine's own rules and routes are not changed. Only one call may run at a time.
 */
export async function createNetwork({ runtime, netns, hostLink }: NodePlaces): Promise<NodeNetwork> {
  const network = chooseNetwork((await run("ip", ["-4", "route", "show"])).stdout);
  const { hostAddress, nodeAddress, podCidr } = network;
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  writeFileSync(netns, "");
  await run("unshare", [`--net=${netns}`, "true"]);
  const ip = async (line: string): Promise<unknown> => run("ip", line.split(" "));
  const inside = async (line: string): Promise<unknown> => run("nsenter", [`--net=${netns}`, ...line.split(" ")]);
  await ip(`link add ${hostLink} type veth peer name ${NODE_LINK} netns ${netns}`);
  await ip(`addr add ${hostAddress}/30 dev ${hostLink}`);
  await inside("ip link set lo up");
  await inside(`ip addr add ${nodeAddress}/30 dev ${NODE_LINK}`);
  await inside(`ip link set ${NODE_LINK} up`);
  await ip(`link set ${hostLink} up`);
  await inside(`ip route add default via ${hostAddress}`);
  await ip(`route add ${podCidr} via ${nodeAddress}`);
  // Pods' packets are forwarded, and those between two pods of the bridge pass kube-proxy's rules in both directions.
  for (const setting of ["ipv4/ip_forward", "bridge/bridge-nf-call-iptables"]) {
    await run("nsenter", [`--net=${netns}`, "sh", "-c", `echo 1 > /proc/sys/net/${setting}`]);
  }
  return network;
}
