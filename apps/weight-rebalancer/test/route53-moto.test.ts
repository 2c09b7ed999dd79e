import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger, systemClock } from "@evenkeel/runtime";
import { type RecordSet } from "@evenkeel/sim";
import { Route53Client, type Route53Harness } from "@evenkeel/sim/contract";
import { hasPython, startMoto } from "@evenkeel/world-contract";
import type { Route53Spec } from "../src/targets/route53/aws-identity.ts";
import { Route53Targets, type Route53TargetsOptions } from "../src/targets/route53/route53-targets.ts";
import { KnownSecrets, weighted } from "./route53-world.ts";

const never = new AbortController().signal;
const lastLook = () => undefined;
const fresh = { signal: never, maxAge: 0 };

if (await hasPython()) {
  describe("weighted records on moto", () => {
    let moto: Route53Harness;
    let wire: Route53Client;
    beforeAll(async () => {
      moto = await startMoto();
      wire = new Route53Client(moto.url);
    }, 300_000);
    afterAll(() => moto.stop());

    const zoneWith = async (...records: RecordSet[]): Promise<string> => {
      const zone = await moto.createZone("example.com");
      for (const record of records) await wire.change(zone, ["CREATE", record]);
      return zone;
    };
    const weightsOf = async (zone: string): Promise<Record<string, number | undefined>> => {
      const { records } = await wire.list(zone);
      const sets = records.filter(({ setIdentifier }) => setIdentifier !== undefined);
      return Object.fromEntries(sets.map(({ setIdentifier = "", weight }) => [setIdentifier, weight]));
    };
    const specOf = (
      hostedZoneID: string,
      name: string,
      identifier: string,
      more: Partial<Route53Spec> = {},
    ): Route53Spec => ({
      hostedZoneID,
      endpoint: moto.url,
      resource: { name, type: "A", identifier },
      auth: { secretRef: { accessKeyIDSecretRef: { key: "id" }, secretAccessKeySecretRef: { key: "key" } } },
      ...more,
    });
    /** Targets on the real clock, with the calls that they made. */
    const opened = (options: Partial<Route53TargetsOptions> = {}) => {
      const calls: string[] = [];
      const lines: string[] = [];
      const targets = new Route53Targets({
        clock: systemClock,
        log: createLogger({
          service: "test",
          level: "debug",
          secrets: [],
          destination: { write: (line: string) => lines.push(line) },
        }),
        ambient: new Set(),
        random: Math.random,
        rate: 10,
        batchWindow: 50,
        env: {},
        calls: { inc: ({ action, result }) => void calls.push(`${action} ${result}`) },
        secrets: new KnownSecrets(),
        ...options,
      });
      return { targets, calls, lines, [Symbol.dispose]: () => targets.stop() };
    };

    test.each(["www.example.com", "www.example.com.", "WWW.example.com"])(
      "are read and written by the name %s",
      async (name) => {
        using world = opened();
        const zone = await zoneWith(weighted("base", 8), weighted("burst", 1));
        const target = world.targets.target("default", specOf(`hostedzone/${zone}`, name, "burst"));
        expect(await target.read(fresh)).toMatchObject({
          weight: 1,
          others: [{ name: "base", weight: 8 }],
          timeToLive: 60_000,
        });
        await target.write(16, { signal: never, lastLook });
        expect(await weightsOf(zone)).toEqual({ base: 8, burst: 16 });
        expect(await target.read(fresh)).toMatchObject({ weight: 16 });
      },
    );

    test("are told from those of another type and from NS and SOA at an apex", async () => {
      using world = opened();
      const apex = { name: "example.com" };
      const six = weighted("six", 5, { ...apex, type: "AAAA", values: ["2001:db8::1"] });
      const zone = await zoneWith(weighted("base", 8, apex), weighted("burst", 1, apex), six);
      const target = world.targets.target("default", specOf(zone, "example.com", "burst"));
      expect(await target.read(fresh)).toMatchObject({ weight: 1, others: [{ name: "base", weight: 8 }] });
      await target.write(3, { signal: never, lastLook });
      expect(await weightsOf(zone)).toEqual({ base: 8, burst: 3, six: 5 });
    });

    test("are found under a wildcard", async () => {
      using world = opened();
      const zone = await zoneWith(weighted("base", 8, { name: "*.example.com" }));
      const target = world.targets.target("default", specOf(zone, "*.example.com", "base"));
      expect(await target.read(fresh)).toMatchObject({ weight: 8 });
    });

    test("of a wrong identifier are a coded error that lists the right ones", async () => {
      using world = opened();
      const zone = await zoneWith(weighted("base", 8), weighted("burst", 1));
      const reading = world.targets.target("default", specOf(zone, "www.example.com", "brust")).read(fresh);
      await expect(reading).rejects.toMatchObject({ code: "EK_WEIGHT_ROUTE53_NO_RECORD", recovery: "terminal" });
      await expect(reading).rejects.toThrow("base, burst");
    });

    test("of a zone that does not exist are a coded error", async () => {
      using world = opened();
      const reading = world.targets.target("default", specOf("ZNONE", "www.example.com", "base")).read(fresh);
      await expect(reading).rejects.toMatchObject({ code: "EK_WEIGHT_ROUTE53_NO_ZONE" });
    });

    test("are written with a role that is kept, and taken anew before it expires", async () => {
      let roles = 0;
      const sts = createServer((request, response) => {
        roles += 1;
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          const headers = { ...(request.headers as Record<string, string>) };
          void fetch(`${moto.url}/`, { method: "POST", headers: sendable(headers), body: Buffer.concat(chunks) }).then(
            async (answer) =>
              response.writeHead(answer.status, { "content-type": "text/xml" }).end(await answer.text()),
          );
        });
      });
      await new Promise<void>((resolve) => sts.listen(0, "127.0.0.1", resolve));
      const stsEndpoint = `http://127.0.0.1:${(sts.address() as AddressInfo).port}`;
      try {
        let ahead = 0;
        const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
        using world = opened({ stsEndpoint, clock });
        const zone = await zoneWith(weighted("base", 8), weighted("burst", 1));
        const { auth } = specOf(zone, "www.example.com", "burst");
        const assumeRole = { roleARN: "arn:aws:iam::123456789012:role/weights", externalID: "evenkeel" };
        const spec = specOf(zone, "www.example.com", "burst", { auth: { ...auth, assumeRole } });
        const target = world.targets.target("default", spec);
        await target.read(fresh);
        await target.write(16, { signal: never, lastLook });
        expect(await weightsOf(zone)).toEqual({ base: 8, burst: 16 });
        expect(roles).toBe(1);
        ahead = 54 * 60_000;
        await target.read(fresh);
        expect(roles).toBe(1);
        ahead = 56 * 60_000;
        expect(await target.read(fresh)).toMatchObject({ weight: 16 });
        expect(roles).toBe(2);
      } finally {
        sts.closeAllConnections();
        await new Promise((resolve) => sts.close(resolve));
      }
    });

    test("are 200 in 5 zones with one list a zone, and one more with one batch a zone when all change", async () => {
      using world = opened();
      const names = Array.from({ length: 40 }, (_, i) => `r${String(i).padStart(2, "0")}.example.com`);
      const zones = await Promise.all(Array.from({ length: 5 }, () => zoneOfMany(names)));
      const targets = zones.flatMap((zone) =>
        names.map((name) => world.targets.target("default", specOf(zone, name, `burst ${name}`))),
      );
      const states = await Promise.all(targets.map((target) => target.read({ signal: never, maxAge: 30_000 })));
      expect(states.map(({ weight }) => weight)).toEqual(Array(200).fill(1));
      expect(world.calls).toEqual(Array(5).fill("list ok"));
      await Promise.all(targets.map((target) => target.read({ signal: never, maxAge: 30_000 })));
      expect(world.calls).toHaveLength(5);
      await Promise.all(targets.map((target) => target.write(2, { signal: never, lastLook })));
      expect(world.calls.filter((call) => call === "change ok")).toHaveLength(5);
      expect(world.calls.filter((call) => call === "list ok")).toHaveLength(10);
      for (const zone of zones) {
        const { records } = await wire.list(zone);
        expect(records.filter(({ weight }) => weight === 2)).toHaveLength(40);
      }
      expect(world.calls.filter((call) => !call.endsWith("ok"))).toEqual([]);
    }, 60_000);

    const zoneOfMany = async (names: readonly string[]): Promise<string> => {
      const zone = await moto.createZone("example.com");
      // A DELETE removes every record of the zone with that identifier from moto, whatever its name.
      const records = names.flatMap((name) => [weighted("base", 8, { name }), weighted(`burst ${name}`, 1, { name })]);
      await wire.change(zone, ...records.map((record) => ["CREATE", record] as const));
      return zone;
    };
  });
} else
  test.skip("weighted records on moto: python3 with venv is not installed (Debian: python3-venv)", () => undefined);

/** Headers of a request that another connection may carry on. */
function sendable(headers: Record<string, string>): Record<string, string> {
  const own = new Set(["host", "connection", "content-length"]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name)));
}
