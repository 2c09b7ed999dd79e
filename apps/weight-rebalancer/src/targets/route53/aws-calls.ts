/**
 * What needs the AWS SDK. It is loaded with the first Route 53 target: a service with HTTPRoutes only does not need it.
 */
export { AwsSession } from "./aws-session.ts";
export { ZoneApi } from "./zone-api.ts";
