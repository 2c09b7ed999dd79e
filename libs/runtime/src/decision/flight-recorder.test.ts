import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { FlightRecorder } from "./flight-recorder.ts";

/** Which of the ids the recorder still has. */
const kept = (recorder: FlightRecorder, ids: readonly string[]) => ids.filter((id) => recorder.get(id) !== undefined);

describe("the flight recorder", () => {
  test("gives back what it was given", () => {
    const recorder = new FlightRecorder({ count: 2, bytes: 100 });
    recorder.keep("a", '{"é":"日本 🚢"}');
    expect(recorder.get("a")).toBe('{"é":"日本 🚢"}');
    expect(recorder.get("b")).toBeUndefined();
  });

  test("drops the oldest when there are too many", () => {
    const recorder = new FlightRecorder({ count: 2, bytes: 100 });
    for (const id of ["a", "b", "c"]) recorder.keep(id, id);
    expect(kept(recorder, ["a", "b", "c"])).toEqual(["b", "c"]);
  });

  test("drops as many of the oldest as the bytes ask for", () => {
    const recorder = new FlightRecorder({ count: 10, bytes: 10 });
    recorder.keep("a", "xxx");
    recorder.keep("b", "xxx");
    recorder.keep("c", "xxx");
    recorder.keep("d", "xxxxxxx");
    expect(kept(recorder, ["a", "b", "c", "d"])).toEqual(["c", "d"]);
  });

  test("counts bytes, not characters", () => {
    const recorder = new FlightRecorder({ count: 10, bytes: 10 });
    recorder.keep("a", "éé");
    recorder.keep("b", "日本");
    expect(kept(recorder, ["a", "b"])).toEqual(["a", "b"]);
    recorder.keep("c", "x");
    expect(kept(recorder, ["a", "b", "c"])).toEqual(["b", "c"]);
  });

  test("does not throw out all others for one that would not fit anyway", () => {
    const recorder = new FlightRecorder({ count: 10, bytes: 10 });
    recorder.keep("a", "xxx");
    recorder.keep("b", "x".repeat(11));
    expect(kept(recorder, ["a", "b"])).toEqual(["a"]);
  });

  test("counts one that is kept again as the newest, and once", () => {
    const recorder = new FlightRecorder({ count: 10, bytes: 10 });
    recorder.keep("a", "xxxx");
    recorder.keep("b", "xxxx");
    recorder.keep("a", "yyyy");
    expect(kept(recorder, ["a", "b"])).toEqual(["a", "b"]);
    recorder.keep("c", "xxxx");
    expect(kept(recorder, ["a", "b", "c"])).toEqual(["a", "c"]);
    expect(recorder.get("a")).toBe("yyyy");
  });

  test("keeps nothing when it is told to keep none", () => {
    const recorder = new FlightRecorder({ count: 0, bytes: 100 });
    recorder.keep("a", "x");
    expect(recorder.get("a")).toBeUndefined();
  });

  test("never holds more than its limits, and holds the newest that fit", () => {
    const id = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
    const text = fc.string({ unit: "binary", maxLength: 30 });
    fc.assert(
      fc.property(fc.nat(5), fc.nat(80), fc.array(fc.tuple(id, text)), (count, bytes, keeps) => {
        const recorder = new FlightRecorder({ count, bytes });
        const ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
        for (const [name, value] of keeps) {
          recorder.keep(name, value);
          const held = kept(recorder, ids);
          expect(held.length).toBeLessThanOrEqual(count);
          const total = held.reduce((sum, each) => sum + Buffer.byteLength(recorder.get(each) ?? ""), 0);
          expect(total).toBeLessThanOrEqual(bytes);
          const fits = count > 0 && Buffer.byteLength(value) <= bytes;
          expect(recorder.get(name)).toBe(fits ? value : undefined);
        }
      }),
    );
  });
});
