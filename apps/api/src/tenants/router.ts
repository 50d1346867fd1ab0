import { DeleteNamespaceQuery, type WhoAmI } from "@sless/contracts";
import { pathParam, type Route } from "../http/exchange.js";
import { parseQuery } from "../http/field-errors.js";
import type { Tenants } from "./service.js";

/** Who the caller is, and the end of a tenant. */
export const makeTenantRoutes = (tenants: Tenants, functionsDomain: string): Route[] => [
  {
    method: "get",
    path: "/v1/whoami",
    // eslint-disable-next-line @typescript-eslint/require-await -- handlers are asynchronous, this one knows all
    handle: async ({ res, principal }) => {
      const body: WhoAmI = {
        subject: principal.subject,
        issuer: principal.issuer,
        namespace: principal.namespace,
        admin: principal.admin,
        expires_at: new Date(principal.expiresAt).toISOString(),
        functions_domain: functionsDomain,
      };
      res.json(body);
    },
  },
  {
    method: "delete",
    path: "/v1/namespaces/:ns",
    handle: async ({ req, res, principal }) => {
      const { confirm } = parseQuery(DeleteNamespaceQuery, req.originalUrl);
      const segment = pathParam(req, "ns");
      const namespace = tenants.resolve(principal, segment);
      await tenants.remove(principal, namespace, confirm);
      res.status(202).end();
    },
  },
];
