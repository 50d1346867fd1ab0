import { describe, expect, it } from "@jest/globals";
import { normaliseBuiltIn } from "./defaults.js";
import type { Schema } from "./schema.js";

describe("the form of a built-in object", () => {
  const schema = {
    type: "object",
    properties: {
      list: { type: "array", items: { type: "string" } },
      map: { type: "object", additionalProperties: { type: "string" } },
      anyJson: { description: "as JSONSchemaProps.default" },
    },
  } as Schema;

  it("lacks empty lists and maps, and keeps what stands in a field of any JSON", () => {
    const value = { list: [], map: {}, anyJson: [] };
    normaliseBuiltIn(value, schema);
    expect(value).toEqual({ anyJson: [] });
  });
});
