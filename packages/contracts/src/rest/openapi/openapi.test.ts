import { describe, expect, it } from "@jest/globals";
import { PROBLEM_TEXTS } from "../problem-texts.js";
import { PROBLEM_KINDS } from "../problem.js";
import { COMPONENTS, type ComponentName } from "./components.js";
import { EXAMPLES } from "./examples.js";
import { makeOpenApi } from "./make-openapi.js";
import { OPERATIONS } from "./operations.js";

describe("the OpenAPI document", () => {
  it.each(Object.keys(EXAMPLES) as ComponentName[])("R2: the example of %s is true", (name) => {
    const result = COMPONENTS[name].schema.safeParse(EXAMPLES[name]);
    expect(result.error?.issues ?? []).toEqual([]);
    expect(Object.keys(EXAMPLES[name]).sort()).toEqual(Object.keys(result.data as object).sort());
  });

  it("gives each operation an id of its own", () => {
    const ids = OPERATIONS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("refers only to schemas that it holds, and holds nothing of Kubernetes", () => {
    const text = JSON.stringify(makeOpenApi());
    for (const [, name = ""] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      expect(Object.keys(COMPONENTS)).toContain(name);
    }
    expect(text).not.toMatch(/x-kubernetes|\$schema|9007199254740991/);
  });

  it("explains every kind of problem", () => {
    expect(Object.keys(PROBLEM_TEXTS).sort()).toEqual(Object.keys(PROBLEM_KINDS).sort());
  });
});
