export { type Applier, applier, type ApplyCallOptions } from "./apply.ts";
export { AccessReviewer, type Review, type ReviewedObject } from "./access-reviewer.ts";
export { type KubeClient, type KubeOptions, connectKube, type ServerVersion } from "./client.ts";
export { type Condition, findCondition, isTrue, type Judgement, setConditions } from "./conditions.ts";
export {
  controller,
  type ControllerOptions,
  type Reconcile,
  type ReconcileContext,
  type Result,
} from "./controller.ts";
export { controllerMetrics } from "./controller-metrics.ts";
export { changesOf, type KeySource } from "./controller-source.ts";
export * as kubeErrors from "./errors.ts";
export { eventMetrics } from "./event-metrics.ts";
export { eventSink, type EventSinkOptions } from "./event-sink.ts";
export {
  type EventLimits,
  eventLimits,
  EventRecorder,
  type EventRecorderOptions,
  type Happening,
  type ObjectReference,
} from "./events.ts";
export { evict, type EvictOptions } from "./evict.ts";
export { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizers.ts";
export { ForeignLease, type ForeignLeaseOptions } from "./foreign-lease.ts";
export { kubeMetrics } from "./kube-metrics.ts";
export { joinStores } from "./joined-store.ts";
export { leaseLeadership, type LeaseOptions } from "./lease.ts";
export { leaseMetrics } from "./lease-metrics.ts";
export { leaseContradictions, leaseSettings } from "./lease-settings.ts";
export { LoopComponent } from "./loop-component.ts";
export type { KubeObject, ObjectMeta, ObjectName, OwnerReference, ResourceType, ResourceTypeOf } from "./object.ts";
export { keyOf, nameKey, nameOfKey } from "./object-key.ts";
export { controllerOf, isOwnedBy, type OwnerOptions, ownerReference, withOwner } from "./owner-references.ts";
export {
  type ReflectedStore,
  Reflector,
  type ReflectorOptions,
  type ReflectorTiming,
  reflectorTiming,
} from "./reflector.ts";
export { reflectorMetrics } from "./reflector-metrics.ts";
export { Refusal, type RefusalClass, type RefusalDetails, type StatusCause } from "./refusal.ts";
export type { KubeRequest, KubeStream, ResourceOptions } from "./request.ts";
export { type RequeueLimits, requeueLimits } from "./requeue-limiter.ts";
export type * from "./resource.ts";
export * from "./resource-types.ts";
export { kubeSettings } from "./settings.ts";
export { specChanges } from "./spec-changes.ts";
export { type Change, type ReadStore, Store, type StoreOptions, type Subscriber } from "./store.ts";
export type { IndexFunction } from "./store-indexes.ts";
export { dropManagedFields, keepOnly, type Transform } from "./transform.ts";
export { watchBackoff, type WatchBackoffOptions } from "./watch-backoff.ts";
export type { Wire } from "./wire.ts";
export { type AddOptions, type Priority, type WorkItem, Workqueue, type WorkqueueOptions } from "./workqueue.ts";
export { workqueueMetrics } from "./workqueue-metrics.ts";
