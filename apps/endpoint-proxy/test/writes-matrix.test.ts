import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { at, fieldsAt, type Json, numberAt, without } from "../src/bodies/json-text.ts";
import { deploymentProtobuf, PROTOBUF, scaleProtobuf } from "./protobuf-bodies.ts";
import { DEPLOYMENTS, deployment, type Got, ThreeClusters } from "./three-clusters.ts";

let world: ThreeClusters;
beforeAll(async () => void (world = await ThreeClusters.start()));
afterAll(async () => world.stop());

type Total = number | undefined;
type Form = (value: unknown) => readonly [text: string, type: "json" | "yaml"];

const compact: Form = (value) => [JSON.stringify(value), "json"];
const pretty: Form = (value) => [JSON.stringify(value, null, 2), "json"];
const yaml: Form = (value) => [stringify(value), "yaml"];

/** Each verb: what it sends, and the replicas in all that follow if it says nothing of them. */
interface Verb {
  readonly name: string;
  readonly forms: readonly Form[];
  readonly silent: number | undefined;
  readonly send: (name: string, total: Total, form: Form) => Promise<Got>;
}

const IMAGE = "web:2";
const changed = (name: string, total: Total) => {
  const object = deployment(name, total);
  const text = JSON.stringify(object).replace("web:1", IMAGE);
  return JSON.parse(text) as Record<string, unknown>;
};
const patch =
  (type: string, body: (name: string, total: Total) => unknown, part = "") =>
  async (name: string, total: Total, form: Form): Promise<Got> =>
    world.ask(
      "PATCH",
      `${DEPLOYMENTS}/${name}${part}?fieldManager=test${type.startsWith("apply") ? "&force=true" : ""}`,
      form(body(name, total))[0],
      { "content-type": `application/${type}` },
    );
const containers = [{ name: "main", image: IMAGE }];
const laidOver = (_name: string, total: Total) => ({
  spec: {
    ...(total === undefined ? {} : { replicas: total }),
    template: { spec: { containers } },
  },
});
const whole = [{ ...containers[0], resources: { requests: { cpu: "100m" } }, brandNew: 1 }];

const VERBS: readonly Verb[] = [
  {
    ...{ name: "PUT", forms: [compact, pretty, yaml], silent: 1 },
    send: async (name, total, form) => {
      const [text, type] = form(changed(name, total));
      return world.ask("PUT", `${DEPLOYMENTS}/${name}`, text, {
        "content-type": `application/${type}`,
      });
    },
  },
  {
    ...{ name: "json-patch", forms: [compact, pretty], silent: 10 },
    send: patch("json-patch+json", (_name, total) => [
      {
        op: "replace",
        path: "/spec/template/spec/containers/0/image",
        value: IMAGE,
      },
      ...(total === undefined ? [] : [{ op: "replace", path: "/spec/replicas", value: total }]),
    ]),
  },
  {
    ...{ name: "merge", forms: [compact, pretty], silent: 10 },
    send: patch("merge-patch+json", (_name, total) => ({
      spec: {
        ...(total === undefined ? {} : { replicas: total }),
        template: { spec: { containers: whole } },
      },
    })),
  },
  {
    ...{ name: "strategic", forms: [compact, pretty], silent: 10 },
    send: patch("strategic-merge-patch+json", laidOver),
  },
  {
    ...{ name: "apply JSON", forms: [compact, pretty], silent: 10 },
    send: patch("apply-patch+yaml", changed),
  },
  {
    ...{ name: "apply YAML", forms: [yaml], silent: 10 },
    send: patch("apply-patch+yaml", changed),
  },
  {
    ...{ name: "scale PUT", forms: [compact, pretty], silent: undefined },
    send: async (name, total, form) => {
      const scale = {
        apiVersion: "autoscaling/v1",
        kind: "Scale",
        metadata: { name, namespace: "default" },
        spec: { replicas: total },
      };
      return world.ask("PUT", `${DEPLOYMENTS}/${name}/scale`, form(scale)[0]);
    },
  },
  {
    ...{ name: "scale PATCH", forms: [compact, pretty], silent: undefined },
    send: patch("merge-patch+json", (_name, total) => ({ spec: { replicas: total } }), "/scale"),
  },
];

let count = 0;

/** What a member has, without what differs by member. */
function comparable(object: Json | undefined): Json {
  const label = ["metadata", "labels", "wao-endpoint-proxy"];
  const spec = without(fieldsAt(object, ["spec"]), ["replicas"]);
  return without(spec, ["template", ...label]);
}

const keepsUnknownJson = (container: Json | undefined) => expect(numberAt(container, ["brandNew"])).toBe(1);

async function check(
  name: string,
  total: number,
  image: string,
  expectUnknown: (container: Json | undefined, object: Json) => void = keepsUnknownJson,
): Promise<void> {
  const each = Object.values(await world.each(`${DEPLOYMENTS}/${name}`)).filter((object) => object !== undefined);
  const sum = each.reduce<number>((all, object) => all + (numberAt(object, ["spec", "replicas"]) ?? 0), 0);
  expect({ name, sum }).toEqual({ name, sum: total });
  for (const object of each) {
    expect(comparable(object)).toEqual(comparable(each[0]));
    const container = at(object, ["spec", "template", "spec", "containers", "0"]);
    expectUnknown(container, object);
    expect(at(container, ["image"])).toBe(image);
  }
}

