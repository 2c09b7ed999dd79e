/** Where a value is, as a spec names it. */
export interface SecretKey {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Reads values of Secrets for an object in `namespace`. Rejects with coded errors that name the Secret and never its
 * content.
 */
export interface SecretReader {
  read(namespace: string, key: SecretKey, signal: AbortSignal): Promise<string>;
}
