import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Replicas } from "./replicas.ts";
import type { Edges, Notice } from "../state.ts";

export function edgesContract(given: () => Replicas): void {
  test("the first notice is a gap: what was published before may have been missed", async () => {
    const { one } = given();
    const object = randomUUID();
    await one.edges.publish(object, "wake", "unheard");
    const inbox = listen(one.edges, object, "wake");
    expect(await inbox.next()).toEqual({ kind: "gap" });
    await one.edges.publish(object, "wake", "heard");
    expect(await inbox.next()).toEqual({ kind: "edge", text: "heard" });
    inbox.leave();
  });

  test("every replica that listens hears an edge, in order", async () => {
    const { one, other } = given();
    const object = randomUUID();
    const inboxes = [listen(one.edges, object, "wake"), listen(other.edges, object, "wake")];
    for (const inbox of inboxes) expect(await inbox.next()).toEqual({ kind: "gap" });
    for (const text of ["1", "2", "3"]) await other.edges.publish(object, "wake", text);
    for (const inbox of inboxes) {
      for (const text of ["1", "2", "3"]) expect(await inbox.next()).toEqual({ kind: "edge", text });
      inbox.leave();
    }
  });

  test("two listeners of one replica are both told of the gap and of edges", async () => {
    const { one } = given();
    const object = randomUUID();
    const first = listen(one.edges, object, "wake");
    expect(await first.next()).toEqual({ kind: "gap" });
    const second = listen(one.edges, object, "wake");
    expect(await second.next()).toEqual({ kind: "gap" });
    await one.edges.publish(object, "wake", "both");
    expect(await first.next()).toEqual({ kind: "edge", text: "both" });
    expect(await second.next()).toEqual({ kind: "edge", text: "both" });
    first.leave();
    second.leave();
  });

  test("topics and objects do not mix", async () => {
    const { one } = given();
    const object = randomUUID();
    const inbox = listen(one.edges, object, "wake");
    await inbox.next();
    await one.edges.publish(object, "sleep", "not mine");
    await one.edges.publish(randomUUID(), "wake", "not mine");
    await one.edges.publish(object, "wake", "mine");
    expect(await inbox.next()).toEqual({ kind: "edge", text: "mine" });
    inbox.leave();
  });

  test("a subscriber that has left gets nothing, and the others do", async () => {
    const { one } = given();
    const object = randomUUID();
    const [stays, leaves] = [listen(one.edges, object, "wake"), listen(one.edges, object, "wake")];
    await stays.next();
    await leaves.next();
    leaves.leave();
    await one.edges.publish(object, "wake", "edge");
    expect(await stays.next()).toEqual({ kind: "edge", text: "edge" });
    expect(leaves.waiting).toBe(0);
    stays.leave();
  });

  test("a subscriber that left and returned gets messages again", async () => {
    const { one } = given();
    const object = randomUUID();
    const before = listen(one.edges, object, "wake");
    await before.next();
    before.leave();
    const after = listen(one.edges, object, "wake");
    expect(await after.next()).toEqual({ kind: "gap" });
    await one.edges.publish(object, "wake", "edge");
    expect(await after.next()).toEqual({ kind: "edge", text: "edge" });
    after.leave();
  });

  test("a listener that throws harms no other", async () => {
    const { one } = given();
    const object = randomUUID();
    const leave = one.edges.subscribe(object, "wake", () => {
      throw new Error("a defect of the listener");
    });
    const inbox = listen(one.edges, object, "wake");
    await inbox.next();
    await one.edges.publish(object, "wake", "edge");
    expect(await inbox.next()).toEqual({ kind: "edge", text: "edge" });
    leave();
    inbox.leave();
  });
}

/** Keeps notices until they are asked for. */
function listen(edges: Edges, object: string, topic: string) {
  const notices: Notice[] = [];
  let wake: () => void = () => undefined;
  const leave = edges.subscribe(object, topic, (notice) => {
    notices.push(notice);
    wake();
  });
  return {
    leave,
    get waiting(): number {
      return notices.length;
    },
    next: async (): Promise<Notice> => {
      for (;;) {
        const notice = notices.shift();
        if (notice) return notice;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
