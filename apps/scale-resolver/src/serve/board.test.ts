import { expect, test } from "@jest/globals";
import { NOON, secondsAgo } from "../testing/quiet-service.ts";
import { boardOf, seenBy, stored, reconciled } from "../testing/shown-service.ts";

test("a service is shown by its status until this process has reconciled it", () => {
  const { store, board } = boardOf();
  store.put(
    stored("cart", {
      status: {
        state: "Zero",
        since: NOON,
        replicas: 0,
        lastWakeMilliseconds: 2100,
        conditions: [
          { type: "Ready", status: "True", reason: "Asleep", message: "Nobody asks", lastTransitionTime: NOON },
        ],
      },
    }),
  );
  expect(board.get("shop/cart")).toMatchObject({
    service: "cart",
    elastiService: "cart",
    target: "Deployment/cart",
    state: "Zero",
    since: Date.parse(NOON),
    replicas: 0,
    activity: null,
    lastWakeMs: 2100,
    reason: "Asleep",
  });
  expect(board.lastResult("shop/cart")).toBeUndefined();
});

test("unknown values are null and not zero", () => {
  const { store, board } = boardOf();
  store.put(stored("checkout"));
  expect(board.get("shop/checkout")).toMatchObject({ state: null, since: null, replicas: null, lastWakeMs: null });
});

test("the last reconcile result has more than the status, under the Service's name", () => {
  const { store, board, told } = boardOf();
  store.put(stored("night-rest", { spec: { service: "checkout" } }));
  told.length = 0;
  board.show("shop/night-rest", reconciled({ activity: { pending: 3 }, pods: { starting: 1 } }, { lastWakeMs: 2050 }));
  expect(board.get("shop/checkout")).toMatchObject({
    elastiService: "night-rest",
    target: "",
    state: "Guard",
    pods: { ready: 2, starting: 1 },
    activity: { pending: 3 },
    lastWakeMs: 2050,
    reason: "Idle",
  });
  expect(board.elastiServiceOf("shop/checkout")).toBe("night-rest");
  expect(board.get("shop/night-rest")).toBeUndefined();
  expect(told).toEqual(["shop/checkout"]);
});

test("states become a time line with the reason of each change", () => {
  const { store, board } = boardOf();
  store.put(stored("checkout"));
  board.show("shop/checkout", reconciled());
  board.show("shop/checkout", reconciled({ stage: { state: "Guard", purpose: "sleep", since: secondsAgo(40) } }));
  expect(board.history("shop/checkout").changes).toMatchObject([
    { state: "Serve", at: secondsAgo(60), reason: "" },
    { state: "Guard", reason: "Idle" },
    { state: "Zero", reason: "Quiet" },
  ]);
});

test("wakes are kept under the Service's name", () => {
  const { store, board, told } = boardOf();
  store.put(stored("night-rest", { spec: { service: "checkout" } }));
  told.length = 0;
  const wake = { startedAt: secondsAgo(70), scaleMs: 8, startMs: null, connectMs: null, held: 3 };
  board.woken("shop/checkout", wake);
  board.woken("shop/unknown", wake);
  expect(board.history("shop/checkout").wakes).toEqual([wake]);
  expect(told).toEqual(["shop/checkout"]);
});

test("templates, and objects that name nothing, are not among the services", () => {
  const { store, board } = boardOf();
  store.put(stored("checkout"));
  store.put(stored("every", { spec: { service: "*" } }));
  store.put(stored("some", { spec: { selector: { matchLabels: { a: "b" } } } }));
  store.put(stored("odd", { spec: "text" }));
  store.put(stored("none", { spec: undefined }));
  expect(board.keys()).toEqual(["shop/checkout"]);
});

test("lists Services in alphabetical order", () => {
  const { store, board } = boardOf();
  for (const name of ["search", "cart"]) store.put(stored(name));
  store.put({ ...stored("cart"), metadata: { namespace: "media", name: "cart" } });
  expect(board.keys()).toEqual(["media/cart", "shop/cart", "shop/search"]);
});

