import { nameKey } from "@evenkeel/kube";
import { rpcErrors } from "@evenkeel/rpc";

interface NameParts {
  readonly namespace: string;
  readonly name: string;
}

/** Selects keys as a request does: one object, those of a namespace, or all. Empty text stands for all. */
export function objectFilter(
  method: string,
  { namespace, name }: NameParts,
  namespaced = true,
): (key: string) => boolean {
  if (!namespaced) return (key) => name === "" || key === name;
  if (name !== "" && namespace === "") {
    throw new rpcErrors.BadRequest({ method, fault: "a name needs its namespace" });
  }
  if (name !== "") return (key) => key === nameKey({ namespace, name });
  return (key) => namespace === "" || key.startsWith(`${namespace}/`);
}

/** The object that a request must name in full. `field` is the request's field, such as `rebalance`. */
export function objectNamed(
  method: string,
  field: string,
  object: NameParts | undefined,
  namespaced = true,
): NameParts {
  const { namespace = "", name = "" } = object ?? {};
  if (name === "" || (namespaced && namespace === "")) {
    const fault = namespaced ? `${field}.namespace and ${field}.name are required` : `${field}.name is required`;
    throw new rpcErrors.BadRequest({ method, fault });
  }
  return { namespace: namespaced ? namespace : "", name };
}
