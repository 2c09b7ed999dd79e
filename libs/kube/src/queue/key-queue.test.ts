import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { DeadlineHeap } from "./deadline-heap.ts";
import { KeyQueue } from "./key-queue.ts";

const key = fc.constantFrom("a", "b", "c", "d", "e", "f", "g");

test("a key queue behaves like a set", () => {
  const step = fc.tuple(fc.constantFrom("add" as const, "add" as const, "delete" as const, "shift" as const), key);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const [queue, set] = [new KeyQueue(), new Set<string>()];
      for (const [action, each] of steps) {
        if (action === "add") queue.add(each);
        if (action === "add") set.add(each);
        if (action === "delete") expect(queue.delete(each)).toBe(set.delete(each));
        if (action === "shift") {
          const [first] = set;
          expect(queue.shift()).toBe(first);
          if (first !== undefined) set.delete(first);
        }
        expect([queue.size, queue.has(each)]).toEqual([set.size, set.has(each)]);
      }
    }),
  );
});

test("a deadline heap returns each key once, at its earliest time", () => {
  const step = fc.tuple(
    fc.constantFrom("add" as const, "add" as const, "delete" as const, "take" as const),
    key,
    fc.nat(20),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new DeadlineHeap();
      const times = new Map<string, number>();
      for (const [action, each, at] of steps) {
        if (action === "add") {
          heap.add(each, at);
          times.set(each, Math.min(at, times.get(each) ?? Infinity));
        } else if (action === "delete") {
          expect(heap.delete(each)).toBe(times.delete(each));
        } else {
          const taken = heap.take(at);
          const earliest = Math.min(...times.values());
          if (taken === undefined) expect(earliest).toBeGreaterThan(at);
          else expect(times.get(taken)).toBe(earliest);
          if (taken !== undefined) times.delete(taken);
        }
        expect([heap.size, heap.next]).toEqual([
          times.size,
          times.size === 0 ? undefined : Math.min(...times.values()),
        ]);
      }
    }),
  );
});
