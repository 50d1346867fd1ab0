import { makeOpenApi } from "@sless/contracts";
import { Router, type RequestHandler, type Response } from "express";
import { MethodNotAllowed } from "../errors.js";
import { markRoute } from "../http/observe.js";
import { renderErrorsPage } from "./errors-page.js";
import { PAGE_POLICY } from "./layout.js";
import { renderReferencePage, type ApiDocument } from "./reference-page.js";

const CACHE_SECONDS = 300;

const sendHtml = (res: Response, html: string): void => {
  res.setHeader("content-security-policy", PAGE_POLICY);
  res.setHeader("cache-control", `public, max-age=${CACHE_SECONDS}`);
  res.type("text/html; charset=utf-8").send(html);
};

/** What needs no token: the description of the API and the page that problems point to. Made once. */
export const makePages = (): Router => {
  const document = makeOpenApi();
  const json = JSON.stringify(document);
  const reference = renderReferencePage(document as unknown as ApiDocument);
  const errors = renderErrorsPage();
  const pages: Readonly<Record<string, (res: Response) => void>> = {
    "/": (res) => sendHtml(res, reference),
    "/errors": (res) => sendHtml(res, errors),
    "/openapi.json": (res) => void res.type("application/json").send(json),
  };

  const serve =
    (path: string, send: (res: Response) => void): RequestHandler =>
    (req, res) => {
      markRoute(res, path);
      if (req.method !== "GET" && req.method !== "HEAD") throw new MethodNotAllowed(["GET", "HEAD"]);
      send(res);
    };
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, send] of Object.entries(pages)) router.all(path, serve(path, send));
  return router;
};
