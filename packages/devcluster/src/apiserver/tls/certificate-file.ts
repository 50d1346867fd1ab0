import { X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeSelfSigned, type Certificate } from "./self-signed.js";

const RENEW_BEFORE_MS = 30 * 24 * 3600 * 1000;

const readIfUsable = (path: string, now: number): Certificate | undefined => {
  try {
    const certificate = JSON.parse(readFileSync(path, "utf8")) as Certificate;
    const { validTo } = new X509Certificate(certificate.cert);
    return Date.parse(validTo) - now > RENEW_BEFORE_MS ? certificate : undefined;
  } catch {
    return undefined;
  }
};

/** The certificate of an installation: the one kept in a folder while it is valid, else a new one, kept there. */
export const loadOrMakeCertificate = (directory: string, now = Date.now()): Certificate => {
  const path = join(directory, "tls.json");
  const kept = readIfUsable(path, now);
  if (kept) return kept;
  const certificate = makeSelfSigned("sless-devcluster", now);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, JSON.stringify(certificate), { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return certificate;
};
