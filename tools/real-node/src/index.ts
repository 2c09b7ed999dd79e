export {
  archiveOf,
  COLLECTOR_IMAGE,
  imageName,
  NODE_IMAGE,
  writeCollectorImage,
  writeNodeImage,
  writeServiceImage,
} from "./images/images.ts";
export { describeIfRealNode, describeOnRealNode } from "./use-real-cluster.ts";
