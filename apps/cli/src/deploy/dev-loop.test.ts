import { expect, it } from "@jest/globals";
import { createProgress } from "../output/progress.js";
import { warningOnce } from "./dev-loop.js";

it("says once what would be warned of at each save", () => {
  let said = "";
  const progress = warningOnce(createProgress({ stream: { write: (text) => (said += text) }, color: false }));
  for (const text of ['".env" was left out', "other", '".env" was left out']) progress.warn(text);
  expect(said).toBe('! ".env" was left out\n! other\n');
});
