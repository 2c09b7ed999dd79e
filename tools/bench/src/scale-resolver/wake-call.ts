import type { Cluster } from "./cluster.ts";
import type { Holder } from "./holder.ts";
import type { Rig } from "./rig.ts";

const BURST = 20;

export interface WakeCall {
  /** Milliseconds from the first request of a burst to the call that scales its workload. */
  readonly took: number;
  /** Calls that the burst made, and those of them that changed something: the others found it done. */
  readonly calls: number;
  readonly changes: number;
}

/** A burst on a service at zero: when the API server hears of it. */
export async function wakeCall(rig: Rig, cluster: Cluster, holder: Holder): Promise<WakeCall> {
  const pod = rig.newPod();
  await rig.pods.ask("listen", pod);
  await cluster.scaleCalls();
  const name = rig.newBurst();
  const sent = await rig.clients.ask("burst", { name, port: holder.port, count: BURST, mixed: false });
  await rig.waits(holder, BURST);
  await holder.release(pod);
  await rig.finish(name);
  const calls = await cluster.scaleCalls();
  await holder.rest();
  await rig.pods.ask("close", pod);
  return {
    took: (calls[0]?.at ?? NaN) - sent,
    calls: calls.length,
    changes: calls.filter(({ status }) => status === 200).length,
  };
}