test("an object that is deleted, or names another Service, leaves no entry", () => {
  const { store, board, told } = boardOf();
  store.put(stored("checkout"));
  board.show("shop/checkout", reconciled());
  told.length = 0;
  store.put(stored("checkout", { spec: { service: "till" } }));
  expect(told).toEqual(["shop/checkout", "shop/till"]);
  expect(board.get("shop/checkout")).toBeUndefined();
  expect(board.lastResult("shop/till")).toBeUndefined();
  store.remove(stored("checkout"));
  expect(told).toEqual(["shop/checkout", "shop/till", "shop/till"]);
  expect(board.keys()).toEqual([]);
  expect(board.history("shop/till").changes).toEqual([]);
});

test("of two ElastiServices of a Service, the reconciled one is shown", () => {
  const { store, board } = boardOf();
  store.put(stored("later", { spec: { service: "checkout" } }));
  store.put(stored("checkout"));
  board.show("shop/checkout", reconciled());
  expect(board.elastiServiceOf("shop/checkout")).toBe("checkout");
  store.remove(stored("checkout"));
  expect(board.elastiServiceOf("shop/checkout")).toBe("later");
});

test("waiting requests are read every second, and reported when they change", async () => {
  let pending = 0;
  const { store, board, clock, told } = boardOf({ activity: () => seenBy({ pending }) });
  store.put(stored("checkout"));
  board.show("shop/checkout", reconciled());
  board.start();
  await clock.advance(5000);
  told.length = 0;
  pending = 12;
  await clock.advance(3000);
  expect(told).toEqual(["shop/checkout"]);
  expect(board.get("shop/checkout")?.activity).toMatchObject({ pending: 12 });
  expect(board.history("shop/checkout").points.map((point) => point.pending)).toEqual([0, 0, 12, 12]);
  board.stop();
  expect(clock.pending).toBe(0);
});

test("waiting requests are read by followers too", async () => {
  let pending = 0;
  const { store, board, clock, told } = boardOf({ activity: () => seenBy({ pending }) });
  store.put(stored("checkout", { status: { replicas: 0 } }));
  board.start();
  await clock.advance(3000);
  told.length = 0;
  pending = 7;
  await clock.advance(2000);
  expect(told).toEqual(["shop/checkout"]);
  expect(board.history("shop/checkout").points.at(-1)).toMatchObject({ pending: 7, replicas: 0 });
  board.stop();
});

test("the requests of a service are those of all resolvers, and unknown while one does not report", () => {
  let gap: string | null = null;
  const parts = [
    { replica: "a", pending: 2 },
    { replica: "b", pending: 3, inFlight: 4 },
  ];
  const { store, board } = boardOf({ activity: () => ({ ...seenBy(...parts), gap }) });
  store.put(stored("checkout"));
  const known = { activity: { pending: 5, inFlight: 4 }, resolvers: parts, activityGap: "" };
  expect(board.get("shop/checkout")).toMatchObject(known);
  gap = "Not heard of: c";
  expect(board.get("shop/checkout")).toMatchObject({ activity: null, resolvers: parts, activityGap: gap });
  board.show("shop/checkout", reconciled());
  expect(board.history("shop/checkout").points).toMatchObject([{ pending: null, inFlight: null }]);
});

test("a process that is no longer the leader shows the status again, and notifies watchers", () => {
  const { store, board, told } = boardOf();
  store.put(stored("checkout", { status: { state: "Serve" } }));
  board.show("shop/checkout", reconciled());
  told.length = 0;
  board.clear();
  expect(told).toEqual(["shop/checkout"]);
  expect(board.get("shop/checkout")).toMatchObject({ state: "Serve", reason: "" });
  expect(board.history("shop/checkout").changes).toEqual([]);
});
