export { faultOf, ourAnswer, type RelabelAnswer } from "./testing/relabel-answers.ts";
export { type RelabelCase, relabelCases } from "./testing/relabel-cases.ts";
