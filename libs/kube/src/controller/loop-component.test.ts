import { expect, test } from "@jest/globals";
import { LoopComponent } from "./loop-component.ts";

test("a loop as a component runs from start to stop and reports its death", async () => {
  const failures: unknown[] = [];
  const running = { signal: new AbortController().signal, fail: (cause: unknown) => void failures.push(cause) };
  const component = new LoopComponent(
    "things",
    ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve());
      }),
  );
  component.start(running);
  expect(() => component.start(running)).toThrow("things was started twice");
  await component.stop();
  const dying = new LoopComponent("things", () => Promise.reject(new Error("boom")));
  dying.start(running);
  await dying.stop();
  expect(failures).toEqual([new Error("boom")]);
});
