export interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** The value of an Authorization header, and what must not be seen of it. */
export function basicAuthorization({ name, password }: Credentials): {
  readonly header: string;
  readonly secrets: readonly string[];
} {
  const encoded = Buffer.from(`${name}:${password}`).toString("base64");
  return { header: `Basic ${encoded}`, secrets: [password, encoded] };
}
