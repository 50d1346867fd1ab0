import { DEFAULT_CODE_LIMITS, type CodeLimits } from "../code/limits.js";
import { createDigestSink } from "../layer/digest-sink.js";
import { summarize, type CodeSummary } from "../layer/layer-from-zip.js";
import { writeLayer } from "../layer/write-layer.js";
import { packFolder } from "./pack-folder.js";

/**
 * The identity of a folder's code, the same as that of the zip which `zipFolder` makes of it and of any other zip with
 * the same files: names, contents, links and the executable bit count; times, owners, umask and the packing machine
 * do not (D03).
 *
 * @throws CodeRejected; the file system's own errors
 */
export async function digestOfFolder(
  folder: string,
  limits: CodeLimits = DEFAULT_CODE_LIMITS,
): Promise<{ codeDigest: string } & CodeSummary> {
  const packed = await packFolder(folder, limits);
  const sink = createDigestSink();
  await writeLayer(packed.entries, sink);
  return { codeDigest: sink.codeDigest(), ...summarize(packed) };
}
