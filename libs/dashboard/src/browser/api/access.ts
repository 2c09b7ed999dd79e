/** The bearer token that the user entered. It is kept in the memory of the page until the page closes. */
export class Access {
  /** Empty if there is none. */
  token = "";

  /** Of each request: with the token, if there is one. */
  get headers(): Readonly<Record<string, string>> {
    return authorization(this.token);
  }
}

export function authorization(token: string): Readonly<Record<string, string>> {
  return token === "" ? {} : { authorization: `Bearer ${token}` };
}
