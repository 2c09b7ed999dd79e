/** An error of the API: status 400 unless told, with the code and message that clients read. */
export class Route53Fault extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export function invalidInput(message: string): Route53Fault {
  return new Route53Fault("InvalidInput", message);
}

/** The whole batch is refused; `reasons` names each change that could not be made. */
export function invalidBatch(reasons: readonly string[]): Route53Fault {
  return new Route53Fault("InvalidChangeBatch", `[${reasons.join(", ")}]`);
}
