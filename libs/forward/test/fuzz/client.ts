import { connect } from "node:net";
import type { Random } from "./random.ts";

/**
 * How long a connection may be silent until it is given up: nobody knows whether broken bytes will be answered.
 * Milliseconds.
 */
const SILENCE = 120;
/** The same for well-formed requests, which are always answered. */
const PATIENCE = 15_000;

export interface Sending {
  readonly port: number;
  /** The address to come from, by which the forwarder knows the input. */
  readonly from: string;
  readonly bytes: Buffer;
  /** Whether an answer must come. */
  readonly answered: boolean;
  readonly random: Random;
}

/** Sends bytes in up to three parts, and reads what comes back until the connection ends or falls silent. */
export function send({ port, from, bytes, answered, random }: Sending): Promise<void> {
  const cuts = [random.below(bytes.length + 1), random.below(bytes.length + 1)].toSorted((a, b) => a - b);
  const parts = [bytes.subarray(0, cuts[0]), bytes.subarray(cuts[0], cuts[1]), bytes.subarray(cuts[1])];
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from, noDelay: true });
    socket.setTimeout(answered ? PATIENCE : SILENCE, () => socket.destroy());
    socket.resume();
    socket.on("error", () => undefined);
    socket.on("end", () => socket.end());
    socket.on("close", () => resolve());
    const next = () => {
      const part = parts.shift();
      if (!part || socket.destroyed) return;
      socket.write(part, () => setImmediate(next));
    };
    socket.on("connect", next);
  });
}
