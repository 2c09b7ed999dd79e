import { setImmediate as iteration } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { Batch } from "./batch.ts";

const noting = (notes: string[], note: string, then: () => void = () => undefined) => ({
  write: () => {
    notes.push(note);
    then();
  },
});

test("writes wait for the end of the event loop iteration, and those to upstreams go first", async () => {
  const batch = new Batch();
  const notes: string[] = [];
  batch.toClient(noting(notes, "client 1"));
  batch.toUpstream(noting(notes, "upstream 1"));
  batch.toClient(noting(notes, "client 2"));
  batch.toUpstream(noting(notes, "upstream 2"));
  await Promise.resolve();
  expect(notes).toEqual([]);
  await iteration();
  expect(notes).toEqual(["upstream 1", "upstream 2", "client 1", "client 2"]);
});

test("what a write brings about goes out with the next iteration at the latest", async () => {
  const batch = new Batch();
  const notes: string[] = [];
  batch.toClient(noting(notes, "client", () => batch.toUpstream(noting(notes, "upstream"))));
  await iteration();
  await iteration();
  expect(notes).toEqual(["client", "upstream"]);
});
