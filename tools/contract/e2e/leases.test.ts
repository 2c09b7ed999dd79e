import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Cluster, startCluster } from "@evenkeel/control-plane";
import { eventually } from "@evenkeel/runtime/testing";
import { type Attempt, FencedRecord } from "./fenced-record.ts";

/** Milliseconds. Shorter than in production, in the same proportions. */
const timing = { duration: 6000, renewDeadline: 4000, retryPeriod: 600 };
/** What a machine under load may add to any of them. */
const SLACK = 4000;
const FAIL_OVER = timing.duration + timing.retryPeriod * 1.2 + SLACK;

let cluster: Cluster;
let record: FencedRecord;
let address: string;
let lease: string;
const candidates: Candidate[] = [];
const measured: Record<string, number> = {};

beforeAll(async () => {
  cluster = await startCluster({ name: "leases", nodes: 0 });
}, 180_000);
afterAll(async () => {
  process.stderr.write(`fail-over in ms, of a lease of ${timing.duration} ms: ${JSON.stringify(measured)}\n`);
  await cluster.stop();
}, 60_000);

let cases = 0;
beforeEach(async () => {
  lease = `case-${++cases}`;
  record = new FencedRecord();
  address = await record.listen();
});
afterEach(async () => {
  for (const candidate of candidates) await candidate.kill();
  candidates.length = 0;
  await record.close();
}, 30_000);

