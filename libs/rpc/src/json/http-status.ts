import { Status } from "nice-grpc-common";

/** As google.rpc.Code maps them: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
const statuses: Partial<Record<Status, number>> = {
  [Status.OK]: 200,
  [Status.CANCELLED]: 499,
  [Status.INVALID_ARGUMENT]: 400,
  [Status.DEADLINE_EXCEEDED]: 504,
  [Status.NOT_FOUND]: 404,
  [Status.ALREADY_EXISTS]: 409,
  [Status.PERMISSION_DENIED]: 403,
  [Status.RESOURCE_EXHAUSTED]: 429,
  [Status.FAILED_PRECONDITION]: 400,
  [Status.ABORTED]: 409,
  [Status.OUT_OF_RANGE]: 400,
  [Status.UNIMPLEMENTED]: 501,
  [Status.UNAVAILABLE]: 503,
  [Status.UNAUTHENTICATED]: 401,
};

export function httpStatus(status: Status): number {
  return statuses[status] ?? 500;
}
