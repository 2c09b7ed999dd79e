import { afterAll, beforeAll, describe, jest } from "@jest/globals";
import { accessContract } from "./contract/access.contract.ts";
import { applyContract } from "./contract/apply.contract.ts";
import { customContract } from "./contract/custom.contract.ts";
import { discoveryContract } from "./contract/discovery.contract.ts";
import { deletionContract } from "./contract/deletion.contract.ts";
import { evictionContract } from "./contract/eviction.contract.ts";
import { identityContract } from "./contract/identity.contract.ts";
import { listsContract } from "./contract/lists.contract.ts";
import { ownObjectsContract } from "./contract/own-objects.contract.ts";
import { partsContract } from "./contract/parts.contract.ts";
import { patchesContract } from "./contract/patches.contract.ts";
import { watchesContract } from "./contract/watches.contract.ts";
import { type KubeHarness, World } from "./contract/world.ts";
import { writesContract } from "./contract/writes.contract.ts";

export type { KubeHarness } from "./contract/world.ts";

/**
 * What services rely on of a Kubernetes API, as cases for jest: registered once for each implementation, which `start`
 * brings up. The cases use the client alone, so that whatever speaks HTTP can be held to them; each lives in a
 * namespace of its own.
 */
export function kubeContract(implementation: string, start: () => Promise<KubeHarness>): void {
  const world = new World(start);
  jest.setTimeout(60_000);
  describe(implementation, () => {
    beforeAll(() => world.begin(), 300_000);
    afterAll(() => world.end());
    const subjects = [writesContract, listsContract, patchesContract, applyContract, watchesContract];
    for (const subject of [...subjects, partsContract, deletionContract, evictionContract]) subject(world);
    for (const subject of [accessContract, identityContract, discoveryContract, customContract, ownObjectsContract])
      subject(world);
  });
}
