import { describe, expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { CUSTOM_RESOURCES } from "./custom-resources.js";
import { makeCrd } from "./make-crd.js";
import { toStructuralSchema } from "./structural-schema.js";

/** Visits every schema node below a structural schema. */
const walk = (node: Record<string, unknown>, visit: (node: Record<string, unknown>) => void): void => {
  visit(node);
  const children = [
    ...Object.values((node["properties"] as object | undefined) ?? {}),
    node["items"],
    node["additionalProperties"],
  ];
  for (const child of children)
    if (typeof child === "object" && child !== null) walk(child as Record<string, unknown>, visit);
};

const schemaOf = (crd: Record<string, unknown>) =>
  (crd["spec"] as { versions: { schema: { openAPIV3Schema: Record<string, unknown> } }[] }).versions[0]?.schema
    .openAPIV3Schema ?? {};

describe.each(CUSTOM_RESOURCES.map((resource) => [resource.type.kind, resource] as const))(
  "the CRD of %s",
  (_, resource) => {
    const crd = makeCrd(resource);

    it("is the one that is committed", () => {
      const file = new URL(`../../generated/crds/${resource.type.plural}.yaml`, import.meta.url);
      expect(parse(readFileSync(file, "utf8"))).toEqual(JSON.parse(JSON.stringify(crd)));
    });

    it("security 10: bounds every number, text, list and map that a user writes", () => {
      const spec = (schemaOf(crd)["properties"] as Record<string, Record<string, unknown>>)["spec"];
      const unbounded: unknown[] = [];
      const bound: Readonly<Record<string, string>> = {
        integer: "maximum",
        array: "maxItems",
        object: "maxProperties",
        string: "maxLength",
      };
      const isClosed = (node: Record<string, unknown>) =>
        node["type"] === "boolean" ||
        "enum" in node ||
        node["pattern"] === "^[0-9a-f]{64}$" ||
        (node["type"] === "object" && !("additionalProperties" in node));
      if (spec) {
        walk(spec, (node) => {
          if (!isClosed(node) && !((bound[String(node["type"])] ?? "") in node)) unbounded.push(node);
        });
      }
      expect(unbounded).toEqual([]);
    });
  },
);

it("refuses to call a union structural", () => {
  expect(() => toStructuralSchema(z.object({ a: z.union([z.string(), z.number()]) }))).toThrow(/not structural/);
});
