/** An unsuccessful response, with the error of the service. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  /** A code of the error catalogue, or empty. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** For want of a token, or of rights. */
  get denied(): boolean {
    return this.status === 401 || this.status === 403;
  }

  static async of(response: Response): Promise<Refused> {
    const body: unknown = await response.json().catch(() => undefined);
    const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
    return new Refused(
      response.status,
      typeof code === "string" ? code : "",
      typeof message === "string" ? message : `the service answered with status ${response.status}`,
    );
  }
}

/** One sentence for a person, whatever was thrown. */
export function faultText(error: unknown): string {
  if (error instanceof Refused) return error.code ? `${error.message} (${error.code})` : error.message;
  const { name, message = String(error) } = error as Partial<Error>;
  if (name === "TimeoutError") return "the service did not answer in time";
  // What fetch throws when there is no answer at all.
  return name === "TypeError" ? "the service is unreachable" : message;
}
