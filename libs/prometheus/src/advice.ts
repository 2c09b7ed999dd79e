/**
 * Where the reader of a message should look, in the words of the service's own fields and flags. Each ends a sentence.
 */
export interface Advice {
  /** After a redirect: `set address to where it serves`. */
  readonly address: string;
  /** After a 401: `see auth and headers`. */
  readonly credentials: string;
  /** After a 403. */
  readonly permission: string;
  /** After a 429. */
  readonly load: string;
  /** After a server said that it could not answer in time: `lighten the query or raise timeout`. */
  readonly time: string;
  /** After a certificate was not trusted. */
  readonly trust: string;
  /** After a handshake failed. */
  readonly handshake: string;
  /** A question, after a connection over TLS broke: some servers close it where they miss a client's certificate. */
  readonly clientCertificate: string;
}
