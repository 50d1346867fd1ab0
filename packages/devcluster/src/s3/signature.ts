import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { S3Error } from "./errors.js";

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

export interface SignedRequest {
  method: string;
  /** Path as it stands in the request line, without query. */
  rawPath: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
}

export interface VerifiedRequest {
  /** What the client says of the body: a hex sha256, `UNSIGNED-PAYLOAD`, or a STREAMING- name. */
  payload: string;
}

interface Claim {
  credential: string;
  signedHeaders: string[];
  signature: string;
  /** `YYYYMMDDTHHMMSSZ` */
  time: string;
  payload: string;
}

const ALGORITHM = "AWS4-HMAC-SHA256";
const MAX_SKEW_MS = 15 * 60 * 1000;
const MAX_EXPIRES_S = 7 * 24 * 3600;

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const sha256Hex = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Percent-encoding of the signature: RFC 3986, all but unreserved characters. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

const canonicalPath = (rawPath: string): string =>
  rawPath
    .split("/")
    .map((part) => encode(decodeURIComponent(part)))
    .join("/");

const canonicalQuery = (query: URLSearchParams): string =>
  [...query]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");

const canonicalHeaders = (headers: IncomingHttpHeaders, names: readonly string[]): string =>
  names
    .map(
      (name) =>
        `${name}:${String(headers[name] ?? "")
          .trim()
          .replace(/ +/g, " ")}\n`,
    )
    .join("");

const parseTime = (time: string): number => {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time) ?? [];
  if (parts.length === 0) throw new S3Error("AccessDenied", "the request has no valid X-Amz-Date");
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
};

const claimOfHeader = ({ headers }: SignedRequest): Claim => {
  const match = new RegExp(
    `^${ALGORITHM} Credential=([^, ]+), *SignedHeaders=([^, ]+), *Signature=([0-9a-f]{64})$`,
  ).exec(headers.authorization ?? "");
  if (!match) throw new S3Error("AccessDenied", "the request is not signed with AWS Signature Version 4");
  const [, credential = "", names = "", signature = ""] = match;
  return {
    credential,
    signature,
    signedHeaders: names.split(";"),
    time: String(headers["x-amz-date"] ?? ""),
    payload: String(headers["x-amz-content-sha256"] ?? "UNSIGNED-PAYLOAD"),
  };
};

const claimOfQuery = ({ query }: SignedRequest, now: number): Claim => {
  const get = (name: string): string => query.get(`X-Amz-${name}`) ?? "";
  const time = get("Date");
  const expires = Number(get("Expires"));
  if (!Number.isInteger(expires) || expires < 1 || expires > MAX_EXPIRES_S) {
    throw new S3Error("AccessDenied", `X-Amz-Expires must be 1 to ${MAX_EXPIRES_S} seconds`);
  }
  if (now > parseTime(time) + expires * 1000) throw new S3Error("AccessDenied", "Request has expired");
  return {
    credential: get("Credential"),
    signature: get("Signature"),
    signedHeaders: get("SignedHeaders").split(";"),
    time,
    payload: query.get("X-Amz-Content-Sha256") ?? "UNSIGNED-PAYLOAD",
  };
};

/** A header that is acted upon but was not signed could be put there by whoever got hold of a presigned URL. */
const requireSigned = ({ headers }: SignedRequest, signed: readonly string[]): void => {
  if (!signed.includes("host")) throw new S3Error("AccessDenied", "the host header must be signed");
  const loose = Object.keys(headers).find((name) => name.startsWith("x-amz-") && !signed.includes(name));
  if (loose)
    throw new S3Error("AccessDenied", `There were headers present in the request which were not signed: ${loose}`);
};

const signatureOf = (request: SignedRequest, claim: Claim, scope: string[], secret: string): Buffer => {
  const canonical = [
    request.method,
    canonicalPath(request.rawPath),
    canonicalQuery(request.query),
    canonicalHeaders(request.headers, claim.signedHeaders),
    claim.signedHeaders.join(";"),
    claim.payload,
  ].join("\n");
  const toSign = [ALGORITHM, claim.time, scope.join("/"), sha256Hex(canonical)].join("\n");
  const key = scope.reduce<string | Buffer>((secretSoFar, part) => hmac(secretSoFar, part), `AWS4${secret}`);
  return hmac(key, toSign);
};

/**
 * Checks AWS Signature Version 4 in the Authorization header or in the query of a presigned URL.
 * @param now ms since the epoch
 * @throws S3Error in S3's codes; the signature is compared in constant time
 */
export const verifySignature = (
  request: SignedRequest,
  { credentials, region, now }: { credentials: S3Credentials; region: string; now: number },
): VerifiedRequest => {
  const isPresigned = request.query.has("X-Amz-Signature");
  const claim = isPresigned ? claimOfQuery(request, now) : claimOfHeader(request);
  const [accessKeyId, ...scope] = claim.credential.split("/");
  if (accessKeyId !== credentials.accessKeyId) {
    throw new S3Error("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.");
  }
  const wanted = [claim.time.slice(0, 8), region, "s3", "aws4_request"];
  if (scope.join("/") !== wanted.join("/")) {
    throw new S3Error(
      "AuthorizationHeaderMalformed",
      `the credential's scope is wrong; expecting '${wanted.join("/")}'`,
    );
  }
  if (!isPresigned && Math.abs(now - parseTime(claim.time)) > MAX_SKEW_MS) {
    throw new S3Error(
      "RequestTimeTooSkewed",
      "The difference between the request time and the current time is too large.",
    );
  }
  requireSigned(request, claim.signedHeaders);
  const expected = signatureOf(request, claim, scope, credentials.secretAccessKey);
  const given = Buffer.from(claim.signature, "hex");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new S3Error(
      "SignatureDoesNotMatch",
      "The request signature we calculated does not match the signature you provided.",
    );
  }
  return { payload: claim.payload };
};
