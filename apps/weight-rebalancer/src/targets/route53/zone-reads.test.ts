import { describe, expect, test } from "@jest/globals";
import { codeOf, Route53World, weighted, write } from "../../../test/route53-world.ts";

const many = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, i) =>
    weighted("x", 1, { name: `${prefix}${String(i).padStart(4, "0")}.example.com` }),
  );

describe("reading a weighted record", () => {
  test("gives its weight, what shares the load and the TTL", async () => {
    await using world = await Route53World.start([
      weighted("blue", 8),
      weighted("green", 16),
      weighted("v6", 3, { type: "AAAA" }),
    ]);
    expect(await world.read(world.target("green"))).toEqual({
      weight: 16,
      others: [{ name: "blue", weight: 8 }],
      timeToLive: 60_000,
      pending: false,
    });
  });

  test.each(["hostedzone/Z1", "/hostedzone/Z1", "Z1"])("finds the zone by %s, under one name", async (hostedZoneID) => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    const target = world.target("blue", { hostedZoneID });
    expect(target.name).toBe("route53 Z1/www.example.com A blue");
    expect(await world.read(target)).toMatchObject({ weight: 8 });
  });

  test.each(["www.example.com.", "WWW.example.com", "www.EXAMPLE.com."])("finds it by %s", async (name) => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    expect(await world.read(world.record(name, "blue", "a"))).toMatchObject({ weight: 8 });
  });

  test.each(["*.example.com", "\\052.example.com."])("finds a wildcard by %s", async (name) => {
    await using world = await Route53World.start([weighted("blue", 8, { name: "*.example.com" })]);
    expect(await world.read(world.record(name, "blue"))).toMatchObject({ weight: 8 });
  });

  test("finds it at an apex with NS, SOA, MX and TXT records", async () => {
    const apex = { name: "example.com" };
    await using world = await Route53World.start([
      weighted("blue", 8, apex),
      { ...apex, type: "MX", ttl: 60, values: ["10 mail.example.com."] },
      { ...apex, type: "TXT", ttl: 60, values: ['"text"'] },
    ]);
    expect(await world.read(world.record("example.com", "blue"))).toMatchObject({ weight: 8, others: [] });
  });

  test("takes a minute as the TTL of an alias", async () => {
    const alias = { zone: "Z9", name: "lb.example.net", evaluateTargetHealth: false };
    const record = { name: "www.example.com", type: "A", setIdentifier: "blue", weight: 8, alias };
    await using world = await Route53World.start([record]);
    expect(await world.read(world.target("blue"))).toMatchObject({ weight: 8, timeToLive: 60_000 });
  });
});

describe("a record that cannot be weighted is a terminal error that says what is there", () => {
  const simple = { name: "plain.example.com", type: "A", ttl: 60, values: ["192.0.2.9"] };
  const policy = (name: string, text: string) => [{ name, text, children: [] }];
  const records = [
    weighted("blue", 8),
    weighted("green", 16),
    simple,
    { ...simple, name: "near.example.com", setIdentifier: "tokyo", others: policy("Region", "ap-northeast-1") },
    { ...simple, name: "spare.example.com", setIdentifier: "first", others: policy("Failover", "PRIMARY") },
    { ...simple, name: "many.example.com", setIdentifier: "one", others: policy("MultiValueAnswer", "true") },
  ];
  test.each([
    ["www.example.com", "A", "red", "NO_RECORD", "blue, green"],
    ["www.example.com", "A", undefined, "NO_RECORD", "blue, green"],
    ["www.example.com", "AAAA", "blue", "NO_RECORD", " A"],
    ["nowhere.example.com", "A", "blue", "NO_RECORD", "nowhere.example.com"],
    ["example.com", "A", "blue", "NO_RECORD", "NS, SOA"],
    ["plain.example.com", "A", "blue", "NOT_WEIGHTED", "set identifier"],
    ["plain.example.com", "A", undefined, "NOT_WEIGHTED", "simple"],
    ["near.example.com", "A", "tokyo", "NOT_WEIGHTED", "latency"],
    ["spare.example.com", "A", "first", "NOT_WEIGHTED", "failover"],
    ["many.example.com", "A", "one", "NOT_WEIGHTED", "multivalue answer"],
  ])("%s %s %s: %s, %s", async (name, type, identifier, code, found) => {
    await using world = await Route53World.start(records);
    const reading = world.read(world.record(name, identifier, type));
    await expect(reading).rejects.toMatchObject({ code: `EK_WEIGHT_ROUTE53_${code}`, recovery: "terminal" });
    await expect(reading).rejects.toThrow(found);
  });

  test("a zone that is not there", async () => {
    await using world = await Route53World.start();
    const reading = world.read(world.target("blue", { hostedZoneID: "Z404" }));
    await expect(reading).rejects.toMatchObject({ code: "EK_WEIGHT_ROUTE53_NO_ZONE", recovery: "terminal" });
  });

  test("credentials that are not let in", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    world.route53.faults.add({ fault: { kind: "status", code: 403 } });
    const reading = world.read(world.target("blue"));
    await expect(reading).rejects.toMatchObject({ code: "EK_WEIGHT_ROUTE53_DENIED", recovery: "terminal" });
    expect(world.calls).toEqual(["list refused"]);
  });

  test("an endpoint that is no address", async () => {
    await using world = await Route53World.start();
    expect(await codeOf(world.read(world.target("blue", { endpoint: "route53" })))).toBe(
      "EK_WEIGHT_ROUTE53_BAD_ENDPOINT",
    );
  });

  test("a secretRef that lacks one of its keys", async () => {
    await using world = await Route53World.start();
    const reading = world.read(world.target("blue", { auth: { secretRef: { accessKeyIDSecretRef: { key: "id" } } } }));
    await expect(reading).rejects.toMatchObject({ code: "EK_WEIGHT_ROUTE53_NO_CREDENTIALS" });
    await expect(reading).rejects.toThrow("secretAccessKeySecretRef");
  });
});

