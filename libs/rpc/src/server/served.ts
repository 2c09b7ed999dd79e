import type { ServiceImplementation, TsProtoServiceDefinition } from "nice-grpc";
import type { Permission } from "../auth/bearer.ts";
import type { StatusTable } from "../status.ts";

type Methods<D extends TsProtoServiceDefinition> = D["methods"];
type RequestOf<M extends TsProtoServiceDefinition["methods"][string]> = ReturnType<M["requestType"]["decode"]>;
type ResponseOf<M extends TsProtoServiceDefinition["methods"][string]> = ReturnType<M["responseType"]["decode"]>;

/** The callers of a method: anyone, or users with the permission that the request needs. */
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
   * Methods that the proto marks NO_SIDE_EFFECTS are for readers: the setting `readAccess` says whether these need a
   * token. Every other method must be named here, so that none is open by oversight. "anyone" needs no token over gRPC,
   * whatever the setting.
   */
  readonly access?: { readonly [M in keyof Methods<D>]?: Access<RequestOf<Methods<D>[M]>> };
  /**
   * Requests to read name the objects that tokens are checked by, so that access to the named one is enough. Otherwise
   * their names are of something else, and reading needs access to all objects of the namespace.
   */
  readonly namesObjects?: boolean;
  /** gRPC statuses of the service's own coded errors. */
  readonly statuses?: StatusTable;
  /** Methods that answer with a file, and how the file is made from the answer. */
  readonly attachments?: { readonly [M in keyof Methods<D>]?: (response: ResponseOf<Methods<D>[M]>) => Attachment };
}
