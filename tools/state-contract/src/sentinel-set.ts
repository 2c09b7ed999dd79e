export class SentinelSet {}
