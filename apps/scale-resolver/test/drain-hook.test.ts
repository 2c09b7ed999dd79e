import { pods } from "@evenkeel/kube";
import { expect, test } from "@jest/globals";
import { eventually, World } from "./world.ts";

interface Answer {
  readonly preparation?: string;
  readonly message?: string;
  readonly code?: string;
}

test("the last pod of a service may be evicted once requests would be held, and none is lost", async () => {
  await using world = await World.start({ number: 22, startDelay: 800 });
  await world.workload("checkout");
  await world.elasti("checkout");
  await world.workload("other");
  const service = world.serve();
  await world.inState("checkout", "Serve");
  const call = async (method: string, request: unknown, token = "secret"): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const address = await service.url("admin", `/api/v1/DrainHook/${method}`);
    const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(request) });
    return (await response.json()) as Answer;
  };
  const podOf = async (app: string) => {
    const { items } = await world.kube.resource(pods).list({ namespace: "default", labelSelector: `app=${app}` });
    const { name = "", uid = "" } = items[0]?.metadata ?? {};
    return { namespace: "default", name, uid };
  };
  const pod = await podOf("checkout");
  const eviction = { pod, eviction: "node-a drains" };
  const prepare = (token?: string) => call("Prepare", { ...eviction, hold: "60s" }, token);

  expect(await prepare("of nobody")).toMatchObject({ code: "EK_RPC_UNAUTHENTICATED" });
  const elsewhere = await call("Prepare", { pod: await podOf("other"), eviction: "x", hold: "60s" });
  expect(elsewhere).toMatchObject({ preparation: "PREPARATION_NOT_CONCERNED" });

  expect(await prepare()).toMatchObject({ preparation: "PREPARATION_WORKING" });
  await eventually(async () => expect(await prepare()).toMatchObject({ preparation: "PREPARATION_READY" }));
  await world.inState("checkout", "Guard");

  await world.kube.resource(pods).delete({ namespace: "default", name: pod.name });
  const answers = await Promise.all(Array.from({ length: 20 }, () => world.ask("checkout")));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));

  await world.inState("checkout", "Guard");
  await call("Release", { ...eviction, evicted: true });
  await world.inState("checkout", "Serve");
});
