export { ObjectBoard, type ObjectBoardOptions, type ReadBoard } from "./board/object-board.ts";
export { objectFilter, objectNamed } from "./board/object-filter.ts";
export { objectsService, type ObjectsServiceOptions, type ObjectView, objectView } from "./board/objects-service.ts";
export { type Pausing, pausing, type PausingOptions } from "./board/pausing.ts";
export { type BoardEvent, type RemovedObject, watchBoard, type WatchOptions } from "./board/watch-board.ts";
export { checkedResource } from "./checked-resource.ts";
export { operatorFrame, OperatorFrame } from "./frame.ts";
export type { OperatedService, OperatorFrameOptions, ReconcileOptions, ReflectOptions } from "./frame-options.ts";
export { conditionsAfterFailure, judgeFailure } from "./judge-failure.ts";
export { type Answering, LeaderRelay, type LeaderRelayOptions } from "./leader-relay.ts";
export { resourceTypeOf } from "./resource-type.ts";
export type { ActContext, ObjectContext, Reconciler } from "./reconciler.ts";
export {
  operatorContradictions,
  type OperatorSettings,
  operatorSettings,
  type OperatorSettingsOptions,
  originalLeaseSetting,
} from "./settings.ts";
