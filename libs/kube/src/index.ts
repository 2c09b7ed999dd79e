export { AccessReviewer, type ReviewedObject, type Verdict } from "./access/access-reviewer.ts";
export { impersonatedObjects } from "./access/impersonated-objects.ts";
export { ServiceAccountToken } from "./access/service-account-token.ts";
export { joinStores } from "./cache/joined-store.ts";
export { Reflector, type ReflectorOptions, type ReflectorTiming } from "./cache/reflector.ts";
export { reflectorMetrics } from "./cache/reflector-metrics.ts";
export { type ReadStore, Store, type StoreOptions } from "./cache/store.ts";
export { keepOnly } from "./cache/transform.ts";
export { TimeSlice } from "./cache/time-slice.ts";
export { watchBackoff } from "./cache/watch-backoff.ts";
export { controller, type Reconcile, type ReconcileContext, type Result } from "./controller/controller.ts";
export { controllerMetrics } from "./controller/controller-metrics.ts";
export { changesOf, type KeySource } from "./controller/controller-source.ts";
export { KeyNotifier } from "./controller/key-notifier.ts";
export { type LastLook, lastLook } from "./controller/last-look.ts";
export { specChanges } from "./controller/spec-changes.ts";
export * as kubeErrors from "./errors.ts";
export { eventMetrics } from "./events/event-metrics.ts";
export { eventSink } from "./events/event-sink.ts";
export { EventRecorder } from "./events/events.ts";
export { ForeignLease, type ForeignLeaseOptions } from "./lease/foreign-lease.ts";
export { leaseLeadership } from "./lease/lease.ts";
export { leaseMetrics } from "./lease/lease-metrics.ts";
export { leaseContradictions, leaseSettings } from "./lease/lease-settings.ts";
export { applier } from "./objects/apply.ts";
export { type Condition, findCondition, judge, type Judgement, setConditions } from "./objects/conditions.ts";
export { deleteIfSame } from "./objects/delete-if-same.ts";
export { evict } from "./objects/evict.ts";
export { addFinalizer, hasFinalizer, keepFinalizer, removeFinalizer } from "./objects/finalizers.ts";
export * from "./objects/http-route.ts";
export { parseManifests } from "./objects/manifests.ts";
export type { KubeObject, ObjectMeta, ObjectName, ResourceType, ResourceTypeOf } from "./objects/object.ts";
export { keyOf, nameKey, nameOfKey } from "./objects/object-key.ts";
export { controllerOf, isOwnedBy, ownerReference, withOwner } from "./objects/owner-references.ts";
export { isPaused, PAUSED } from "./objects/pause.ts";
export { type ObjectReference, referenceOf } from "./objects/reference.ts";
export type {
  CallOptions,
  JsonPatchOperation,
  Part,
  Patch,
  Resource,
  Scale,
  Selection,
  WatchEvent,
  WriteOptions,
} from "./objects/resource.ts";
export * from "./objects/resource-types.ts";
export { type Nulled, StatusWriter, type StoredObject } from "./objects/status-writer.ts";
export { connectKube, type KubeClient } from "./wire/client.ts";
export type { Access } from "./wire/credentials.ts";
export { Refusal } from "./wire/refusal.ts";
export { kubeSettings } from "./wire/settings.ts";
export { workqueueMetrics } from "./queue/workqueue-metrics.ts";
