import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { CUSTOM_RESOURCES } from "./crd/custom-resources.js";
import { makeCrd } from "./crd/make-crd.js";
import { makeApiErrorsPage } from "./docs/api-errors.js";
import { makeConfigurationPage } from "./docs/configuration.js";
import { makeOpenApi } from "./rest/openapi/make-openapi.js";

/** Writes what is generated from the schemas; the result is committed and `pnpm verify` fails when it is stale. */
const generated = fileURLToPath(new URL("../generated/", import.meta.url));
const crds = `${generated}crds/`;

mkdirSync(crds, { recursive: true });
for (const stale of readdirSync(crds)) rmSync(crds + stale);
for (const resource of CUSTOM_RESOURCES) {
  writeFileSync(
    `${crds}${resource.type.plural}.yaml`,
    stringify(makeCrd(resource), { lineWidth: 0, aliasDuplicateObjects: false }),
  );
}

writeFileSync(`${generated}openapi.json`, `${JSON.stringify(makeOpenApi(), undefined, 2)}\n`);

const docs = fileURLToPath(new URL("../../../docs/", import.meta.url));
mkdirSync(docs, { recursive: true });
writeFileSync(`${docs}configuration.md`, makeConfigurationPage());
writeFileSync(`${docs}api-errors.md`, makeApiErrorsPage());
