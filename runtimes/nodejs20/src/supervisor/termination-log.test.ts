import { expect, it } from "@jest/globals";
import { makeTerminationMessage } from "./termination-log.js";

it.each(["a", "ä", "\u0000", '"'])("fits what Kubernetes keeps, though the message is long: %j", (character) => {
  const text = makeTerminationMessage("LoadError", character.repeat(100_000));
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
  expect(JSON.parse(text)).toMatchObject({ reason: "LoadError" });
});
