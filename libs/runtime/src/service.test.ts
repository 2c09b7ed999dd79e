import { describe, expect, test } from "@jest/globals";
import { gauge } from "@evenkeel/metrics";
import type { Decider, Snapshot } from "./decision/index.ts";
import { FakeClock } from "./testing/fake-clock.ts";
import { FakeHost } from "./testing/fake-host.ts";
import { type Leadership, termUntil } from "./lifecycle/index.ts";
import { Service } from "./service.ts";
import { readSettings, runtimeSettings, setting, splitCommandLine } from "./settings/index.ts";

interface Tank extends Snapshot {
  readonly level: number;
}

const definition = {
  name: "sample",
  summary: "Keeps a tank level",
  version: "1.2.3",
  settings: {
    ...runtimeSettings,
    token: setting.text({ optional: true, secret: true, help: "Token" }),
    peers: setting.list({ default: "", secret: true, help: "Tokens of the peers" }),
  },
  metrics: { level: gauge("level", "Level.", {}), weight: gauge("weight", "Weight.", {}, { leaderOnly: true }) },
  decider: {
    actions: ["hold", "pump"],
    reasons: ["Low", "Level"],
    decide: ({ level }: Tank) => ({
      object: { kind: "Tank", name: "port" },
      action: level < 50 ? ("pump" as const) : ("hold" as const),
      reason: level < 50 ? ("Low" as const) : ("Level" as const),
      before: level,
      after: 50,
      message: `level ${level}`,
    }),
  } satisfies Decider<Tank, "hold" | "pump", "Low" | "Level", number>,
};

function build(args: readonly string[] = []) {
  const host = new FakeHost();
  const clock = new FakeClock();
  const loopback = ["--listen-host=127.0.0.1", "--admin-port=0", "--health-port=0", ...args];
  const reading = readSettings(definition.settings, splitCommandLine(definition.settings, loopback).flags, {});
  if (!reading.ok) throw new Error(reading.faults.join("\n"));
  const service = new Service(definition, reading, host.host, clock);
  return { host, clock, service };
}

type Stage = ReturnType<typeof build>;

/** Runs it until it is ready; real sockets open in real time. */
async function run({ host, service }: Stage) {
  const exit = service.run();
  while (!host.lines.some(({ phase }) => phase === "ready")) await new Promise((resolve) => setImmediate(resolve));
  const { ports } = host.lines.find(({ phase }) => phase === "ready") as unknown as { ports: Record<string, number> };
  const ask = async (server: "admin" | "health", path: string) => {
    const response = await fetch(`http://127.0.0.1:${ports[server] ?? 0}${path}`);
    return `${response.status} ${await response.text()}`;
  };
  return { ask, exit };
}

const settle = () => new FakeClock().advance(0);

describe("a service", () => {
  test("answers probes and scrapes from before its parts start until after they have stopped", async () => {
    const stage = build();
    const { service, host } = stage;
    const seen: string[] = [];
    const probe = async () => {
      const ready = host.lines.length > 0;
      const response = await fetch(`http://127.0.0.1:${service.admin.port}/metrics`);
      seen.push(`${response.status} ${ready ? "stopping" : "starting"}`);
    };
    service.use({ name: "part", start: probe, stop: probe });
    const { ask, exit } = await run(stage);
    expect(await ask("health", "/readyz")).toBe("200 ok\n");
    expect(await ask("health", "/livez")).toBe("200 ok\n");
    host.emit("SIGTERM", "SIGTERM");
    expect(await exit).toBe(0);
    expect(seen).toEqual(["200 starting", "200 stopping"]);
  });

  test("exposes what it is, its own metrics, its decisions and its process", async () => {
    const stage = build();
    const { ask, exit } = await run(stage);
    stage.service.metrics.level.set({}, 30);
    stage.service.decisions.decide({ at: "2026-01-01T00:00:00Z", level: 30 });
    const text = await ask("admin", "/metrics");
    expect(text).toContain('evenkeel_build_info{service="sample",version="1.2.3"} 1\n');
    expect(text).toContain("\nlevel 30\n");
    expect(text).toContain('evenkeel_decisions_total{action="pump",reason="Low"} 1\n');
    expect(text).toContain('evenkeel_decisions_total{action="hold",reason="Low"} 0\n');
    expect(text).toContain("process_resident_memory_bytes ");
    stage.host.emit("SIGTERM", "SIGTERM");
    await exit;
  });

  test("gives a decision's recording at the address that its status page links to", async () => {
    const stage = build();
    const { ask, exit } = await run(stage);
    const { id } = stage.service.decisions.decide({ at: "2026-01-01T00:00:00Z", level: 30 });
    expect(await ask("admin", "/")).toContain(`/api/v1/Decisions/Snapshot?id=${id}`);
    expect(await ask("admin", `/api/v1/Decisions/Snapshot?id=${id}`)).toContain('"snapshot":{"at"');
    stage.host.emit("SIGTERM", "SIGTERM");
    await exit;
  });

  test("tells its status, with secrets masked", async () => {
    const { service, clock } = build(["--token=hunter2"]);
    await clock.advance(5000);
    clock.jump(3_600_000);
    const status = await service.status();
    expect(status).toMatchObject({
      service: "sample",
      summary: "Keeps a tank level",
      version: "1.2.3",
      phase: "starting",
      uptime: 5000,
      unready: [{ name: "lifecycle", reason: "starting" }],
      decisions: [],
    });
    expect(status.settings).toContainEqual({ name: "token", value: "********", source: "--token" });
    expect(JSON.stringify(status)).not.toContain("hunter2");
  });

  test("never logs a secret that it was given, not even one of a list", () => {
    const { service, host } = build(["--token=hunter2", "--peers=swordfish,excalibur"]);
    service.log.info({ a: "hunter2" }, "swordfish and excalibur");
    expect(host.lines).toHaveLength(1);
    expect(host.out).not.toMatch(/hunter2|swordfish|excalibur/);
  });

  test("decides in a dry run when its flag says so", () => {
    const { service } = build(["--dry-run"]);
    expect(service.decisions.decide({ at: "2026-01-01T00:00:00Z", level: 30 }).dryRun).toBe(true);
  });

  test("keeps as many snapshots as its settings say", () => {
    const { service } = build(["--recorded-snapshots=1"]);
    const ids = [30, 60].map((level) => service.decisions.decide({ at: "2026-01-01T00:00:00Z", level }).id);
    expect(ids.map((id) => service.decisions.recording(id) !== undefined)).toEqual([false, true]);
  });

  test("outlives a reader of its log that goes away", () => {
    const { host } = build();
    expect(() => host.stdout.emit("error", new Error("EPIPE"))).not.toThrow();
  });

  test("drains the servers that were opened", async () => {
    const stage = build(["--shutdown-delay=0"]);
    let drained = false;
    stage.service.open({ name: "server", port: 1, drain: () => Promise.resolve(Number((drained = true)) - 1) });
    const { exit } = await run(stage);
    stage.host.emit("SIGTERM", "SIGTERM");
    await stage.clock.advance(0);
    expect([await exit, drained]).toEqual([0, true]);
  });
});

