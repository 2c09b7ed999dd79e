export { type Applier, applier, type ApplyCallOptions } from "./objects/apply.ts";
export { AccessReviewer, type Review, type ReviewedObject } from "./access/access-reviewer.ts";
export { type KubeClient, type KubeOptions, connectKube, type ServerVersion } from "./wire/client.ts";
export { type Condition, findCondition, isTrue, judge, type Judgement, setConditions } from "./objects/conditions.ts";
export {
  controller,
  type ControllerOptions,
  type Reconcile,
  type ReconcileContext,
  type Result,
} from "./controller/controller.ts";
export { controllerMetrics } from "./controller/controller-metrics.ts";
export { changesOf, type KeySource } from "./controller/controller-source.ts";
export * as kubeErrors from "./errors.ts";
export { eventMetrics } from "./events/event-metrics.ts";
export { eventSink, type EventSinkOptions } from "./events/event-sink.ts";
export {
  type EventLimits,
  eventLimits,
  EventRecorder,
  type EventRecorderOptions,
  type Happening,
} from "./events/events.ts";
export { deleteIfSame } from "./objects/delete-if-same.ts";
export { evict, type EvictOptions } from "./objects/evict.ts";
export { addFinalizer, hasFinalizer, keepFinalizer, removeFinalizer } from "./objects/finalizers.ts";
export { ForeignLease, type ForeignLeaseOptions } from "./lease/foreign-lease.ts";
export * from "./objects/http-route.ts";
export { kubeMetrics } from "./wire/kube-metrics.ts";
export { joinStores } from "./cache/joined-store.ts";
export { type LastLook, lastLook } from "./controller/last-look.ts";
export { leaseLeadership, type LeaseOptions } from "./lease/lease.ts";
export { leaseMetrics } from "./lease/lease-metrics.ts";
export { leaseContradictions, leaseSettings } from "./lease/lease-settings.ts";
export { LoopComponent } from "./controller/loop-component.ts";
export type {
  KubeObject,
  ObjectMeta,
  ObjectName,
  OwnerReference,
  ResourceType,
  ResourceTypeOf,
} from "./objects/object.ts";
export { keyOf, nameKey, nameOfKey } from "./objects/object-key.ts";
export { controllerOf, isOwnedBy, type OwnerOptions, ownerReference, withOwner } from "./objects/owner-references.ts";
export { isPaused, PAUSED } from "./objects/pause.ts";
export { type ObjectReference, referenceOf } from "./objects/reference.ts";
export {
  type ReflectedStore,
  Reflector,
  type ReflectorOptions,
  type ReflectorTiming,
  reflectorTiming,
} from "./cache/reflector.ts";
export { reflectorMetrics } from "./cache/reflector-metrics.ts";
export { Refusal, type RefusalClass, type RefusalDetails, type StatusCause } from "./wire/refusal.ts";
export type { KubeRequest, KubeStream, ResourceOptions } from "./wire/request.ts";
export { type RequeueLimits, requeueLimits } from "./queue/requeue-limiter.ts";
export type * from "./objects/resource.ts";
export * from "./objects/resource-types.ts";
export { kubeSettings } from "./wire/settings.ts";
export { type Nulled, StatusWriter, type StatusWriterOptions, type StoredObject } from "./objects/status-writer.ts";
export { specChanges } from "./controller/spec-changes.ts";
export { type Change, type ReadStore, Store, type StoreOptions, type Subscriber } from "./cache/store.ts";
export type { IndexFunction } from "./cache/store-indexes.ts";
export { dropManagedFields, keepOnly, type Transform } from "./cache/transform.ts";
export { watchBackoff, type WatchBackoffOptions } from "./cache/watch-backoff.ts";
export type { Wire } from "./objects/wire.ts";
export { type AddOptions, type Priority, type WorkItem, Workqueue, type WorkqueueOptions } from "./queue/workqueue.ts";
export { workqueueMetrics } from "./queue/workqueue-metrics.ts";
