// Holds a hundred thousand requests and prints how many bytes of heap one costs. Needs --expose-gc.
import { Hold } from "@evenkeel/forward";
import { systemClock } from "@evenkeel/runtime";
import { liveHeap } from "../stall.ts";

const COUNT = 100_000;

const room = { count: COUNT, bytes: Infinity };
const hold = new Hold<object, string>({ clock: systemClock, perKey: room, overall: room, settle: () => undefined });
const request = {};
const before = liveHeap();
for (let index = 0; index < COUNT; index++) hold.enter("service", request, { bytes: 1000, wait: 3_600_000 });
const bytes = (liveHeap() - before) / COUNT;
if (hold.waiting("service").count !== COUNT) throw new Error("not all of them are held");
console.log(bytes);
process.exit();
