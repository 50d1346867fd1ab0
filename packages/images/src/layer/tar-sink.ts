/** Takes an uncompressed tar in order. Every byte goes to either `content` or `inflated`. */
export interface TarSink {
  /** Bytes that the sink still has to compress, if it compresses at all. The sink may keep the buffer. */
  content(chunk: Buffer): Promise<void> | void;
  /** Bytes whose compressed form the caller hands to `compressed`: they only count for the digest. */
  inflated(chunk: Buffer): void;
  /** Parts of complete gzip members that decompress to what `inflated` got. */
  compressed(chunk: Buffer): Promise<void> | void;
}