describe("work that the leader alone does", () => {
  test("is done at once and every interval, and a turn that fails is logged under its name", async () => {
    const stage = build();
    let turns = 0;
    stage.service.leadEvery("rebalance", 1000, () => {
      turns += 1;
      return turns === 2 ? Promise.reject(new Error("no sample")) : Promise.resolve();
    });
    const { exit } = await run(stage);
    await stage.clock.advance(2500);
    expect(turns).toBe(3);
    expect(stage.host.lines).toContainEqual(
      expect.objectContaining({
        level: "error",
        component: "rebalance",
        error: expect.objectContaining({ message: "no sample" }),
      }),
    );
    stage.host.emit("SIGTERM", "SIGTERM");
    expect(await exit).toBe(0);
  });

  test("is done in the terms of whoever decides them", async () => {
    const stage = build();
    const won = Promise.withResolvers<undefined>();
    const leadership: Leadership = {
      campaign: async (signal, lead) => {
        await won.promise;
        await lead(termUntil(signal, 41n));
      },
    };
    const tokens: bigint[] = [];
    stage.service.electBy(leadership);
    stage.service.lead("loop", async ({ signal, fencingToken }) => {
      tokens.push(fencingToken);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    const { exit } = await run(stage);
    expect(tokens).toEqual([]);
    won.resolve(undefined);
    await settle();
    expect(tokens).toEqual([41n]);
    stage.host.emit("SIGTERM", "SIGTERM");
    expect(await exit).toBe(0);
  });

  test("is forgotten with its term: gauges of the leader, and what was decided last", async () => {
    const stage = build();
    const { service } = stage;
    const terms: AbortController[] = [];
    const ended: string[] = [];
    service.electBy({
      campaign: async (signal, lead) => {
        while (!signal.aborted) {
          const term = new AbortController();
          terms.push(term);
          await lead(termUntil(AbortSignal.any([signal, term.signal]), BigInt(terms.length)));
        }
      },
    });
    service.lead("loop", async ({ signal }) => {
      service.metrics.weight.set({}, 7);
      service.metrics.level.set({}, 30);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    service.afterTerm(() => void service.registry.text().then((text) => ended.push(text)));
    const { exit } = await run(stage);
    const first = service.decisions.decide({ at: "2026-01-01T00:00:00Z", level: 30 });
    terms[0]?.abort();
    await settle();
    expect(ended).toEqual([expect.stringMatching(/\nlevel 30\n/)]);
    expect(ended).toEqual([expect.not.stringMatching(/\nweight /)]);
    expect(await service.registry.text()).toMatch(/\nweight 7\n/);
    expect(service.decisions.decide({ at: "2026-01-01T00:00:01Z", level: 31 }).id).not.toBe(first.id);
    stage.host.emit("SIGTERM", "SIGTERM");
    expect(await exit).toBe(0);
  });
});