describe("reads of one zone", () => {
  test("are one call a minute for forty records that are each read once a minute", async () => {
    await using world = await Route53World.start(many(40, "r"));
    const targets = Array.from({ length: 40 }, (_, i) =>
      world.record(`r${String(i).padStart(4, "0")}.example.com`, "x"),
    );
    for (let minute = 0; minute < 5; minute++) {
      for (const target of targets) {
        expect(await world.read(target, 60_000)).toMatchObject({ weight: 1 });
        await world.advance(1_500);
      }
    }
    expect(world.calls).toEqual(Array(5).fill("list ok"));
  });

  test("are at most 30 a minute for 200 records in 5 zones that are read at any time, each a quarter of a minute old at most", async () => {
    await using world = await Route53World.start();
    const targets = Array.from({ length: 200 }, (_, i) => {
      const name = `r${String((i * 17) % 40).padStart(4, "0")}.example.com`;
      return world.target("x", { hostedZoneID: `Y${i % 5}`, resource: { name, type: "A", identifier: "x" } });
    });
    for (let zone = 0; zone < 5; zone++) world.route53.addZone(`Y${zone}`, "example.com", many(40, "r"));
    const minute = async () => {
      for (const target of targets) {
        await world.read(target, 15_000);
        await world.advance(300);
      }
    };
    await minute();
    world.calls.length = 0;
    await minute();
    expect(world.calls.length).toBeLessThanOrEqual(30);
    expect(new Set(world.calls)).toEqual(new Set(["list ok"]));
  });

  test("join the call that is under way", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 16)]);
    const both = [world.target("blue"), world.target("green")].map((target) =>
      target.read({ signal: new AbortController().signal, maxAge: 0 }),
    );
    expect(await world.until(Promise.all(both))).toMatchObject([{ weight: 8 }, { weight: 16 }]);
    expect(world.calls).toEqual(["list ok"]);
  });

  test("take no older state than they ask for", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    const target = world.target("blue");
    await world.read(target, 10_000);
    await world.advance(10_000);
    await world.read(target, 10_000);
    expect(world.calls).toHaveLength(1);
    await world.advance(250);
    await world.read(target, 10_000);
    expect(world.calls).toHaveLength(2);
  });

  test("skip names that are not asked for", async () => {
    await using world = await Route53World.start([
      ...many(400, "a"),
      weighted("x", 5, { name: "mid.example.com" }),
      ...many(400, "n"),
    ]);
    const [first, last] = [world.record("a0000.example.com", "x"), world.record("n0399.example.com", "x")];
    await world.read(first);
    world.calls.length = 0;
    await world.advance(250);
    const both = [first, last].map((target) => target.read({ signal: new AbortController().signal, maxAge: 0 }));
    expect(await world.until(Promise.all(both))).toMatchObject([{ weight: 1 }, { weight: 1 }]);
    expect(world.calls).toHaveLength(2);
  });

  test("page on where what is asked for lies close together", async () => {
    await using world = await Route53World.start(many(700, "a"));
    const targets = [0, 100, 299, 300, 450, 699].map((i) =>
      world.record(`a${String(i).padStart(4, "0")}.example.com`, "x"),
    );
    const all = targets.map((target) => target.read({ signal: new AbortController().signal, maxAge: 0 }));
    expect((await world.until(Promise.all(all))).map(({ weight }) => weight)).toEqual(targets.map(() => 1));
    expect(world.calls).toHaveLength(3);
  });

  test("put together a name that a page ends amid", async () => {
    const set = Array.from({ length: 90 }, (_, i) => weighted(`i${String(i).padStart(2, "0")}`, i));
    await using world = await Route53World.start([...many(250, "a"), ...set, ...many(5, "x")]);
    const both = [world.record("a0000.example.com", "x"), world.target("i89")].map((target) =>
      target.read({ signal: new AbortController().signal, maxAge: 0 }),
    );
    const [, cut] = await world.until(Promise.all(both));
    expect(cut?.weight).toBe(89);
    expect(cut?.others).toHaveLength(89);
    expect(world.calls).toHaveLength(2);
  });

  test("ask once for a zone that cannot be read, however many wait", async () => {
    await using world = await Route53World.start();
    const wrong = (identifier: string) => world.target(identifier, { hostedZoneID: "Z404" });
    for (const identifier of ["a", "b", "c"])
      expect(await codeOf(world.read(wrong(identifier), 30_000))).toBe("EK_WEIGHT_ROUTE53_NO_ZONE");
    expect(world.calls).toEqual(["list refused"]);
    await world.advance(31_000);
    expect(await codeOf(world.read(wrong("a"), 30_000))).toBe("EK_WEIGHT_ROUTE53_NO_ZONE");
    expect(world.calls).toHaveLength(2);
  });
});

