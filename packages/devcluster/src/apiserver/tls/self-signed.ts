import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import {
  bitString,
  boolean,
  explicit,
  generalizedTime,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  utf8String,
} from "./der.js";

export interface Certificate {
  /** PEM. */
  cert: string;
  key: string;
}

const VALID_MS = 3650 * 24 * 3600 * 1000;
const CLOCK_SKEW_MS = 24 * 3600 * 1000;
const ECDSA_WITH_SHA256 = sequence(objectIdentifier("1.2.840.10045.4.3.2"));

const extension = (oid: string, critical: boolean, value: Uint8Array): Buffer =>
  sequence(objectIdentifier(oid), ...(critical ? [boolean(true)] : []), octetString(value));

/** Names and addresses of loopback, the only ones the server listens on. */
const subjectAlternativeNames = (): Buffer =>
  sequence(
    implicit(2, Buffer.from("localhost")),
    implicit(7, Buffer.from([127, 0, 0, 1])),
    implicit(7, Buffer.concat([Buffer.alloc(15), Buffer.from([1])])),
  );

const makeExtensions = (): Buffer =>
  explicit(
    3,
    sequence(
      extension("2.5.29.19", true, sequence(boolean(true))),
      // digitalSignature and keyCertSign: bits 0 and 5.
      extension("2.5.29.15", true, bitString(Buffer.from([0b1000_0100]), 2)),
      extension("2.5.29.37", false, sequence(objectIdentifier("1.3.6.1.5.5.7.3.1"))),
      extension("2.5.29.17", false, subjectAlternativeNames()),
    ),
  );

const toPem = (label: string, der: Uint8Array): string => {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
};

/**
 * A key and a certificate (X.509 v3, P-256, RFC 5280) that vouches for itself on loopback. kubectl sends its
 * token over TLS only, and Node.js makes no certificates of its own.
 */
export const makeSelfSigned = (commonName: string, now: number): Certificate => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(objectIdentifier("2.5.4.3"), utf8String(commonName))));
  const validity = sequence(generalizedTime(new Date(now - CLOCK_SKEW_MS)), generalizedTime(new Date(now + VALID_MS)));
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    makeExtensions(),
  );
  const certificate = sequence(body, ECDSA_WITH_SHA256, bitString(sign("sha256", body, privateKey)));
  return {
    cert: toPem("CERTIFICATE", certificate),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
};
