/** A pod behind a Service, from its EndpointSlices. */
export interface ServiceEndpoint {
  readonly address: string;
  /** The name of the pod; empty if the slice has none. */
  readonly pod: string;
  readonly uid: string;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  /** Port numbers of the pod by the name of the Service port, which may be empty. */
  readonly ports: Readonly<Record<string, number>>;
}