describe("a name that Route 53 refuses", () => {
  const start = () => Route53World.start([weighted("blue", 8), weighted("green", 16, { name: "zzz.example.com" })]);

  test("fails its own readers alone, at once and later", async () => {
    await using world = await start();
    const targets = ["www.example.com", "www..example.com", "zzz.example.com"].map((name, i) =>
      world.record(name, i < 2 ? "blue" : "green"),
    );
    const readAll = async () => {
      const all = targets.map((target) => target.read({ signal: new AbortController().signal, maxAge: 0 }));
      return world.until(Promise.allSettled(all));
    };
    for (let time = 0; time < 2; time++) {
      expect(await readAll()).toMatchObject([
        { status: "fulfilled", value: { weight: 8 } },
        { status: "rejected", reason: { code: "EK_WEIGHT_ROUTE53_REFUSED" } },
        { status: "fulfilled", value: { weight: 16 } },
      ]);
      await world.advance(60_000);
    }
  });

  test("is not read along with others after it was refused", async () => {
    await using world = await start();
    expect(await codeOf(world.read(world.record("www..example.com", "blue")))).toBe("EK_WEIGHT_ROUTE53_REFUSED");
    world.calls.length = 0;
    await world.advance(60_000);
    expect(await world.read(world.target("blue"))).toMatchObject({ weight: 8 });
    expect(world.calls).toEqual(["list ok"]);
  });

  test("fails its own write alone", async () => {
    await using world = await start();
    const writes = [world.record("www..example.com", "blue"), world.target("blue")].map((each) => write(each, 3));
    expect(await world.until(Promise.allSettled(writes))).toMatchObject([
      { status: "rejected", reason: { code: "EK_WEIGHT_ROUTE53_REFUSED" } },
      { status: "fulfilled" },
    ]);
    expect(world.weights()).toMatchObject({ blue: 3 });
  });
});

describe("a read that meets trouble", () => {
  test.each([
    ["a server's fault", { kind: "status", code: 500 }],
    ["a cut connection", { kind: "reset" }],
    ["an overloaded proxy", { kind: "status", code: 429 }],
  ] as const)("tries again after %s", async (_what, fault) => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    world.route53.faults.add({ fault, times: 2 });
    expect(await world.read(world.target("blue"))).toMatchObject({ weight: 8 });
    expect(world.calls).toHaveLength(3);
  });

  test("gives up with the throttled error when the account stays throttled", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    world.route53.limit({ perSecond: 0.000_001, burst: 1 });
    await world.read(world.target("blue"));
    await world.advance(250);
    const reading = world.read(world.target("blue"));
    await expect(reading).rejects.toMatchObject({ code: "EK_WEIGHT_ROUTE53_THROTTLED", recovery: "retryable" });
    expect(world.calls.slice(1)).toEqual(Array(4).fill("list throttled"));
  });

  test("says that it was throttled when its caller gives up, with the caller's reason as the cause", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    world.route53.limit({ perSecond: 0.000_001, burst: 1 });
    await world.read(world.target("blue"));
    await world.advance(250);
    const caller = new AbortController();
    const reading = world.target("blue").read({ signal: caller.signal, maxAge: 0 });
    const code = codeOf(reading);
    await world.advance(250);
    caller.abort(new Error("too late"));
    expect(await code).toBe("EK_WEIGHT_ROUTE53_THROTTLED");
    await expect(reading).rejects.toMatchObject({ cause: { message: "too late" } });
  });

  test("ends a call that hangs at its deadline", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    world.route53.faults.add({ fault: { kind: "hang" }, times: 1 });
    expect(await world.read(world.target("blue"))).toMatchObject({ weight: 8 });
    expect(world.calls).toEqual(["list failed", "list ok"]);
    expect(world.clock.monotonic()).toBeGreaterThanOrEqual(10_000);
  });

  test("leaves no timer behind", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    await world.read(world.target("blue"));
    expect(world.clock.pending).toBe(0);
  });
});
