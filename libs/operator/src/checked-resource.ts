import type { CallOptions, KubeObject, LastLook, Part, Resource } from "@evenkeel/kube";

/**
 * The resource with a last look before each attempt of a write: it is not sent, nor sent again, if the object that it
 * is for was deleted, replaced, changed or paused meanwhile, or if this process no longer leads. Reads do not look.
 */
export function checkedResource<T extends KubeObject>(resource: Resource<T>, lastLook: LastLook): Resource<T> {
  return {
    ...checkedPart(resource, lastLook),
    list: (...call) => resource.list(...call),
    pages: (...call) => resource.pages(...call),
    watch: (...call) => resource.watch(...call),
    create: (object, options = {}) => resource.create(object, looking(options, lastLook)),
    delete: (object, options = {}) => resource.delete(object, looking(options, lastLook)),
    status: checkedPart(resource.status, lastLook),
    scale: checkedPart(resource.scale, lastLook),
  };
}

function checkedPart<P extends KubeObject>(part: Part<P>, lastLook: LastLook): Part<P> {
  return {
    get: (...call) => part.get(...call),
    replace: (value, options = {}) => part.replace(value, looking(options, lastLook)),
    patch: (object, patch, options = {}) => part.patch(object, patch, looking(options, lastLook)),
    apply: (value, options) => part.apply(value, looking(options, lastLook)),
  };
}

function looking<O extends CallOptions>(options: O, lastLook: LastLook): O {
  const beforeSend = () => {
    options.beforeSend?.();
    lastLook();
  };
  return { ...options, beforeSend };
}
