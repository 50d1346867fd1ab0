const MASK = "[redacted]";

/** `Bearer …` and `Basic …` as they stand in headers, in any case. */
const AUTHORIZATION = /\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]{8,}/gi;
/** A JSON web token: its header always begins with `{"`, in base64url `eyJ`. */
const JSON_WEB_TOKEN = /\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*/g;

/**
 * Masks credentials that stand in the middle of a text, such as an error that quotes a request. It is the second line
 * of defence behind the redaction by field name; both patterns run in linear time.
 */
export const maskCredentials = (text: string): string =>
  text.replace(AUTHORIZATION, `$1$2${MASK}`).replace(JSON_WEB_TOKEN, MASK);
