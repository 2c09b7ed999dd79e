/** Where the pages of each member go on. A member that is not named has no more. */
export interface ContinueToken {
  /** The own cluster's version of the first page. */
  readonly version: string;
  readonly members: Readonly<Record<string, string>>;
}

export function encodeToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

/** Undefined if it is not a token of this proxy. */
export function decodeToken(text: string): ContinueToken | undefined {
  try {
    const token = JSON.parse(Buffer.from(text, "base64url").toString()) as Partial<ContinueToken> | null;
    const { version, members } = token ?? {};
    if (typeof version !== "string" || typeof members !== "object") return undefined;
    return Object.values(members).every((one) => typeof one === "string") ? { version, members } : undefined;
  } catch {
    return undefined;
  }
}
