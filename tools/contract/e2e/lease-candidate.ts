import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connectKube, leaseLeadership, leases } from "@evenkeel/kube";
import { createLogger, type Loop, systemClock } from "@evenkeel/runtime";

// A process that tries to lead. While it does it writes to the fenced record at --record without a pause, once with the
// question whether its term still lasts and once without. It says on its standard output what becomes of it.

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string", default: "" },
    lease: { type: "string", default: "" },
    identity: { type: "string", default: "" },
    record: { type: "string", default: "" },
    timing: { type: "string", default: "" },
    /** Milliseconds by which this process's wall clock is wrong. */
    skew: { type: "string", default: "0" },
  },
});
const { identity, record } = values;

const settings = {
  ...{ kubeconfig: values.kubeconfig, kubeContext: undefined, kubeDeadline: 30_000 },
  ...{ kubeConnections: 2, kubeQps: 0, kubeBurst: 1 },
};
const client = connectKube({ settings, env: {}, userAgent: `lease-candidate/${identity}` });
const [leaseDuration = 0, leaseRenewDeadline = 0, leaseRetryPeriod = 0] = values.timing.split(",").map(Number);
const leadership = leaseLeadership({
  leases: client.resource(leases, { lane: "urgent" }),
  ...{ namespace: "default", name: values.lease, identity, random: Math.random },
  timing: { leaseDuration, leaseRenewDeadline, leaseRetryPeriod },
  clock: { ...systemClock, now: () => Date.now() + Number(values.skew) },
  log: createLogger({ service: identity, level: "info", secrets: [], destination: process.stderr }),
});

const say = (news: Readonly<Record<string, unknown>>) => process.stdout.write(`${JSON.stringify(news)}\n`);

const lead: Loop = async (term) => {
  const token = String(term.fencingToken);
  say({ leading: token });
  const ended = () => term.signal.aborted;
  while (!ended()) {
    await write(`${record}?identity=${identity}&token=${token}`);
    if (term.held()) await write(`${record}?identity=${identity}&token=${token}&asked=yes`);
    await delay(5);
  }
  say({ ended: token });
};

function write(url: string): Promise<void> {
  return new Promise((resolve) => {
    const call = request(url, { method: "POST" }, (answer) => answer.resume().once("close", resolve));
    call.once("error", () => resolve());
    call.end();
  });
}

const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());
say({ trying: true });
await leadership.campaign(stopping.signal, lead);
await client.stop();
say({ stopped: true });
