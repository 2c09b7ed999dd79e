import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { admin } from "./api-server.ts";
import { evenkeel } from "./evenkeel.ts";
import { RebalanceWorld } from "./rebalance-world.ts";

/** A service that starts on a busy machine, and its second look at the world, in milliseconds. */
const START_TIMEOUT = 90_000;

let world: RebalanceWorld;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  world = await RebalanceWorld.start();
  env = { KUBECONFIG: await world.server.kubeconfig(admin) };
  // The weight is written, and the next look finds it there.
  await world.service.line(
    ({ object, before, after }) => object === "Rebalance/shop/checkout" && before === 16 && after === 16,
  );
}, START_TIMEOUT);

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const asked = (...args: string[]) => evenkeel(args, { env });
const askedJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await asked(...args, "-o", "json");
  return { code, stderr, json: JSON.parse(stdout) as Readonly<Record<string, unknown>> };
};

describe("weight-rebalancer's objects", () => {
  test("have a row with the weight before and after, and why", async () => {
    const { code, stdout, stderr } = await asked("status");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^weight-rebalancer +ready +0\.1\.0 +\S+ +\d+s +-$/m);
    expect(stdout).toMatch(/^Rebalance\/shop\/checkout +weight-rebalancer +\w+ +16 +16 +\d+s +\S.*16/m);
    expect((await asked("status", "-n", "elsewhere")).stdout).toContain("No objects.");
  });

  test("are explained with the metric, its target and each place that the weight is written to", async () => {
    const { code, stdout } = await asked("explain", "rebalance/shop/checkout");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}The weight stays 16, decided \d+s ago/m);
    expect(stdout).toMatch(/metric is 2999\.88; the target is 1000/);
    expect(stdout).toMatch(/www\.example\.com.* has the weight 16, 66\.7 % of the traffic\.$/m);
    expect(stdout).toMatch(/^ *AGE +ACTION +REASON +MESSAGE$/m);
  });
});

test.each([
  ["status"],
  ["explain", "rebalance/shop/checkout"],
  ["decisions"],
  ["what-if", "rebalance/shop/checkout", "--metric=2999.9"],
])("%s prints no number with more than six digits", async (...args) => {
  const { stdout } = await asked(...args);
  const decimals = [...stdout.matchAll(/\d+\.\d+/g)].map(([text]) => text);
  expect(decimals).toContainEqual(expect.stringMatching(/^2999\.(88|9)$/));
  expect(decimals.filter((text) => text.replace(".", "").length > 6)).toEqual([]);
});

describe("what-if", () => {
  test("says what another metric would lead to, and changes nothing", async () => {
    const { code, stdout, stderr } = await asked("what-if", "rebalance", "shop/checkout", "--metric", "1500");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^With metric 1500, the weight of Rebalance\/shop\/checkout would go from 16 to 4\.$/m);
    expect(stdout).toContain("Nothing was changed.");
    const { json } = await askedJson("status");
    expect(json["objects"]).toMatchObject([{ after: 16 }]);
  });

  test("takes a time to suppose", async () => {
    const at = "2026-06-01T12:00:00Z";
    const answer = await askedJson("what-if", "rebalance/shop/checkout", "--metric=3000", `--at=${at}`);
    expect(answer).toMatchObject({ code: 0, json: { service: "weight-rebalancer", before: 16, after: 16 } });
    expect(world.server.forwarded.some((line) => line.includes("POST /api/v1/Weights/Preview"))).toBe(true);
  });

  test("about an object that is not there exits 1 with the service's own words", async () => {
    const { code, stderr } = await asked("what-if", "rebalance/shop/nothing", "--metric=1");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^kubectl evenkeel: EK_CLI_REFUSED: .*EK_RPC_NOT_FOUND/);
  });

  test.each([
    [["--metric=many"], /--metric: "many"/],
    [["--metric=1", "--at=noon"], /--at: "noon"/],
    [[], /--metric/],
  ])("with %p is wrong usage", async (flags, fault) => {
    const { code, stderr } = await asked("what-if", "rebalance/shop/checkout", ...flags);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^kubectl evenkeel: EK_CLI_WRONG_USAGE: .*\n$/);
    expect(stderr).toMatch(fault);
  });
});

test("every snapshot that the flight recorder holds replays to the same decision", async () => {
  const { json } = await askedJson("decisions");
  const ids = (json["decisions"] as { id: string }[]).map(({ id }) => id);
  expect(ids.length).toBeGreaterThanOrEqual(2);
  for (const id of ids) {
    const { stdout: input } = await asked("snapshot", id, "-f", "-");
    const { code, stdout } = await evenkeel(["replay", "-"], { input });
    expect(stdout).toContain(`is the same as the recorded one (${id})`);
    expect(code).toBe(0);
  }
});

test("doctor finds its definition, its metrics and its state in order", async () => {
  const { stdout } = await asked("doctor");
  expect(stdout).toMatch(/^ok {4}crds +rebalances\.rebalancer\.ch1aki\.github\.io serves v1 and is established$/m);
  expect(stdout).toMatch(/^ok {4}metrics +.*weight-rebalancer/m);
  expect(stdout).toMatch(/^ok {4}state +.*weight-rebalancer/m);
  // Nothing grants its account anything in this world.
  expect(stdout).toMatch(/^fail {2}rights +service account evenkeel-system\/weight-rebalancer may not get rebalances/m);
});
