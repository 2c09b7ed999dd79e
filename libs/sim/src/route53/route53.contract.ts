import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { RecordSet } from "./record-set.ts";
import { type ListQuery, Route53Client } from "./route53-client.ts";
import { element } from "./xml.ts";

export { Route53Client } from "./route53-client.ts";

/** One implementation of the API, brought up for the suite. */
export interface Route53Harness {
  readonly url: string;
  /** Makes an empty zone and gives its id without a prefix. */
  createZone(name: string): Promise<string>;
  /** Resolves when the changes so far may be INSYNC. */
  propagate(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * What services rely on of Route 53, as cases for jest: registered once for each implementation. Each case has a zone
 * of its own.
 */
export function route53Contract(implementation: string, start: () => Promise<Route53Harness>): void {
  describe(implementation, () => {
    let harness: Route53Harness;
    let client: Route53Client;
    beforeAll(async () => {
      harness = await start();
      client = new Route53Client(harness.url);
    }, 300_000);
    afterAll(() => harness.stop());

    const zoneWith = async (...records: RecordSet[]): Promise<string> => {
      const zone = await harness.createZone("example.com");
      for (const record of records) await client.change(zone, ["CREATE", record]);
      return zone;
    };
    /** What was put into a zone, without the sets of its apex. */
    const recordsOf = async (zone: string): Promise<readonly RecordSet[]> =>
      (await client.list(zone)).records.filter(({ name }) => name !== "example.com.");
    const weights = async (zone: string): Promise<Record<string, number | undefined>> =>
      Object.fromEntries((await recordsOf(zone)).map(({ setIdentifier = "", weight }) => [setIdentifier, weight]));

    test("lists the NS and SOA sets of a new zone", async () => {
      const { records, truncated, maxItems } = await client.list(await zoneWith());
      expect(records.map(({ name, type }) => [name, type])).toEqual([
        ["example.com.", "NS"],
        ["example.com.", "SOA"],
      ]);
      expect({ truncated, maxItems }).toEqual({ truncated: false, maxItems: 300 });
    });

    test("tells a zone's full id, its name with a trailing dot and how many record sets it has", async () => {
      const zone = await zoneWith(weighted("a", 1));
      expect(await client.getZone(zone)).toEqual({ id: `/hostedzone/${zone}`, name: "example.com.", records: 3 });
    });

    test("lists a weighted set whole, its name with a trailing dot", async () => {
      const zone = await zoneWith(weighted("a", 10));
      expect(await recordsOf(zone)).toEqual([{ ...weighted("a", 10), name: "www.example.com." }]);
    });

    test("changes the weight of one identifier and leaves the others", async () => {
      const zone = await zoneWith(weighted("a", 10), weighted("b", 20));
      await client.change(zone, ["UPSERT", weighted("b", 99)]);
      expect(await weights(zone)).toEqual({ a: 10, b: 99 });
    });

    test("takes a name with a trailing dot as the same", async () => {
      const zone = await zoneWith(weighted("a", 10));
      await client.change(zone, ["UPSERT", { ...weighted("a", 11), name: "www.example.com." }]);
      expect(await weights(zone)).toEqual({ a: 11 });
    });

    test("creates by UPSERT what is missing", async () => {
      const zone = await zoneWith();
      await client.change(zone, ["UPSERT", weighted("a", 1)]);
      expect(await weights(zone)).toEqual({ a: 1 });
    });

    test("keeps the lightest and the heaviest weight as they are", async () => {
      const zone = await zoneWith(weighted("lightest", 0), weighted("heaviest", 255));
      expect(await weights(zone)).toEqual({ lightest: 0, heaviest: 255 });
    });

    test("changes several sets in one batch", async () => {
      const zone = await zoneWith(weighted("a", 1), weighted("b", 2));
      await client.change(zone, ["UPSERT", weighted("a", 3)], ["UPSERT", weighted("b", 4)]);
      expect(await weights(zone)).toEqual({ a: 3, b: 4 });
    });

    test("keeps an alias whole when its weight changes", async () => {
      const alias = { zone: "Z2ALIAS", name: "lb.example.net.", evaluateTargetHealth: true };
      const set: RecordSet = { name: "www.example.com.", type: "A", setIdentifier: "a", weight: 1, alias };
      const zone = await zoneWith(set);
      await client.change(zone, ["UPSERT", { ...set, weight: 7 }]);
      expect(await recordsOf(zone)).toEqual([{ ...set, weight: 7 }]);
    });

    test("keeps a health check and several values when a weight changes", async () => {
      const others = [element("HealthCheckId", "abcdef11-2222-3333-4444-555555fedcba")];
      const set = { ...weighted("a", 1), name: "www.example.com.", values: ["192.0.2.1", "192.0.2.2"], others };
      const zone = await zoneWith(set);
      await client.change(zone, ["UPSERT", { ...set, weight: 7 }]);
      expect(await recordsOf(zone)).toEqual([{ ...set, weight: 7 }]);
    });

    test("refuses to create what exists", async () => {
      const zone = await zoneWith(weighted("a", 1));
      const again = client.change(zone, ["CREATE", weighted("a", 1)]);
      await expect(again).rejects.toMatchObject({ status: 400, code: "InvalidChangeBatch" });
    });

    test("changes nothing when one change of a batch cannot be made", async () => {
      const zone = await zoneWith(weighted("a", 1), weighted("b", 2));
      const batch = client.change(zone, ["UPSERT", weighted("a", 9)], ["CREATE", weighted("b", 2)]);
      await expect(batch).rejects.toMatchObject({ status: 400, code: "InvalidChangeBatch" });
      expect(await weights(zone)).toEqual({ a: 1, b: 2 });
    });

    test("refuses a name outside the zone", async () => {
      const outside = client.change(await zoneWith(), ["UPSERT", { ...weighted("a", 1), name: "www.example.org" }]);
      await expect(outside).rejects.toMatchObject({ status: 400, code: "InvalidChangeBatch" });
    });

    test("refuses more than 1000 values in a batch, an UPSERT counted twice", async () => {
      const values = Array.from({ length: 501 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
      const zone = await zoneWith();
      const batch = client.change(zone, ["UPSERT", { name: "many.example.com", type: "A", ttl: 60, values }]);
      await expect(batch).rejects.toMatchObject({ status: 400, code: "InvalidChangeBatch" });
      await client.change(zone, ["CREATE", { name: "many.example.com", type: "A", ttl: 60, values }]);
    });

    test("refuses an action that it does not know", async () => {
      const set = element("ResourceRecordSet", [element("Name", "www.example.com"), element("Type", "A")]);
      const change = element("Change", [element("Action", "PATCH"), set]);
      const batch = element("ChangeBatch", [element("Changes", [change])]);
      const request = element("ChangeResourceRecordSetsRequest", [batch]);
      const patch = client.call("POST", `hostedzone/${await zoneWith()}/rrset`, request);
      await expect(patch).rejects.toMatchObject({ status: 400, code: "InvalidInput" });
    });

    test("deletes the set of one identifier", async () => {
      const zone = await zoneWith(weighted("a", 1), weighted("b", 2));
      await client.change(zone, ["DELETE", weighted("a", 1)]);
      expect(await weights(zone)).toEqual({ b: 2 });
    });

    test("replaces a set that is deleted as it is and created again in one batch", async () => {
      const zone = await zoneWith(weighted("a", 1), weighted("b", 2));
      await client.change(zone, ["DELETE", weighted("a", 1)], ["CREATE", weighted("a", 7)]);
      expect(await weights(zone)).toEqual({ a: 7, b: 2 });
    });

    test.each<[string, Partial<RecordSet>]>([
      ["TTL", { ttl: 61 }],
      ["values", { values: ["192.0.2.99"] }],
    ])("replaces nothing if the set has another %s than the request", async (_field, other) => {
      const zone = await zoneWith(weighted("a", 1), weighted("b", 2));
      const stale = { ...weighted("a", 1), ...other };
      const batch = client.change(zone, ["DELETE", stale], ["CREATE", { ...stale, weight: 7 }]);
      await expect(batch).rejects.toMatchObject({ status: 400 });
      expect(await weights(zone)).toEqual({ a: 1, b: 2 });
    });

    test("refuses to delete what is not there", async () => {
      const zone = await zoneWith(weighted("a", 1));
      const missing = { ...weighted("b", 1), name: "missing.example.com" };
      await expect(client.change(zone, ["DELETE", missing])).rejects.toMatchObject({ status: 400 });
      expect(await weights(zone)).toEqual({ a: 1 });
    });

    test("orders by the labels of names from the last to the first", async () => {
      const names = ["z.example.com.", "a.b.example.com.", "b.example.com.", "c.example.com."];
      const zone = await zoneWith(...names.map((name) => ({ ...weighted("a", 1), name })));
      const listed = (await recordsOf(zone)).map(({ name }) => name);
      expect(listed).toEqual(["b.example.com.", "a.b.example.com.", "c.example.com.", "z.example.com."]);
    });

    test("gives every set once over pages", async () => {
      const names = ["a", "b", "c", "d", "e"].map((label) => `${label}.example.com.`);
      const zone = await zoneWith(...names.map((name) => ({ ...weighted("x", 1), name })));
      const seen: string[] = [];
      for (let query: ListQuery | undefined = {}; query;) {
        const { records, next, truncated, maxItems } = await client.list(zone, { ...query, maxitems: 2 });
        expect(records.length).toBeLessThanOrEqual(2);
        expect({ truncated, maxItems }).toEqual({ truncated: next !== undefined, maxItems: 2 });
        seen.push(...records.map(({ name, type }) => `${type} ${name}`));
        query = next;
      }
      expect(seen).toEqual(["NS example.com.", "SOA example.com.", ...names.map((name) => `A ${name}`)]);
    });

    test("lists from a name and type on", async () => {
      const names = ["a.example.com.", "b.example.com.", "c.example.com."];
      const zone = await zoneWith(...names.map((name) => ({ ...weighted("x", 1), name })));
      const { records } = await client.list(zone, { name: "b.example.com", type: "A" });
      expect(records.map(({ name }) => name)).toEqual(["b.example.com.", "c.example.com."]);
    });

    test("refuses a type to begin with that comes without a name", async () => {
      const list = client.list(await zoneWith(), { type: "A" });
      await expect(list).rejects.toMatchObject({ status: 400, code: "InvalidInput" });
    });

    test("knows no zone of an unknown id", async () => {
      const unknown = { status: 404, code: "NoSuchHostedZone" };
      await expect(client.getZone("ZUNKNOWN")).rejects.toMatchObject(unknown);
      await expect(client.list("ZUNKNOWN")).rejects.toMatchObject(unknown);
      await expect(client.change("ZUNKNOWN", ["UPSERT", weighted("a", 1)])).rejects.toMatchObject(unknown);
    });

    test("says that a change is INSYNC once it has spread", async () => {
      const zone = await zoneWith();
      const { id, submittedAt } = await client.change(zone, ["UPSERT", weighted("a", 1)]);
      expect(Date.parse(submittedAt)).not.toBeNaN();
      await harness.propagate();
      expect(await client.getChange(id)).toMatchObject({ id, status: "INSYNC" });
    });
  });
}

function weighted(setIdentifier: string, weight: number): RecordSet {
  return { name: "www.example.com", type: "A", setIdentifier, weight, ttl: 60, values: ["192.0.2.1"] };
}
