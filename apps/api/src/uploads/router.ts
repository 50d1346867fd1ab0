import { UploadQuery } from "@sless/contracts";
import { UnsupportedMediaType } from "../errors.js";
import { FUNCTION_PATH } from "../functions/router.js";
import { readIfMatch } from "../http/conditional.js";
import type { Route } from "../http/exchange.js";
import { parseQuery } from "../http/field-errors.js";
import { readIdempotency } from "../http/idempotency.js";
import { mediaTypeOf, refuseEncodedBody } from "../http/read-json.js";
import type { Shares } from "../http/shares.js";
import { itemKey, readable, type Access } from "../tenants/access.js";
import type { Uploads } from "./service.js";

const ZIP_TYPES = ["application/zip", "application/x-zip-compressed", "application/octet-stream"];

export interface UploadRoutesOptions {
  readonly access: Access;
  readonly uploads: Uploads;
  readonly shares: Shares;
}

/** `POST …/upload`: the zip itself is the body. */
export const makeUploadRoutes = ({ access, uploads, shares }: UploadRoutesOptions): Route[] => [
  {
    method: "post",
    path: `${FUNCTION_PATH}/upload`,
    handle: async (exchange) => {
      const { req, res, signal } = exchange;
      const { stage } = parseQuery(UploadQuery, req.originalUrl);
      refuseEncodedBody(req);
      if (!ZIP_TYPES.includes(mediaTypeOf(req))) {
        throw new UnsupportedMediaType("Send the zip itself as the body, with Content-Type: application/zip.");
      }
      const ifMatch = readIfMatch(req);
      const key = itemKey(exchange, await readable(access, exchange));
      const release = shares.acquire(key.namespace);
      try {
        const claim = (hash: string) => readIdempotency(exchange, key.namespace, hash);
        res.json(await uploads.upload(req, { key, stage, ifMatch, claim, signal }));
      } finally {
        release();
      }
    },
  },
];
