/** The little of ASN.1 DER that a certificate is made of: tag, length, content. */
const encode = (tag: number, ...contents: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(contents);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const length = Buffer.from(content.length.toString(16).replace(/^(.(..)*)$/, "0$1"), "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content]);
};

export const sequence = (...items: readonly Uint8Array[]): Buffer => encode(0x30, ...items);
export const set = (...items: readonly Uint8Array[]): Buffer => encode(0x31, ...items);
export const boolean = (value: boolean): Buffer => encode(0x01, Buffer.from([value ? 0xff : 0]));
/** Non-negative, big-endian. */
export const integer = (bytes: Uint8Array): Buffer =>
  encode(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0), bytes);
export const bitString = (bytes: Uint8Array, unusedBits = 0): Buffer => encode(0x03, Buffer.from([unusedBits]), bytes);
export const octetString = (bytes: Uint8Array): Buffer => encode(0x04, bytes);
export const utf8String = (text: string): Buffer => encode(0x0c, Buffer.from(text));
/** `20250102030405Z`. */
export const generalizedTime = (date: Date): Buffer =>
  encode(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`));
/** `[number]`, holding whole items (explicit) or bare bytes (implicit). */
export const explicit = (number: number, ...items: readonly Uint8Array[]): Buffer => encode(0xa0 | number, ...items);
export const implicit = (number: number, bytes: Uint8Array): Buffer => encode(0x80 | number, bytes);

/** `1.2.840.10045.4.3.2`. */
export const objectIdentifier = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const base128 = (value: number): number[] => {
    const digits = [value & 0x7f];
    for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  };
  return encode(0x06, Buffer.from([40 * first + second, ...rest.flatMap(base128)]));
};
