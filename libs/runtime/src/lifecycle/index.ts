export type { Component, Running, Server } from "./component.ts";
export { LeaderLoops, type Leadership, type Loop, soleLeadership, type Term, termUntil } from "./leadership.ts";
export { Lifecycle, type LifecycleOptions, type Phase } from "./lifecycle.ts";
export { periodically, type PeriodOptions } from "./periodically.ts";
