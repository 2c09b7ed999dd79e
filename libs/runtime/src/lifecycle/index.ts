export type { Component, Running, Server } from "./component.ts";
export { type Leadership, type Loop, type Term, termUntil } from "./leadership.ts";
