import type { KubeObject, LastLook, Part, Resource } from "@evenkeel/kube";

/**
 * The resource with a last look before each write: the write does not happen if the object that it is for was deleted,
 * replaced, changed or paused meanwhile, or if this process no longer leads. Reads do not look.
 */
export function checkedResource<T extends KubeObject>(resource: Resource<T>, lastLook: LastLook): Resource<T> {
  const checked = check(lastLook);
  return {
    get: (...call) => resource.get(...call),
    list: (...call) => resource.list(...call),
    pages: (...call) => resource.pages(...call),
    watch: (...call) => resource.watch(...call),
    create: checked((...call) => resource.create(...call)),
    replace: checked((...call) => resource.replace(...call)),
    patch: checked((...call) => resource.patch(...call)),
    apply: checked((...call) => resource.apply(...call)),
    delete: checked((...call) => resource.delete(...call)),
    status: checkedPart(resource.status, lastLook),
    scale: checkedPart(resource.scale, lastLook),
  };
}

function checkedPart<P extends KubeObject>(part: Part<P>, lastLook: LastLook): Part<P> {
  const checked = check(lastLook);
  return {
    get: (...call) => part.get(...call),
    replace: checked((...call) => part.replace(...call)),
    patch: checked((...call) => part.patch(...call)),
    apply: checked((...call) => part.apply(...call)),
  };
}

function check(lastLook: LastLook) {
  return <Call extends readonly unknown[], R>(write: (...call: Call) => Promise<R>) =>
    async (...call: Call): Promise<R> => {
      lastLook();
      return write(...call);
    };
}
