/**
 * What is used of the AWS SDK at run time. It is loaded with the first call, and from here alone: a service starts
 * sooner without it, and one that only moves routes never needs it.
 */
export {
  ChangeResourceRecordSetsCommand,
  GetChangeCommand,
  ListResourceRecordSetsCommand,
  Route53Client,
} from "@aws-sdk/client-route-53";
export { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
