export {
  archiveOf,
  COLLECTOR_IMAGE,
  imageName,
  NODE_IMAGE,
  writeCollectorImage,
  writeNodeImage,
  writeServiceImage,
} from "./images/images.ts";
export { POSTGRES_IMAGE, postgresVersion, writePostgresImage } from "./images/postgres-image.ts";
export { REDIS_IMAGE, writeRedisImage } from "./images/redis-image.ts";
export { describeIfRealNode, describeOnRealNode } from "./use-real-cluster.ts";