/** A process of its own. */
class Candidate {
  readonly identity: string;
  readonly news: Readonly<Record<string, unknown>>[] = [];
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  constructor(identity: string, skew = 0) {
    this.identity = identity;
    const { duration, renewDeadline, retryPeriod } = timing;
    const script = join(import.meta.dirname, "lease-candidate.ts");
    const settings = { kubeconfig: cluster.kubeconfig, lease, identity, record: address, skew };
    const given = { ...settings, timing: [duration, renewDeadline, retryPeriod].join(",") };
    const flags = Object.entries(given).map(([name, value]) => `--${name}=${value}`);
    this.#child = spawn(process.execPath, [script, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
    this.#exited = once(this.#child, "exit");
    this.#child.stderr?.resume();
    if (this.#child.stdout) {
      createInterface({ input: this.#child.stdout }).on("line", (line) => {
        this.news.push(JSON.parse(line) as Readonly<Record<string, unknown>>);
      });
    }
    candidates.push(this);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get terms(): readonly bigint[] {
    return this.news.flatMap(({ leading }) => (typeof leading === "string" ? [BigInt(leading)] : []));
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    if (!this.isRunning) return;
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  async exit(): Promise<void> {
    await this.#exited;
  }
}

type Act = () => Promise<void> | void;

const outages: readonly (readonly [how: string, lose: Act, regain: Act])[] = [
  ["hangs", () => cluster.pause("kube-apiserver"), () => cluster.resume("kube-apiserver")],
  ["is gone", () => cluster.kill("kube-apiserver"), () => cluster.restart("kube-apiserver")],
];

const by = (identity: string) => (attempt: Attempt) => attempt.identity === identity;
const notBy = (identity: string) => (attempt: Attempt) => attempt.identity !== identity && attempt.accepted;

async function someoneLeads(): Promise<{ readonly leader: Candidate; readonly token: bigint }> {
  const { identity, token } = await record.next(({ accepted }) => accepted, 30_000);
  const leader = candidates.find((candidate) => candidate.identity === identity);
  if (!leader) throw new Error(`nobody is called ${identity}`);
  return { leader, token };
}

/** Each accepted token is one process's, and what was accepted never went back. */
function expectOneLeaderAtATime(): void {
  const accepted = record.attempts.filter((attempt) => attempt.accepted);
  const holders = new Map<bigint, string>();
  for (const { token, identity } of accepted)
    expect(holders.set(token, holders.get(token) ?? identity).get(token)).toBe(identity);
  const tokens = accepted.map(({ token }) => token);
  expect(tokens.every((token, index) => token >= (tokens[index - 1] ?? 0n))).toBe(true);
}

describe("processes that lead by a lease of a real API server", () => {
  test("one of three leads although their wall clocks are days apart, and kill -9 makes another the leader", async () => {
    for (const [index, skew] of [0, 86_400_000, -172_800_000].entries()) new Candidate(`c${index}`, skew);
    const { leader, token } = await someoneLeads();
    await delay(timing.duration * 1.5);
    expect(record.attempts.every(by(leader.identity))).toBe(true);
    const killedAt = performance.now();
    await leader.kill();
    const next = await record.next(notBy(leader.identity), FAIL_OVER);
    measured["kill -9"] = Math.round(next.at - killedAt);
    expect(next.token).toBeGreaterThan(token);
    expectOneLeaderAtATime();
    expect(record.attempts.every(({ accepted }) => accepted)).toBe(true);
  }, 60_000);

  test("a leader that is frozen is replaced, and when it goes on nothing that it writes is taken", async () => {
    new Candidate("a");
    new Candidate("b");
    const { leader, token } = await someoneLeads();
    leader.signal("SIGSTOP");
    const frozenAt = performance.now();
    const next = await record.next(notBy(leader.identity), FAIL_OVER);
    measured["SIGSTOP"] = Math.round(next.at - frozenAt);
    expect(next.token).toBeGreaterThan(token);
    const before = record.attempts.length;
    leader.signal("SIGCONT");
    // Long enough for it to write, to notice, and to try for the lease again.
    await delay(timing.retryPeriod * 4);
    const late = record.attempts.slice(before).filter(by(leader.identity));
    expect(late.filter(({ accepted }) => accepted)).toEqual([]);
    // What it had asked for before it was frozen may still go out once; it never asks and writes again.
    expect(late.filter(({ asked }) => asked).length).toBeLessThanOrEqual(1);
    expect(leader.news.at(-1)).toEqual({ ended: String(token) });
    expect(leader.isRunning).toBe(true);
    expectOneLeaderAtATime();
  }, 60_000);

  test("SIGTERM ends the leader's work first and gives the lease back, so that another leads within a retry period", async () => {
    new Candidate("a");
    new Candidate("b");
    const { leader } = await someoneLeads();
    await eventually(() => candidates.every(({ news }) => news.length > 0));
    const askedAt = performance.now();
    leader.signal("SIGTERM");
    const next = await record.next(notBy(leader.identity), timing.retryPeriod * 1.2 + SLACK);
    measured["SIGTERM"] = Math.round(next.at - askedAt);
    await leader.exit();
    expect(leader.news.at(-1)).toEqual({ stopped: true });
    const mine = record.attempts.findLastIndex(by(leader.identity));
    expect(mine).toBeLessThan(record.attempts.indexOf(next));
    expectOneLeaderAtATime();
  }, 60_000);

  test.each(outages)(
    "when the API server %s the leader stops in time and nobody leads; when it is back someone does; no process ends",
    async (_how, lose, regain) => {
      new Candidate("a");
      new Candidate("b");
      const { leader, token } = await someoneLeads();
      const lostAt = performance.now();
      await lose();
      await delay(timing.duration + SLACK);
      const last = record.last;
      expect(last?.identity).toBe(leader.identity);
      expect((last?.at ?? Infinity) - lostAt).toBeLessThan(timing.duration);
      await regain();
      const next = await record.next(({ accepted }) => accepted, 30_000);
      expect(next.token).toBeGreaterThan(token);
      expectOneLeaderAtATime();
      expect(candidates.every((candidate) => candidate.isRunning)).toBe(true);
    },
    90_000,
  );

  test("when the lease is deleted the leader stops, and the next one has a larger token all the same", async () => {
    new Candidate("a");
    new Candidate("b");
    const { token } = await someoneLeads();
    // Long enough for the other one to see the lease. It says nothing of that.
    await delay(timing.retryPeriod * 3);
    const next = record.next((attempt) => attempt.token > token, FAIL_OVER * 2);
    expect((await cluster.kubectl(["delete", "lease", lease, "--wait=false"])).code).toBe(0);
    const { at } = await next;
    // Nobody can know whether the former leader has noticed: its time must run out first.
    const last = record.attempts.findLast((attempt) => attempt.token === token);
    measured["lease deleted"] = Math.round(at - (last?.at ?? 0));
    expect(at - (last?.at ?? 0)).toBeGreaterThan(timing.renewDeadline);
    expectOneLeaderAtATime();
    expect(record.attempts.every(({ accepted }) => accepted)).toBe(true);
  }, 60_000);
});
