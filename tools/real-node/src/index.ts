export { archiveOf, imageName, NODE_IMAGE, writeNodeImage, writeServiceImage } from "./images/images.ts";
export { describeOnRealNode, useRealCluster } from "./use-real-cluster.ts";
