/** Error codes of building and starting a control plane. Tests and scripts compare codes, people read messages. */
export type ControlPlaneErrorCode =
  /** Go is not installed. */
  | "EK_CLUSTER_GO_MISSING"
  /** Go is older than the pinned modules require. */
  | "EK_CLUSTER_GO_TOO_OLD"
  /** Go could not compile or fetch a pinned module. */
  | "EK_CLUSTER_BUILD_FAILED"
  /** A binary is missing in the named folder. */
  | "EK_CLUSTER_BINARY_MISSING"
  /** openssl is missing or could not create a certificate. */
  | "EK_CLUSTER_CERTIFICATE"
  /** An option is invalid. */
  | "EK_CLUSTER_OPTION"
  /** This machine cannot run a real node, or one could not be removed. */
  | "EK_CLUSTER_REAL_NODE"
  /** A kept cluster of that name runs already. */
  | "EK_CLUSTER_NAME_TAKEN"
  /** A component ended because another process listens on its port. */
  | "EK_CLUSTER_PORT_TAKEN"
  /** A component ended before it was ready. */
  | "EK_CLUSTER_COMPONENT_EXITED"
  /** A condition did not hold in time. */
  | "EK_CLUSTER_DEADLINE";

export class ControlPlaneError extends Error {
  override readonly name = "ControlPlaneError";
  readonly code: ControlPlaneErrorCode;

  constructor(code: ControlPlaneErrorCode, message: string, options?: ErrorOptions) {
    super(`${code}: ${message}`, options);
    this.code = code;
  }
}

/** Whether `error` is a system error with this code, such as ENOENT. */
export function isSystemError(error: unknown, code: string): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === code;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
