import type { ServiceImplementation, TsProtoServiceDefinition } from "nice-grpc";
import type { Permission } from "../auth/bearer.ts";
import type { StatusTable } from "../status.ts";

type Methods<D extends TsProtoServiceDefinition> = D["methods"];
type RequestOf<M extends TsProtoServiceDefinition["methods"][string]> = ReturnType<M["requestType"]["decode"]>;
type ResponseOf<M extends TsProtoServiceDefinition["methods"][string]> = ReturnType<M["responseType"]["decode"]>;

/** Who may call a method: anyone, or whoever has the permission that the request asks for. */
export type Access<Request = never> = "anyone" | ((request: Request) => Permission);

/** A file that the JSON API gives out instead of a message. */
export interface Attachment {
  readonly name: string;
  readonly type: string;
  readonly content: Uint8Array;
}

/** A service as `RpcServer.add` takes it. */
export interface Served<D extends TsProtoServiceDefinition = TsProtoServiceDefinition> {
  readonly definition: D;
  readonly implementation: ServiceImplementation<D>;
  /**
   * Methods that the proto marks NO_SIDE_EFFECTS are open to anyone who reaches the port. Every other method must be named here, so
   * that none is open by oversight.
   */
  readonly access?: { readonly [M in keyof Methods<D>]?: Access<RequestOf<Methods<D>[M]>> };
  /** gRPC statuses of the service's own coded errors. */
  readonly statuses?: StatusTable;
  /** Methods whose answer is a file, and how it is made of the answer. */
  readonly attachments?: { readonly [M in keyof Methods<D>]?: (response: ResponseOf<Methods<D>[M]>) => Attachment };
}
