export type {
  Amounts,
  LabelExpression,
  Labels,
  LabelSelector,
  NodeFacts,
  NodeSelectorTerm,
  PodAffinityFacts,
  PodAffinityTerm,
  PodShape,
  SpreadConstraint,
  Taint,
  Toleration,
  UnmodelledReason,
  VolumeFacts,
} from "./facts.ts";
export type {
  ClaimJson,
  CsiNodeJson,
  NodeJson,
  PersistentVolumeJson,
  PodJson,
  PodSpecJson,
  PodStatusJson,
  QuantitiesJson,
} from "./kubernetes-json.ts";
export {
  containsAll,
  type Matcher,
  matcherOf,
  matchesSelector,
  type SelectorFault,
  selectorFaults,
} from "./label-selector.ts";
export type { Landing } from "./landing.ts";
export { nodeFacts } from "./node-facts.ts";
export { type Departure, Placement } from "./placement.ts";
export { type PodLookups, podShape } from "./pod-shape.ts";
export { quantity } from "./quantity.ts";
export { amounts, effectiveRequests } from "./requests.ts";
export type { FilterReason, NodeScore, PluginScores } from "./shape-view.ts";
