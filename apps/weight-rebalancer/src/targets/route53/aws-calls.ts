/** What needs the AWS SDK. It is loaded with the first Route 53 target: who weights HTTPRoutes alone does without it. */
export { AwsSession } from "./aws-session.ts";
export { ZoneApi } from "./zone-api.ts";
