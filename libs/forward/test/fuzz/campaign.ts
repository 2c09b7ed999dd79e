import { addressOf } from "./address.ts";
import { send } from "./client.ts";
import type { ForwardedTo, ForwarderProcess } from "./forwarder-process.ts";
import { nextInput } from "./inputs.ts";
import { differences, disagreements, losses } from "./judge.ts";
import { Random } from "./random.ts";
import type { Input } from "./requests.ts";
import type { Seen, Upstream } from "./seen.ts";

const BATCH = 2500;
const AT_ONCE = 48;

export interface Parts {
  readonly forwarder: ForwarderProcess;
  readonly node: Upstream;
  readonly go: Upstream;
}

export interface Findings {
  inputs: number;
  /** Requests that the forwarder sent on, to both upstreams together. */
  forwarded: number;
  /** Requests that both upstreams took whole, so that their bodies could be compared. */
  compared: number;
  /**
   * Requests that the forwarder refused for their shape. It counts them itself: on a busy machine clients give up
   * before they hear.
   */
  refused: number;
  readonly faults: string[];
}

/** Sends each input through the forwarder to both upstreams, and compares what the three of them understood. */
export async function campaign(seed: number, count: number, parts: Parts): Promise<Findings> {
  const findings: Findings = { inputs: 0, forwarded: 0, compared: 0, refused: 0, faults: [] };
  let late: ForwardedTo = { node: [], go: [], defects: [], refused: 0 };
  for (let first = 0; first < count; first += BATCH) {
    const inputs = Array.from({ length: Math.min(BATCH, count - first) }, (_, at) =>
      nextInput(randomOf(seed, first + at)),
    );
    await sendAll(inputs, first, parts, seed);
    late = await judge(inputs, first, parts, late, findings);
    findings.inputs += inputs.length;
    if (findings.faults.length > 0) break;
  }
  return findings;
}

async function sendAll(inputs: readonly Input[], first: number, { forwarder }: Parts, seed: number): Promise<void> {
  let next = 0;
  const work = async () => {
    for (let at = next++; at < inputs.length; at = next++) {
      const { bytes, meant } = inputs[at] as Input;
      const sending = { from: addressOf(first + at), bytes, answered: meant !== undefined };
      await Promise.all(
        [forwarder.nodePort, forwarder.goPort].map((port) =>
          send({ ...sending, port, random: randomOf(~seed, first + at) }),
        ),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function judge(
  inputs: readonly Input[],
  first: number,
  { forwarder, node, go }: Parts,
  late: ForwardedTo,
  findings: Findings,
): Promise<ForwardedTo> {
  await forwarder.settled();
  // In this order: whatever an upstream has seen by now was forwarded before.
  const [byNode, byGo] = [await node.taken(), await go.taken()];
  const forwarded = await forwarder.forwarded();
  const { faults } = findings;
  faults.push(...forwarded.defects);
  // A client may be gone before its connection was accepted, so that its request comes with the next batch.
  const known = { node: [...late.node, ...forwarded.node], go: [...late.go, ...forwarded.go] };
  faults.push(...differences({ upstream: "node", forwarded: known.node, seen: byNode }));
  faults.push(...differences({ upstream: "go", forwarded: known.go, seen: byGo }));
  const { compared, found } = disagreements(byNode, byGo);
  faults.push(...found);
  for (const seen of [byNode, byGo]) {
    const byId = new Map(seen.map((request): [string, Seen] => [request.id, request]));
    for (const [at, input] of inputs.entries()) faults.push(...losses(input, first + at, byId));
  }
  findings.forwarded += forwarded.node.length + forwarded.go.length;
  findings.compared += compared;
  findings.refused = forwarded.refused;
  return forwarded;
}

/** An input depends on its number and the seed alone, so that one can be repeated without the others. */
function randomOf(seed: number, index: number): Random {
  return new Random(Math.imul(seed, 0x9e3779b1) + index);
}