const TOTALS: readonly Total[] = [undefined, 0, 1, 10_001];

test.each([compact, pretty, yaml].map((form) => [form(1)[1], form] as const))("POST as %s", async (_type, form) => {
  for (const total of TOTALS) {
    const name = `posted-${(count += 1)}`;
    const [text, type] = form(deployment(name, total));
    expect(
      await world.ask("POST", DEPLOYMENTS, text, {
        "content-type": `application/${type}`,
      }),
    ).toMatchObject({ status: 201 });
    await check(name, total ?? 1, "web:1");
  }
});

test.each(VERBS.flatMap((verb) => ["all", "some"].map((where) => [verb.name, where, verb] as const)))(
  "%s of what %s members have",
  async (_name, where, { forms, silent, send }) => {
    for (const form of forms) {
      for (const total of TOTALS) {
        const expected = total ?? silent;
        if (expected === undefined) continue;
        const name = `changed-${(count += 1)}`;
        const body = JSON.stringify(deployment(name, 10));
        if (where === "all") await world.ask("POST", DEPLOYMENTS, body);
        else await world.direct("a", "POST", DEPLOYMENTS, body);
        const { status, json } = await send(name, total, form);
        expect({ status, json: status === 200 ? {} : json }).toEqual({
          status: 200,
          json: {},
        });
        expect(numberAt(json, ["spec", "replicas"])).toBe(expected);
        await check(name, expected, silent === undefined ? "web:1" : IMAGE);
      }
    }
  },
);

test.each(VERBS.flatMap((verb) => ["all", "some"].map((where) => [verb.name, where, verb] as const)))(
  "%s of what %s members have, with a number that no workload can have, is 422 and nothing is written",
  async (_name, where, { forms, send }) => {
    for (const form of forms) {
      for (const total of [-1, 2 ** 31]) {
        const name = `refused-${(count += 1)}`;
        const body = JSON.stringify(deployment(name, 10));
        if (where === "all") await world.ask("POST", DEPLOYMENTS, body);
        else await world.direct("a", "POST", DEPLOYMENTS, body);
        const before = await world.each(`${DEPLOYMENTS}/${name}`);
        expect(await send(name, total, form)).toMatchObject({ status: 422 });
        expect(await world.each(`${DEPLOYMENTS}/${name}`)).toEqual(before);
      }
    }
  },
);

// PATCH bodies are never protobuf. A server drops fields that it does not know, so those that the proxy does not know
// are others: the server has them.
describe("as protobuf, which typed clients send", () => {
  const keepsUnknown = (container: Json | undefined, object: Json) => {
    expect(at(container, ["workingDir"])).toBe("/work");
    expect(numberAt(object, ["spec", "minReadySeconds"])).toBe(7);
  };
  const type = { "content-type": PROTOBUF };

  test("POST", async () => {
    for (const total of TOTALS) {
      const name = `posted-${(count += 1)}`;
      const sent = deploymentProtobuf(name, total, "web:1");
      expect(await world.ask("POST", DEPLOYMENTS, sent, type)).toMatchObject({ status: 201 });
      await check(name, total ?? 1, "web:1", keepsUnknown);
    }
  });

  test.each(["all", "some"])("PUT of what %s members have", async (where) => {
    for (const total of TOTALS) {
      const name = `changed-${(count += 1)}`;
      const made = deploymentProtobuf(name, 10, "web:1");
      if (where === "all") await world.ask("POST", DEPLOYMENTS, made, type);
      else await world.direct("a", "POST", DEPLOYMENTS, JSON.stringify(deployment(name, 10)));
      const sent = deploymentProtobuf(name, total, IMAGE);
      const { status, json } = await world.ask("PUT", `${DEPLOYMENTS}/${name}`, sent, type);
      expect({ status, replicas: numberAt(json, ["spec", "replicas"]) }).toEqual({ status: 200, replicas: total ?? 1 });
      await check(name, total ?? 1, IMAGE, keepsUnknown);
    }
  });

  test.each(["all", "some"])("PUT of a Scale of what %s members have", async (where) => {
    for (const total of [0, 1, 10_001]) {
      const name = `changed-${(count += 1)}`;
      const body = JSON.stringify(deployment(name, 10));
      if (where === "all") await world.ask("POST", DEPLOYMENTS, body);
      else await world.direct("a", "POST", DEPLOYMENTS, body);
      const { status, json } = await world.ask("PUT", `${DEPLOYMENTS}/${name}/scale`, scaleProtobuf(name, total), type);
      expect({ status, replicas: numberAt(json, ["spec", "replicas"]) }).toEqual({ status: 200, replicas: total });
      await check(name, total, "web:1");
    }
  });

  test.each([
    ["cut short", (whole: Buffer) => whole.subarray(0, whole.length - 9)],
    ["with a group, a wire type that nobody sends", (whole: Buffer) => Buffer.concat([whole, Buffer.from([0x2b])])],
    ["without its envelope", (whole: Buffer) => whole.subarray(4)],
  ])("%s, it is 400 and nothing is sent", async (_what, spoilt) => {
    const seen = world.seen.length;
    const sent = spoilt(deploymentProtobuf("spoilt", 3, "web:1"));
    expect(await world.ask("POST", DEPLOYMENTS, sent, type)).toMatchObject({ status: 400 });
    expect(world.seen.length).toBe(seen);
  });
});
