import { createHash, timingSafeEqual } from "node:crypto";

export interface BasicCredentials {
  username: string;
  password: string;
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * Compares an Authorization header with the one login that is let in. Both sides are hashed first, so the time taken
 * tells neither length nor content.
 */
export const createBasicCheck = ({ username, password }: BasicCredentials): ((header?: string) => boolean) => {
  const expected = sha256(`${username}:${password}`);
  return (header) => {
    const encoded = /^Basic ([A-Za-z0-9+/=]{1,1024})$/i.exec(header ?? "")?.[1] ?? "";
    return timingSafeEqual(sha256(Buffer.from(encoded, "base64").toString("utf8")), expected);
  };
};
