/** Longest line that is accepted; a log line of the API is far shorter. */
const MAX_LINE_CHARS = 1024 * 1024;

/**
 * The lines of a text stream, without their ends, each as soon as it is whole.
 * @throws RangeError for a line beyond a mebibyte
 */
export async function* readLines(body: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
    if (rest.length > MAX_LINE_CHARS) throw new RangeError("a line of the answer is too long");
  }
  if (rest !== "") yield rest;
}
