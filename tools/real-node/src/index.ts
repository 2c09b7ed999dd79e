export { archiveOf, imageName, NODE_IMAGE, writeNodeImage, writeServiceImage } from "./images/images.ts";
export { describeIfRealNode, describeOnRealNode } from "./use-real-cluster.ts";
