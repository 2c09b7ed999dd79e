import { fieldsOr, listOr, textOr } from "../../json.ts";
import type { StoredObject } from "../../object.ts";

/** Where a pod listens, in the addresses of the cluster. */
export interface Target {
  readonly address: string;
  readonly port: number;
}

/**
 * The endpoints that a connection to a Service's port may go to: the ready ones, and if there are none those that still
 * serve while they terminate. An endpoint that says nothing of being ready is.
 */
export function targets(slices: readonly StoredObject[], portName: string): readonly Target[] {
  const all = slices.flatMap((slice) => {
    const ports = listOr(slice["ports"]).map(fieldsOr);
    const port = ports.find(({ name }) => textOr(name) === portName)?.["port"];
    if (typeof port !== "number") return [];
    return listOr(slice["endpoints"])
      .map(fieldsOr)
      .flatMap(({ addresses, conditions }) => {
        const { ready = true, serving = ready, terminating = false } = fieldsOr(conditions);
        const address = textOr(listOr(addresses)[0]);
        return address === "" ? [] : [{ target: { address, port }, ready, last: serving && terminating }];
      });
  });
  const ready = all.filter((one) => one.ready === true);
  return (ready.length > 0 ? ready : all.filter(({ last }) => last === true)).map(({ target }) => target);
}
