import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import type { RecordSet } from "./record-set.ts";
import { type Route53, startRoute53 } from "./route53.ts";
import { Route53Client } from "./route53-client.ts";
import { route53Contract } from "./route53.contract.ts";
import { element, readXml } from "./xml.ts";

const ZONE = "Z1";

const set = (setIdentifier: string, weight: number): RecordSet => ({
  ...{ name: "www.example.com.", type: "A", setIdentifier, weight },
  ...{ ttl: 60, values: ["192.0.2.1"] },
});

route53Contract("the embedded Route 53", async () => {
  const clock = new FakeClock();
  const route53 = await startRoute53({ clock });
  let zones = 0;
  return {
    url: route53.url,
    createZone: (name) => {
      zones += 1;
      route53.addZone(`Z${zones}`, name);
      return Promise.resolve(`Z${zones}`);
    },
    propagate: () => clock.advance(30_000),
    stop: () => route53.stop(),
  };
});

describe("the embedded Route 53 beyond what moto does", () => {
  let clock: FakeClock;
  let route53: Route53;
  let client: Route53Client;
  beforeEach(async () => {
    clock = new FakeClock("2026-01-01T00:00:00Z");
    route53 = await startRoute53({ clock });
    route53.addZone(ZONE, "example.com", [set("a", 1), set("b", 2)]);
    client = new Route53Client(route53.url);
  });
  afterEach(() => route53.stop());

  const weights = () => route53.records(ZONE).flatMap(({ weight }) => weight ?? []);

  test("holds a change PENDING for the time that it takes to spread, and lists it at once", async () => {
    const { id, status } = await client.change(ZONE, ["UPSERT", set("a", 9)]);
    expect(status).toBe("PENDING");
    expect(weights()).toEqual([9, 2]);
    await clock.advance(29_999);
    expect((await client.getChange(id)).status).toBe("PENDING");
    await clock.advance(1);
    expect((await client.getChange(id)).status).toBe("INSYNC");
  });

  test("knows no change of an unknown id", async () => {
    await expect(client.getChange("C0")).rejects.toMatchObject({ status: 404, code: "NoSuchChange" });
  });

  test("refuses a list that starts at a name with an empty label", async () => {
    const list = client.list(ZONE, { name: "www..example.com" });
    await expect(list).rejects.toMatchObject({ status: 400, code: "InvalidInput" });
  });

  test.each([-1, 256, 1.5])("refuses a weight of %d", async (weight) => {
    const change = client.change(ZONE, ["UPSERT", set("a", weight)]);
    await expect(change).rejects.toMatchObject({ status: 400, code: "InvalidInput" });
    expect(weights()).toEqual([1, 2]);
  });

  test("refuses a weight without an identifier", async () => {
    const anonymous = { name: "www.example.com", type: "A", weight: 1, ttl: 60, values: ["192.0.2.1"] };
    const change = client.change(ZONE, ["UPSERT", anonymous]);
    await expect(change).rejects.toMatchObject({
      code: "InvalidInput",
      message: expect.stringContaining("SetIdentifier"),
    });
  });

  test("refuses a set that is neither or both of alias and values", async () => {
    const alias = { zone: "Z2", name: "lb.example.net.", evaluateTargetHealth: false };
    const neither = { name: "www.example.com", type: "A", setIdentifier: "a", weight: 1 };
    for (const record of [neither, { ...set("a", 1), alias }])
      await expect(client.change(ZONE, ["UPSERT", record])).rejects.toMatchObject({ code: "InvalidInput" });
  });

  test.each<[string, RecordSet]>([
    ["a simple set beside weighted ones", { name: "www.example.com", type: "A", ttl: 60, values: ["192.0.2.1"] }],
    ["another TTL in a weighted group", { ...set("c", 1), ttl: 61 }],
  ])("refuses %s", async (_name, record) => {
    await expect(client.change(ZONE, ["CREATE", record])).rejects.toMatchObject({ code: "InvalidChangeBatch" });
    expect(weights()).toEqual([1, 2]);
  });

  test("refuses the 101st weighted set of a name and type", async () => {
    const more = Array.from({ length: 98 }, (_, index): ["CREATE", RecordSet] => ["CREATE", set(`more-${index}`, 1)]);
    await client.change(ZONE, ...more);
    await expect(client.change(ZONE, ["CREATE", set("c", 1)])).rejects.toMatchObject({ code: "InvalidChangeBatch" });
  });

  test("refuses more than 32,000 characters of values in a batch, an UPSERT counted twice", async () => {
    const text = { name: "text.example.com", type: "TXT", ttl: 60, values: ["x".repeat(16_001)] };
    await expect(client.change(ZONE, ["UPSERT", text])).rejects.toMatchObject({ code: "InvalidChangeBatch" });
    await client.change(ZONE, ["CREATE", text]);
  });

  test("deletes only what is given exactly as it is", async () => {
    const stale = client.change(ZONE, ["DELETE", set("a", 99)]);
    await expect(stale).rejects.toMatchObject({
      code: "InvalidChangeBatch",
      message: expect.stringContaining("do not match"),
    });
    await client.change(ZONE, ["DELETE", set("a", 1)]);
    expect(weights()).toEqual([2]);
  });

  test("names every reason why a batch was refused, and keeps the sets of the apex", async () => {
    const apex = route53.records(ZONE).find(({ type }) => type === "SOA");
    const batch = client.change(ZONE, ["CREATE", set("a", 1)], ["DELETE", apex ?? set("a", 1)]);
    await expect(batch).rejects.toThrow(/already exists.*SOA/);
  });

  test("can refuse a batch with a root of its own, and everything else as ever", async () => {
    const other = await startRoute53({ refusal: "InvalidChangeBatch" });
    other.addZone(ZONE, "example.com", [set("a", 1)]);
    const change = new Route53Client(other.url).change(ZONE, ["CREATE", set("a", 1)]);
    await expect(change).rejects.toMatchObject({
      ...{ status: 400, code: "InvalidChangeBatch" },
      message: expect.stringContaining("already exists"),
    });
    const unknown = new Route53Client(other.url).list("ZUNKNOWN");
    await expect(unknown).rejects.toMatchObject({ status: 404, code: "NoSuchHostedZone" });
    await other.stop();
  });

  test("pages within the identifiers of one name", async () => {
    const first = await client.list(ZONE, { name: "www.example.com", maxitems: 1 });
    expect(first.next).toEqual({ name: "www.example.com.", type: "A", identifier: "b" });
    const second = await client.list(ZONE, { ...first.next, maxitems: 1 });
    expect(second.records).toEqual([set("b", 2)]);
    expect(second.truncated).toBe(false);
  });

  test("lists a wildcard as \\052", async () => {
    await client.change(ZONE, ["CREATE", { ...set("a", 1), name: "*.example.com" }]);
    const { records } = await client.list(ZONE, { name: "*.example.com", maxitems: 1 });
    expect(records.map(({ name }) => name)).toEqual(["\\052.example.com."]);
  });

  test.each(["%2Fhostedzone%2FZ1", "/hostedzone/Z1", "hostedzone/Z1"])("takes the id %s", async (id) => {
    expect(await client.getZone(id)).toMatchObject({ id: "/hostedzone/Z1" });
  });

  test("is busy with a change and refuses the next of the same zone alone", async () => {
    route53.addZone("Z2", "example.com");
    route53.keepBusy(500);
    await client.change(ZONE, ["UPSERT", set("a", 3)]);
    const next = () => client.change(ZONE, ["UPSERT", set("a", 4)]);
    await expect(next()).rejects.toMatchObject({ status: 400, code: "PriorRequestNotComplete" });
    await client.change("Z2", ["UPSERT", set("a", 4)]);
    await clock.advance(500);
    await next();
    expect(weights()).toEqual([4, 2]);
  });

  test("throttles beyond its rate and lets through again as time goes by", async () => {
    route53.limit({ perSecond: 1, burst: 2 });
    await client.list(ZONE);
    await client.list(ZONE);
    const throttled = { status: 400, code: "Throttling", message: "Rate exceeded" };
    await expect(client.list(ZONE)).rejects.toMatchObject(throttled);
    await clock.advance(1000);
    await client.list(ZONE);
    route53.limit(undefined);
    for (let count = 0; count < 5; count += 1) await client.list(ZONE);
  });

  test.each<[string, Partial<RecordSet>]>([
    ["weight", { weight: 3 }],
    ["TTL that it had before", { ttl: 60 }],
    ["health check", { others: [element("HealthCheckId", "abcdef11-2222-3333-4444-555555fedcba")] }],
  ])("replaces nothing if the set has another %s than the request", async (_field, other) => {
    for (const name of ["a", "b"]) await client.change(ZONE, ["DELETE", set(name, name === "a" ? 1 : 2)]);
    const now = { ...set("a", 1), ttl: 30 };
    await client.change(ZONE, ["CREATE", now]);
    const stale = { ...now, ...other };
    const batch = client.change(ZONE, ["DELETE", stale], ["CREATE", { ...stale, weight: 7 }]);
    await expect(batch).rejects.toMatchObject({
      code: "InvalidChangeBatch",
      message: expect.stringContaining("the values provided do not match the current values"),
    });
    expect(route53.records(ZONE).filter(({ type }) => type === "A")).toEqual([now]);
  });

  test("has one journal entry for a set that is replaced", async () => {
    await client.change(ZONE, ["DELETE", set("a", 1)], ["CREATE", set("a", 7)]);
    expect(route53.journal).toMatchObject([{ action: "REPLACE", before: set("a", 1), after: set("a", 7) }]);
  });

  test("keeps a journal of all changes with their times, and none of what was refused", async () => {
    await client.change(ZONE, ["UPSERT", set("a", 5)], ["DELETE", set("b", 2)]);
    await expect(client.change(ZONE, ["CREATE", set("a", 5)])).rejects.toThrow();
    await clock.advance(1000);
    await client.change(ZONE, ["CREATE", set("b", 6)]);
    const about = { zone: ZONE, name: "www.example.com.", type: "A" };
    const at = Date.parse("2026-01-01T00:00:00Z");
    const [first, second] = ["C0000000000001", "C0000000000002"];
    expect(route53.journal).toEqual([
      { ...about, at, change: first, action: "UPSERT", setIdentifier: "a", before: set("a", 1), after: set("a", 5) },
      { ...about, at, change: first, action: "DELETE", setIdentifier: "b", before: set("b", 2) },
      { ...about, at: at + 1000, change: second, action: "CREATE", setIdentifier: "b", after: set("b", 6) },
    ]);
  });

  test("refuses requests without credentials, bodies that are no XML and operations that it does not have", async () => {
    const path = `${route53.url}/2013-04-01/hostedzone/${ZONE}/rrset`;
    expect((await fetch(path)).status).toBe(403);
    const broken = await fetch(path, { method: "POST", headers: { authorization: "x" }, body: "<Change" });
    expect(await broken.text()).toContain("InvalidInput");
    await expect(client.call("DELETE", `hostedzone/${ZONE}`)).rejects.toMatchObject({ status: 404 });
  });
});

describe("readXml", () => {
  test("reads elements, entities and empty elements past prologue and comments", () => {
    const text = `<?xml version="1.0"?>\n<!-- note --><A xmlns="urn:x"><B>1 &lt; 2 &#38; &#x33;</B><C/></A>`;
    expect(readXml(text)).toEqual(element("A", [element("B", "1 < 2 & 3"), element("C", "")]));
  });

  test.each([
    ["an open end", "<A><B></B>"],
    ["crossed ends", "<A><B></A></B>"],
    ["two roots", "<A></A><B></B>"],
    ["text alone", "text"],
    ["nothing", ""],
    ["a document type", "<!DOCTYPE A []><A></A>"],
    ["endless depth", "<A>".repeat(100) + "</A>".repeat(100)],
  ])("refuses %s", (_name, text) => {
    expect(() => readXml(text)).toThrow(SyntaxError);
  });
});
