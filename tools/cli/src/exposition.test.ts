import { expect, test } from "@jest/globals";
import { samplesOf } from "./exposition.ts";

const text = `# HELP peer_up 1 while there is a connection
# TYPE peer_up gauge
peer_up{peer="a b",note="say \\"hi\\"\\n, }x"} 1
peer_up{peer="c"} 0 1700000000000
peer_up_total 7
plain NaN
`;

test("the samples of a metric have their labels and values, and those of longer names are others", () => {
  expect(samplesOf(text, "peer_up")).toEqual([
    { labels: { peer: "a b", note: 'say "hi"\n, }x' }, value: 1 },
    { labels: { peer: "c" }, value: 0 },
  ]);
  expect(samplesOf(text, "plain")).toEqual([{ labels: {}, value: NaN }]);
  expect(samplesOf(text, "none")).toEqual([]);
});
